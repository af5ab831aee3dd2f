#include "app/served_model.h"

#include <poll.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "app/machine.h"
#include "app/model_options.h"
#include "app/model_prepare.h"
#include "app/model_store.h"
#include "app/paths.h"
#include "app/progress.h"
#include "base/log.h"
#include "model/llama_model.h"

namespace zerohop {
namespace {

PrepareRequest request_for(const Config& config, const std::filesystem::path& file) {
  PrepareRequest request;
  request.model = llama_model_options(config.model, file);
  request.rule = {config.model.prepare, config.model.prepare_kl_max};
  request.room = {config.model.prepare_bytes_max, free_memory_bytes()};
  request.threads = config.engine.threads == 0 ? usable_cores() : config.engine.threads;
  const Result<UserFolders> folders = user_folders(process_environment());
  if (folders.ok()) request.cache_folder = folders->cache;
  return request;
}

PrepareTools tools_for(const Clock& clock) {
  constexpr int kPauseMs = 100;
  auto printer = std::make_shared<ProgressPrinter>(std::cerr, progress_style_of_stderr());
  PrepareTools tools{clock, [] { poll(nullptr, 0, kPauseMs); }};
  tools.say = [printer](const std::string& line) { printer->say(line); };
  tools.progress = [printer](std::uint64_t done, std::uint64_t total) {
    printer->update(done, total);
  };
  return tools;
}

std::function<void(double)> shown_loading(const std::filesystem::path& file) {
  std::error_code fault;
  const std::uintmax_t bytes = std::filesystem::file_size(file, fault);
  return load_progress(std::cerr, progress_style_of_stderr(), fault ? 0 : bytes);
}

}  // namespace

Result<ServedModel> load_served_model(const Config& config, const Clock& clock) {
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path file,
                      resolve_model(config.model.name, PullPolicy::kIfMissing));
  ServedModel served;
  const PrepareRequest request = request_for(config, file);
  PreparedModel prepared = prepare_model(request, tools_for(clock));
  served.preparation = std::move(prepared.preparation);
  LlamaModelOptions options = request.model;
  options.path = prepared.file.string();
  options.progress = shown_loading(prepared.file);
  Result<std::unique_ptr<Model>> loaded = load_llama_model(options);
  if (!loaded.ok() && served.preparation.prepared()) {
    log_warning("the prepared model does not load, the original is served",
                {{"reason", loaded.error().message}});
    served.preparation.type = WeightType::kOriginal;
    served.preparation.reason = loaded.error().message;
    options.path = file.string();
    options.progress = shown_loading(file);
    loaded = load_llama_model(options);
  }
  if (!loaded.ok()) return loaded.error();
  served.model = std::move(loaded).value();
  return served;
}

}  // namespace zerohop
