#include "model/llama_threadpools.h"

#include "base/check.h"
#include "llama.h"

namespace zerohop {

static_assert(kLlamaThreadsMax == GGML_MAX_N_THREADS);

// The two functions live in the CPU back end, which is loaded at run time, so they are looked up.
LlamaThreadPools::LlamaThreadPools(IdleThreads idle) : idle_(idle) {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) return;
  ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(device);
  auto* create = ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_new");
  auto* destroy = ggml_backend_reg_get_proc_address(registry, "ggml_threadpool_free");
  if (create == nullptr || destroy == nullptr) return;
  new_ = reinterpret_cast<New>(create);
  free_ = reinterpret_cast<Free>(destroy);
}

LlamaThreadPools::~LlamaThreadPools() {
  for (const auto& [threads, pool] : pools_) free_(pool);
}

ggml_threadpool* LlamaThreadPools::get(std::uint32_t threads) {
  ZH_CHECK(threads >= 1 && threads <= kLlamaThreadsMax);
  if (new_ == nullptr) return nullptr;
  const auto found = pools_.find(threads);
  if (found != pools_.end()) return found->second;
  ggml_threadpool_params parameters = ggml_threadpool_params_default(static_cast<int>(threads));
  if (idle_ == IdleThreads::kSleep) parameters.poll = 0;
  ggml_threadpool* pool = new_(&parameters);
  if (pool != nullptr) pools_.emplace(threads, pool);
  return pool;
}

}  // namespace zerohop
