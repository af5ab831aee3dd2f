#include "model/llama_model.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "llama.h"
#include "model/llama_backend.h"
#include "model/llama_chat_template.h"
#include "model/llama_context.h"
#include "model/llama_file.h"
#include "model/llama_tokenizer.h"

namespace zerohop {
namespace {

struct ModelFree {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
using ModelHandle = std::unique_ptr<llama_model, ModelFree>;

Error unavailable(const LlamaModelOptions& options, const std::string& what) {
  return Error{ErrorCode::kModelUnavailable, "model file \"" + options.path + "\" " + what, {}, {}};
}

Error wrong(const char* field, std::string message) {
  return Error{ErrorCode::kConfiguration, std::move(message), field, {}};
}

std::string text_of(int32_t (*read)(const llama_model*, char*, std::size_t),
                    const llama_model* model) {
  char buffer[256];
  const int32_t size = read(model, buffer, sizeof buffer);
  if (size <= 0) return {};
  return std::string(buffer, std::min(static_cast<std::size_t>(size), sizeof buffer - 1));
}

int32_t read_architecture(const llama_model* model, char* buffer, std::size_t size) {
  return llama_model_meta_val_str(model, "general.architecture", buffer, size);
}

class LlamaModel final : public Model {
 public:
  LlamaModel(ModelHandle model, ModelInfo info, const LlamaModelOptions& options,
             std::unique_ptr<ChatTemplate> chat_template)
      :  // Of states, which only a model with weights makes.
        fingerprint_(options.load == LlamaLoad::kEverything ? file_fingerprint(options.path) : 0),
        model_(std::move(model)),
        info_(std::move(info)),
        has_weights_(options.load == LlamaLoad::kEverything),
        cells_on_host_(options.gpu_layers == 0 || !llama_supports_gpu_offload()),
        tokenizer_(llama_model_get_vocab(model_.get())),
        chat_template_(std::move(chat_template)) {}

