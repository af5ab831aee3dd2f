// `zerohop serve`: bind, get and load the model, say that it is ready, serve, drain.

#include <csignal>
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "app/server.h"
#include "base/log.h"
#include "model/llama_backend.h"
#include "model/llama_model.h"

namespace zerohop {
namespace {

Result<std::unique_ptr<Model>> load_model(const ModelConfig& config) {
  ZH_ASSIGN_OR_RETURN(const std::filesystem::path file,
                      resolve_model(config.name, PullPolicy::kIfMissing));
  return load_llama_model(llama_model_options(config, file));
}

Result<void> serve(const Config& config) {
  const SteadyClock clock;
  Server server(config, clock);
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.listen());
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, load_model(config.model));
  const ModelInfo info = model->info();
  ZH_RETURN_IF_ERROR(server.load(std::move(model)));
  server.handle_signals();
  log_warning("no keys are configured: every process that reaches this address may use it", {});
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

int run_serve(const Config& config) {
  // A client that closes its socket is an error code of one write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  const Result<void> served = serve(config);
  return served.ok() ? kExitOk : report_failure(served.error());
}

}  // namespace zerohop
