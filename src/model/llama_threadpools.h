// ggml thread pools, one per thread count, made on first use and kept. A pool's threads sleep
// between graphs, after some 0.2 s of spinning unless they are told not to spin; a pool that is not
// attached costs nothing but its stacks.
//
// Owned by one LlamaContext, used on its owner thread: two contexts must not share a pool, because
// a pool runs one graph at a time.
#pragma once

#include <cstdint>
#include <map>

#include "model/model.h"

struct ggml_threadpool;
struct ggml_threadpool_params;

namespace zerohop {

/// Most threads of one pool (GGML_MAX_N_THREADS).
inline constexpr std::uint32_t kLlamaThreadsMax = 512;

class LlamaThreadPools {
 public:
  explicit LlamaThreadPools(IdleThreads idle);
  /// No context may have one of the pools attached any more.
  ~LlamaThreadPools();
  LlamaThreadPools(const LlamaThreadPools&) = delete;
  LlamaThreadPools& operator=(const LlamaThreadPools&) = delete;

  /// The pool of `threads` (1 to kLlamaThreadsMax). Null when the CPU back end offers none; the
  /// library then makes a pool of its own for every graph.
  ggml_threadpool* get(std::uint32_t threads);

 private:
  using New = ggml_threadpool* (*)(ggml_threadpool_params*);
  using Free = void (*)(ggml_threadpool*);

  const IdleThreads idle_;
  New new_ = nullptr;
  Free free_ = nullptr;
  std::map<std::uint32_t, ggml_threadpool*> pools_;
};

}  // namespace zerohop
