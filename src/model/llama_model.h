// Loads a model with libllama. The result is the Model of model.h; everything else of libllama
// stays behind it, and llama.h is included in this folder's .cc files only.
//
// Loading runs on the caller's thread (default model: 0.2 s when its file is cached) and may use
// others. The Model must be freed after its contexts, on any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/error.h"
#include "model/model.h"

namespace zerohop {

/// How a model is spread over several GPUs.
enum class LlamaSplitMode : std::uint8_t {
  kNone,   ///< the whole model on `main_gpu`
  kLayer,  ///< whole layers, with their KV cells
  kRow,    ///< rows of the matrices
};

/// What is read from the file.
enum class LlamaLoad : std::uint8_t {
  kEverything,
  kTokenizerOnly,  ///< no weights: milliseconds; make_context() then fails
};

struct LlamaModelOptions {
  std::string path;  ///< of the GGUF file; of the first part when it is split
  std::string name;  ///< ModelInfo::name; empty: the file's name without its ending
  LlamaLoad load = LlamaLoad::kEverything;

  std::int32_t gpu_layers = -1;      ///< layers held by GPUs; -1: all; 0: none
  std::vector<std::string> devices;  ///< names of list_llama_devices(); empty: all GPUs
  std::int32_t main_gpu = 0;         ///< index into the devices used, for kNone and kRow
  LlamaSplitMode split_mode = LlamaSplitMode::kLayer;
  std::vector<float> tensor_split;  ///< shares of the devices; empty: by free memory

  bool use_mmap = true;    ///< map the file instead of reading it
  bool use_mlock = false;  ///< keep the weights from being swapped out

  /// Jinja text instead of the model's own template. Empty: the model's own.
  std::string chat_template_override;
  /// The day that chat templates print. Fixed, so that prompts stay equal and cached prefixes
  /// match.
  WallTime chat_template_today{std::chrono::seconds{1767225600}};  // 2026-01-01

  /// Called on the loading thread with the share done, 0 to 1. May be empty.
  std::function<void(double)> progress;
};

/// Errors: kModelUnavailable, one line that says what is wrong with the file (missing, no GGUF, cut
/// off, unknown architecture, not a text generation model) or with the installation; kConfiguration
/// for device options that this machine cannot satisfy (`field` names the member).
Result<std::unique_ptr<Model>> load_llama_model(const LlamaModelOptions& options);

}  // namespace zerohop
