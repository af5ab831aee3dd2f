#include "model/matrix_rate.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "model/llama_backend.h"

namespace zerohop {
namespace {

constexpr int kRounds = 3;
// The shape of a layer of a small model, with enough rows for the library's tiled kernels.
constexpr std::int64_t kInner = 1024;
constexpr std::int64_t kOuter = 2048;
constexpr std::int64_t kRows = 128;

template <class Work>
Duration best_of(const Clock& clock, Work work) {
  Duration best = Duration::max();
  for (int i = 0; i < kRounds; ++i) {
    const TimePoint begin = clock.now();
    work();
    best = std::min(best, clock.now() - begin);
  }
  return std::max(best, Duration(1));
}

struct FreeContext {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
struct FreeBackend {
  void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
};
struct FreeBuffer {
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};

void set_threads(ggml_backend_dev_t device, ggml_backend* backend, std::uint32_t threads) {
  void* found = ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device),
                                                  "ggml_backend_set_n_threads");
  if (found == nullptr) return;
  reinterpret_cast<ggml_backend_set_n_threads_t>(found)(backend, static_cast<int>(threads));
}

}  // namespace

double measure_matrix_rate(const Clock& clock, std::uint32_t threads) {
  ZH_CHECK(threads >= 1);
  if (!init_llama_backend().ok()) return 0;
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  const std::unique_ptr<ggml_backend, FreeBackend> backend(ggml_backend_dev_init(device, nullptr));
  const std::size_t tensors = 3;
  const ggml_init_params sizes{tensors * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr,
                               true};
  const std::unique_ptr<ggml_context, FreeContext> context(ggml_init(sizes));
  if (backend == nullptr || context == nullptr) return 0;
  set_threads(device, backend.get(), threads);
  ggml_tensor* weights = ggml_new_tensor_2d(context.get(), GGML_TYPE_Q8_0, kInner, kOuter);
  ggml_tensor* rows = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, kInner, kRows);
  ggml_cgraph* graph = ggml_new_graph(context.get());
  ggml_build_forward_expand(graph, ggml_mul_mat(context.get(), weights, rows));
  const std::unique_ptr<ggml_backend_buffer, FreeBuffer> buffer(
      ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
  if (buffer == nullptr) return 0;
  ggml_backend_buffer_clear(buffer.get(), 0);
  bool worked = true;
  const Duration best = best_of(clock, [&] {
    worked = ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS && worked;
  });
  return worked ? 2.0 * kInner * kOuter * kRows / to_seconds(best) : 0;
}

}  // namespace zerohop
