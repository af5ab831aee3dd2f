// From the configuration to the options of the model library. Pure; any thread.
#pragma once

#include <filesystem>

#include "app/config.h"
#include "model/llama_model.h"

namespace zerohop {

/// `file` is what resolve_model() gave for config.name.
LlamaModelOptions llama_model_options(const ModelConfig& config, const std::filesystem::path& file);

/// The system prompt of conversations that bring none: the configured text; for "auto" what the
/// table of known models holds for config.name, else nothing.
std::string default_system_of(const ModelConfig& config);

}  // namespace zerohop