  const ModelInfo& info() const override { return info_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  const ChatTemplate& chat_template() const override { return *chat_template_; }

  Result<std::unique_ptr<ModelContext>> make_context(const ContextOptions& options) const override {
    if (!has_weights_) {
      return Error{ErrorCode::kConfiguration,
                   "model \"" + info_.name + "\" was loaded without its weights",
                   {},
                   {}};
    }
    return make_llama_context({model_.get(), info_.kv_bytes_per_cell, cells_on_host_, fingerprint_},
                              options);
  }

 private:
  const std::uint64_t fingerprint_;
  const ModelHandle model_;
  const ModelInfo info_;
  const bool has_weights_;
  const bool cells_on_host_;
  const LlamaTokenizer tokenizer_;
  const std::unique_ptr<ChatTemplate> chat_template_;
};

// The library keeps pointers into this while it loads.
struct LoadArguments {
  std::vector<ggml_backend_dev_t> devices;  // null-terminated unless empty
  std::vector<float> tensor_split;          // llama_max_devices() long unless empty
  std::function<void(double)> progress;
};

Result<LoadArguments> load_arguments(const LlamaModelOptions& options) {
  LoadArguments arguments;
  arguments.progress = options.progress;
  for (const std::string& name : options.devices) {
    ggml_backend_dev_t device = ggml_backend_dev_by_name(name.c_str());
    if (device == nullptr) return wrong("devices", "there is no device \"" + name + "\" here");
    if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) {
      return wrong("devices", "device \"" + name +
                                  "\" is the processor, which holds whatever no GPU does; "
                                  "set gpu_layers to 0 to use it alone");
    }
    arguments.devices.push_back(device);
  }
  if (!arguments.devices.empty()) arguments.devices.push_back(nullptr);
  if (options.gpu_layers < -1) {
    return wrong("gpu_layers",
                 "gpu_layers must be -1 (all) or more, not " + std::to_string(options.gpu_layers));
  }
  if (options.tensor_split.size() > llama_max_devices()) {
    return wrong("tensor_split",
                 "tensor_split has more than " + std::to_string(llama_max_devices()) + " shares");
  }
  for (const float share : options.tensor_split) {
    if (!(share >= 0.0f)) return wrong("tensor_split", "shares of tensor_split must be 0 or more");
  }
  if (!options.tensor_split.empty()) {
    arguments.tensor_split = options.tensor_split;
    arguments.tensor_split.resize(llama_max_devices(), 0.0f);
  }
  return arguments;
}

llama_split_mode split_mode_of(LlamaSplitMode mode) {
  switch (mode) {
    case LlamaSplitMode::kNone: return LLAMA_SPLIT_MODE_NONE;
    case LlamaSplitMode::kRow: return LLAMA_SPLIT_MODE_ROW;
    case LlamaSplitMode::kLayer: break;
  }
  return LLAMA_SPLIT_MODE_LAYER;
}

llama_load_mode load_mode_of(const LlamaModelOptions& options) {
  if (options.use_mmap) {
    return options.use_mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP;
  }
  return options.use_mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE;
}

bool report_progress(float done, void* arguments) {
  const auto& progress = static_cast<const LoadArguments*>(arguments)->progress;
  if (progress) progress(static_cast<double>(done));
  return true;  // go on loading
}

llama_model_params model_parameters(const LlamaModelOptions& options, LoadArguments& arguments) {
  llama_model_params parameters = llama_model_default_params();
  if (!arguments.devices.empty()) parameters.devices = arguments.devices.data();
  if (!arguments.tensor_split.empty()) parameters.tensor_split = arguments.tensor_split.data();
  parameters.n_gpu_layers = options.gpu_layers;
  parameters.split_mode = split_mode_of(options.split_mode);
  parameters.main_gpu = options.main_gpu;
  parameters.load_mode = load_mode_of(options);
  parameters.progress_callback = report_progress;
  parameters.progress_callback_user_data = &arguments;
  parameters.vocab_only = options.load == LlamaLoad::kTokenizerOnly;
  return parameters;
}

Result<ModelHandle> load_weights(const LlamaModelOptions& options) {
  ZH_ASSIGN_OR_RETURN(LoadArguments arguments, load_arguments(options));
  const LlamaErrorCapture capture;
  ModelHandle model;
  try {
    model.reset(
        llama_model_load_from_file(options.path.c_str(), model_parameters(options, arguments)));
  } catch (const std::exception& exception) {
    return unavailable(options, std::string("does not load: ") + exception.what());
  }
  if (model == nullptr) {
    const std::string reason = capture.reason();
    return unavailable(options, "does not load: " + (reason.empty() ? "unknown reason" : reason));
  }
  const llama_vocab* vocab = llama_model_get_vocab(model.get());
  if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE) {
    return unavailable(options, "has no vocabulary");
  }
  if (llama_model_has_encoder(model.get()) || !llama_model_has_decoder(model.get()) ||
      llama_model_is_diffusion(model.get())) {
    return unavailable(options, "is not a model that generates text token by token");
  }
  return model;
}

ModelInfo describe(const llama_model* model, const LlamaModelOptions& options,
                   std::uint64_t file_bytes) {
  ModelInfo info;
  info.name =
      options.name.empty() ? std::filesystem::path(options.path).stem().string() : options.name;
  info.description = text_of(llama_model_desc, model);
  info.architecture = text_of(read_architecture, model);
  info.parameters = llama_model_n_params(model);
  info.file_bytes = std::max(file_bytes, llama_model_size(model));  // all parts of a split file
  info.vocabulary = static_cast<std::uint32_t>(llama_vocab_n_tokens(llama_model_get_vocab(model)));
  const LlamaDimensions dimensions = llama_dimensions(model, options.path);
  info.embedding = dimensions.embedding;
  info.pooling = dimensions.pooling;
  info.attention = dimensions.attention;
  info.context_trained = dimensions.context_trained;
  info.kv_bytes_per_cell = dimensions.kv_bytes_per_cell;
  info.ids_hold_memory = has_running_state(model);
  return info;
}

}  // namespace

Result<std::unique_ptr<Model>> load_llama_model(const LlamaModelOptions& options) {
  ZH_RETURN_IF_ERROR(init_llama_backend());
  ZH_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, check_gguf_file(options.path));
  ZH_ASSIGN_OR_RETURN(ModelHandle model, load_weights(options));
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<ChatTemplate> chat_template,
                      make_llama_chat_template(model.get(), {options.chat_template_override,
                                                             options.chat_template_today}));
  ModelInfo info = describe(model.get(), options, file_bytes);
  return std::unique_ptr<Model>(std::make_unique<LlamaModel>(std::move(model), std::move(info),
                                                             options, std::move(chat_template)));
}

}  // namespace zerohop
