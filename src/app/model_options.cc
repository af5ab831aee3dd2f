#include "app/model_options.h"

#include "app/known_models.h"
#include "app/model_store.h"

namespace zerohop {

LlamaModelOptions llama_model_options(const ModelConfig& config,
                                      const std::filesystem::path& file) {
  LlamaModelOptions options;
  options.path = file.string();
  options.name = model_display_name(config.name);
  options.gpu_layers = config.gpu_layers == ModelConfig::kAllLayers
                           ? -1
                           : static_cast<std::int32_t>(config.gpu_layers);
  options.devices = config.devices;
  options.main_gpu = static_cast<std::int32_t>(config.main_gpu);
  options.split_mode = config.split_mode;
  options.tensor_split.assign(config.tensor_split.begin(), config.tensor_split.end());
  return options;
}

std::string default_system_of(const ModelConfig& config) {
  if (config.default_system != "auto") return config.default_system;
  const KnownModel* known = find_known_model(known_models(), config.name);
  return known == nullptr ? std::string() : std::string(known->default_system);
}

}  // namespace zerohop
