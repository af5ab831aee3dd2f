#include "model/llama_backend.h"

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "llama.h"
#include "log.h"  // of llama-common

namespace zerohop {
namespace {

thread_local LlamaErrorCapture* current_capture = nullptr;
thread_local const LlamaLineListener* current_listener = nullptr;

void emit_line(ggml_log_level level, std::string_view line) {
  // Progress dots while tensors load.
  if (line.find_first_not_of(". ") == std::string_view::npos) return;
  if (level == GGML_LOG_LEVEL_ERROR && current_capture != nullptr) {
    current_capture->add(line);
    return;
  }
  if (level != GGML_LOG_LEVEL_ERROR && current_listener != nullptr) current_listener->hear(line);
  // Its warnings are part of normal work here (a full pool, an aborted step), hence debug.
  const LogLevel target = level == GGML_LOG_LEVEL_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
  log_event(target, "libllama", {{"line", std::string(line)}});
}

// The library logs in pieces: a line may come in several calls (level CONT), a call may hold
// several lines. Called from any of its threads, possibly while an exception is on its way: nothing
// may leave.
void on_log(ggml_log_level level, const char* text, void* /*user*/) noexcept {
  thread_local std::string pending;
  thread_local ggml_log_level pending_level = GGML_LOG_LEVEL_INFO;
  try {
    if (level != GGML_LOG_LEVEL_CONT) pending_level = level;
    pending.append(text);
    std::size_t start = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos;
         end = pending.find('\n', start)) {
      emit_line(pending_level, std::string_view(pending).substr(start, end - start));
      start = end + 1;
    }
    pending.erase(0, start);
  } catch (...) {
    pending.clear();
  }
}

bool has_cpu_device() { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr; }

std::optional<Error> initialise_once() {
  llama_log_set(on_log, nullptr);
  common_log_set_verbosity_thold(LOG_LEVEL_OUTPUT - 1);
  const std::string directory = llama_library_directory();
  if (!has_cpu_device() && !directory.empty()) {
    ggml_backend_load_all_from_path(directory.c_str());
  }
  if (!has_cpu_device()) {
    return Error{ErrorCode::kModelUnavailable,
                 "no CPU back end (libggml-cpu-*.so) that this processor can run was found in \"" +
                     directory + "\", the folder of libllama",
                 {},
                 {}};
  }
  llama_backend_init();
  return std::nullopt;
}

LlamaDeviceKind device_kind(ggml_backend_dev_t device) {
  switch (ggml_backend_dev_type(device)) {
    case GGML_BACKEND_DEVICE_TYPE_CPU: return LlamaDeviceKind::kCpu;
    case GGML_BACKEND_DEVICE_TYPE_GPU: return LlamaDeviceKind::kGpu;
    case GGML_BACKEND_DEVICE_TYPE_IGPU: return LlamaDeviceKind::kIntegratedGpu;
    default: break;
  }
  return LlamaDeviceKind::kAccelerator;
}

// "llama_model_load: error loading model: unknown …" → "unknown …"
std::string_view strip_origin(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon != std::string_view::npos &&
      line.substr(0, colon).find_first_of(" '\"") == std::string_view::npos) {
    line.remove_prefix(colon + 2);
  }
  constexpr std::string_view kLoading = "error loading model: ";
  if (line.starts_with(kLoading)) line.remove_prefix(kLoading.size());
  return line;
}

}  // namespace

Result<void> init_llama_backend() {
  static const std::optional<Error> failure = initialise_once();
  if (failure) return *failure;
  return {};
}

std::string_view llama_device_kind_name(LlamaDeviceKind kind) {
  switch (kind) {
    case LlamaDeviceKind::kCpu: return "cpu";
    case LlamaDeviceKind::kGpu: return "gpu";
    case LlamaDeviceKind::kIntegratedGpu: return "integrated_gpu";
    case LlamaDeviceKind::kAccelerator: break;
  }
  return "accelerator";
}

Result<std::vector<LlamaDevice>> list_llama_devices() {
  ZH_RETURN_IF_ERROR(init_llama_backend());
  std::vector<LlamaDevice> devices;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    LlamaDevice entry{ggml_backend_dev_name(device), ggml_backend_dev_description(device),
                      device_kind(device), 0, 0};
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    ggml_backend_dev_memory(device, &free_bytes, &total_bytes);
    entry.memory_bytes_free = free_bytes;
    entry.memory_bytes_total = total_bytes;
    devices.push_back(std::move(entry));
  }
  return devices;
}

std::string llama_library_directory() {
  // Through dlsym, because the address of a function taken in a program may be that of its own
  // stub.
  void* symbol = dlsym(RTLD_DEFAULT, "llama_backend_init");
  Dl_info info{};
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(info.dli_fname, ignored);
  return absolute.parent_path().lexically_normal().string();
}

std::string llama_library_version() { return llama_version(); }

std::string llama_system_info() {
  return "libllama " + llama_library_version() + ": " + llama_print_system_info();
}

LlamaErrorCapture::LlamaErrorCapture() : outer_(current_capture) { current_capture = this; }

LlamaErrorCapture::~LlamaErrorCapture() { current_capture = outer_; }

LlamaLineListener::LlamaLineListener(std::function<void(std::string_view line)> hear)
    : outer_(current_listener), hear_(std::move(hear)) {
  current_listener = this;
}

LlamaLineListener::~LlamaLineListener() { current_listener = outer_; }

std::string LlamaErrorCapture::reason() const {
  // The first line is closest to the cause; later ones say that a caller failed too.
  for (const std::string& line : lines_) {
    const std::string_view text = strip_origin(line);
    if (!text.empty()) return std::string(text);
  }
  return {};
}

}  // namespace zerohop
