// A request for vectors: token lists in, one vector for each out.
//
//   caller, any thread:   EngineLoop::submit_embedding(request) → job;  job->cancel()
//   engine thread:        request.on_done(vectors or error), exactly once
//
// A job that nobody waits for should be cancelled: dropping the pointer does not do it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/token.h"
#include "model/model.h"

namespace zerohop {

struct Embeddings {
  std::vector<std::vector<float>> vectors;  ///< one for each input, in order; of length 1 (L2)
  std::uint32_t tokens = 0;                 ///< of all inputs together
};

struct EmbeddingRequest {
  std::vector<std::vector<Token>> inputs;  ///< not empty; none of them empty
  /// Called once on the engine thread if the job was accepted, whatever becomes of it; must hand
  /// the result to another thread and return at once. Errors: kModelFailure, kInternal (no memory
  /// for a context), kCancelled, kShuttingDown.
  std::function<void(Result<Embeddings>)> on_done;
};

class EmbeddingJob {
 public:
  /// `ring_engine` makes the engine look at its jobs again; any thread, cheap, never blocks.
  explicit EmbeddingJob(std::function<void()> ring_engine) : ring_engine_(std::move(ring_engine)) {}
  EmbeddingJob(const EmbeddingJob&) = delete;
  EmbeddingJob& operator=(const EmbeddingJob&) = delete;

  /// Nobody wants the vectors: the engine ends the job within one step, with kCancelled. Any
  /// thread.
  void cancel() {
    if (!cancelled_.exchange(true, std::memory_order_acq_rel)) ring_engine_();
  }
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  const std::function<void()> ring_engine_;
  std::atomic<bool> cancelled_{false};
};

/// What an engine needs to make vectors.
struct EmbeddingSupport {
  /// Makes the context of the embeddings (ContextOptions::embeddings) when the first job arrives;
  /// engine thread. Empty: this engine makes no vectors.
  std::function<Result<std::unique_ptr<ModelContext>>()> make_context;
  PoolingType pooling = PoolingType::kUnspecified;  ///< ModelInfo::pooling
  std::uint32_t window = 0;                         ///< most tokens of one input
  std::uint32_t batch_rows = 0;                     ///< as make_context makes it
  /// kWholeText: no input is cut, so `batch_rows` must be at least `window`.
  AttentionType attention = AttentionType::kCausal;
};

/// Options of a context for embeddings of inputs of at most `window` tokens. Every row of such a
/// context is an output with logits, which the library cannot be told to leave out (196 KiB a row
/// at the default model's vocabulary), hence the short batches. Only with kWholeText a batch is as
/// long as the longest input.
ContextOptions embedding_context_options(std::uint32_t window, std::uint32_t threads,
                                         AttentionType attention = AttentionType::kCausal);

}  // namespace zerohop
