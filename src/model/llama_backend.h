// The process-wide part of libllama: its log, the ggml back ends (one shared library per kind of
// processor, chosen at load time) and the devices that they offer.
//
// init_llama_backend() runs its work once, however often it is called; every function of
// llama_model.h calls it. Nothing is undone at exit: the library has no safe way to unload a back
// end while its threads may run. Any thread.
//
// The library's own lines go to base/log as the event "libllama": errors as warnings, everything
// else at debug level, so that a server with the default level stays quiet. llama-common's separate
// log is switched off (its errors reach us as exceptions).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace zerohop {

/// Loads the back ends that lie beside the loaded libllama, so that an installed or moved tree
/// works without a setting. Errors: kModelUnavailable when no CPU back end is there (names the
/// folder).
Result<void> init_llama_backend();

enum class LlamaDeviceKind : std::uint8_t { kCpu, kGpu, kIntegratedGpu, kAccelerator };

std::string_view llama_device_kind_name(LlamaDeviceKind kind);

struct LlamaDevice {
  std::string name;         ///< what LlamaModelOptions::devices takes, e.g. "CUDA0"
  std::string description;  ///< e.g. the processor's brand string
  LlamaDeviceKind kind = LlamaDeviceKind::kCpu;
  std::uint64_t memory_bytes_free = 0;
  std::uint64_t memory_bytes_total = 0;
};

/// Devices in the library's order. Errors: those of init_llama_backend().
Result<std::vector<LlamaDevice>> list_llama_devices();

/// Folder of the loaded libllama; empty when the loader cannot tell.
std::string llama_library_directory();

/// Version of the linked library: "0.5.0-dev".
std::string llama_library_version();

/// Version of the library and the processor features that the loaded back end uses, for people.
/// Call after init_llama_backend().
std::string llama_system_info();

/// While alive, errors that the library logs on this thread are kept here instead of being logged:
/// its load and create functions return a bare null, and the reason is only in the log. Nests.
class LlamaErrorCapture {
 public:
  LlamaErrorCapture();
  ~LlamaErrorCapture();
  LlamaErrorCapture(const LlamaErrorCapture&) = delete;
  LlamaErrorCapture& operator=(const LlamaErrorCapture&) = delete;

  /// The most telling line so far, without the library's function names; empty when there was none.
  std::string reason() const;

  void add(std::string_view line) { lines_.emplace_back(line); }

 private:
  LlamaErrorCapture* outer_;
  std::vector<std::string> lines_;
};

/// While alive, lines that the library logs on this thread, errors apart, also go to a function:
/// the only way to learn how far its long calls are. Nests: the innermost one hears them.
class LlamaLineListener {
 public:
  explicit LlamaLineListener(std::function<void(std::string_view line)> hear);
  ~LlamaLineListener();
  LlamaLineListener(const LlamaLineListener&) = delete;
  LlamaLineListener& operator=(const LlamaLineListener&) = delete;

  void hear(std::string_view line) const { hear_(line); }

 private:
  const LlamaLineListener* outer_;
  const std::function<void(std::string_view line)> hear_;
};

}  // namespace zerohop
