// `zerohop serve`: bind, get and load the model, say that it is ready, serve, drain.

#include <csignal>
#include <iostream>

#include "app/admin_api.h"
#include "app/commands.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/kept_files.h"
#include "app/key_watch.h"
#include "app/layout_store.h"
#include "app/machine.h"
#include "app/machine_rates.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "app/paths.h"
#include "app/served_model.h"
#include "app/server.h"
#include "app/service.h"
#include "base/log.h"
#include "model/llama_backend.h"
#include "model/llama_model.h"

namespace zerohop {
namespace {

// Null when the served model makes the vectors. It is loaded as it is: vectors are kept by clients
// and have to stay comparable.
Result<std::unique_ptr<Model>> load_embedding_model(const Config& config) {
  if (config.embeddings.model.empty()) return std::unique_ptr<Model>();
  ModelConfig same_devices = config.model;
  same_devices.name = config.embeddings.model;
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path file,
                      resolve_model(same_devices.name, PullPolicy::kIfMissing));
  return load_llama_model(llama_model_options(same_devices, file));
}

// Where nobody chose a folder, a second server on the machine must not fail for want of it.
Result<void> keep_batches(Server& server, const BatchesConfig& config) {
  if (config.folder.empty()) return {};
  const Result<std::filesystem::path> folder = state_path(config.folder, "");
  const Result<void> kept = folder.ok() ? server.keep_batches(*folder) : folder.error();
  if (config.folder != "auto") return kept;
  if (!kept.ok()) log_warning("no message batches", {{"reason", kept.error().message}});
  return {};
}

// Likewise.
Result<void> keep_usage(Server& server, const LimitsConfig& config) {
  if (config.usage_folder.empty()) return {};
  const Result<std::filesystem::path> folder = state_path(config.usage_folder, kUsageFolderName);
  const Result<void> kept = folder.ok() ? server.keep_usage(*folder) : folder.error();
  if (config.usage_folder != "auto") return kept;
  if (!kept.ok()) log_warning("usage is not kept", {{"reason", kept.error().message}});
  return {};
}

// Without keys on purpose, the store is not even opened.
Result<void> keep_keys(Server& server, const AuthConfig& config) {
  if (never_asks_for_keys(config)) return {};
  ZH_ASSIGN_OR_RETURN(const std::string store, key_store_path(config));
  return server.keep_keys(store);
}

Result<void> serve_admin(Server& server, const AdminConfig& config) {
  if (config.listen.empty()) return {};
  ZH_ASSIGN_OR_RETURN(const std::string token, admin_token(config));
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.serve_admin(token));
  log_info("admin API", {{"address", endpoint.url()}});
  return {};
}

void warn_of_open_doors(const Service& service) {
  const bool asks = service.keys.asks_for_keys();
  if (asks && service.keys.ring().get()->size() == 0) {
    log_warning("there is no API key yet, so nobody is served; `zerohop keys create` makes one",
                {});
  }
  if (!asks) {
    log_warning("no keys are configured: every process that reaches this address may use it", {});
  }
}

// Nothing where the configuration names the layout.
std::optional<KvLayoutChoiceReport> layout_of(const Model& model, const EngineConfig& config,
                                              const Clock& clock) {
  if (!measures_layout(config)) return std::nullopt;
  const Result<UserFolders> folders = user_folders(process_environment());
  return layout_for(model, config, clock, folders.ok() ? folders->cache : std::filesystem::path());
}

// A file of another content has another size or another time of change.
std::string weights_of(const ModelConfig& config) {
  const auto file = resolve_model(config.name, PullPolicy::kNever);
  if (!file.ok()) return config.name;
  std::error_code fault;
  const auto changed = std::filesystem::last_write_time(*file, fault).time_since_epoch().count();
  return std::filesystem::absolute(*file, fault).string() + "|" + std::to_string(changed);
}

Result<void> warm_up(Server& server, const Config& config) {
  WarmSetup setup;
  setup.weights = weights_of(config.model);
  setup.folder = config.cache.warm_folder;
  if (config.cache.warm_folder == "auto") {
    const Result<UserFolders> folders = user_folders(process_environment());
    setup.folder = folders.ok() ? folders->state / "warm" : std::filesystem::path();
  }
  return server.warm_up(setup);
}

Result<void> serve(const Config& config, std::function<Result<LoadedConfig>()> read_again) {
  allow_open_files();
  const SteadyClock clock;
  Server server(config, clock);
  server.show_machine(measure_machine_rates(clock, usable_cores()));
  ZH_RETURN_IF_ERROR(keep_keys(server, config.auth));
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.listen());
  ZH_RETURN_IF_ERROR(serve_admin(server, config.admin));
  ZH_ASSIGN_OR_RETURN(ServedModel served, load_served_model(config, clock));
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<Model> embedding_model, load_embedding_model(config));
  const ModelInfo info = served.model->info();
  std::optional<KvLayoutChoiceReport> layout = layout_of(*served.model, config.engine, clock);
  ZH_RETURN_IF_ERROR(
      server.load(std::move(served.model), std::move(embedding_model), std::move(layout)));
  server.show_preparation(std::move(served.preparation));
  ZH_RETURN_IF_ERROR(keep_batches(server, config.batches));
  ZH_RETURN_IF_ERROR(keep_usage(server, config.limits));
  ZH_RETURN_IF_ERROR(warm_up(server, config));
  server.follow_config(std::move(read_again));
  server.handle_signals();
  warn_of_open_doors(server.service());
  log_info("ready", {{"address", endpoint.url()},
                     {"instance", config.instance.id},
                     {"model", info.name},
                     {"description", info.description}});
  // The one line on standard output: scripts wait for it.
  std::cout << "ready " << endpoint.url() << " instance=" << config.instance.id
            << " model=" << info.name << std::endl;
  server.run();
  log_info("stopped", {});
  return {};
}

}  // namespace

int run_serve(const Config& config, std::function<Result<LoadedConfig>()> read_again) {
  // A client that closes its socket is an error code of one write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  // Until the server listens to it (Server::handle_signals): there is nothing to read again yet.
  std::signal(SIGHUP, SIG_IGN);
  const Result<void> served = serve(config, std::move(read_again));
  return served.ok() ? kExitOk : report_failure(served.error());
}

}  // namespace zerohop
