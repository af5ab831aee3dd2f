#include "own_server.h"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "app/config_load.h"
#include "app/key_watch.h"
#include "app/model_options.h"
#include "base/check.h"
#include "model/llama_model.h"

namespace zerohop::bench {
namespace {

cpu_set_t usable_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ZH_CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

Config read_config(const Programs& programs, const Room& room,
                   const std::vector<std::string>& environment) {
  ConfigSources sources;
  for (const std::string& variable : environment) {
    const std::size_t name = variable.find('=');
    sources.environment[variable.substr(0, name)] = variable.substr(name + 1);
  }
  const auto loaded = load_config(sources);
  if (!loaded.ok()) std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
  ZH_CHECK(loaded.ok());
  Config config = loaded->config;
  config.server.port = 0;
  config.model.name = programs.model;
  config.engine.threads = static_cast<std::uint32_t>(programs.threads);
  config.engine.sequences = static_cast<std::uint32_t>(room.sequences);
  config.engine.kv_cells = static_cast<std::uint32_t>(room.cells);
  config.engine.context_tokens = static_cast<std::uint32_t>(room.window);
  return config;
}

Result<std::uint16_t> start(Server& server, const Config& config) {
  if (!never_asks_for_keys(config.auth)) {
    ZH_ASSIGN_OR_RETURN(const std::string store, key_store_path(config.auth));
    ZH_RETURN_IF_ERROR(server.keep_keys(store));
  }
  ZH_ASSIGN_OR_RETURN(const Endpoint endpoint, server.listen());
  ZH_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                      load_llama_model(llama_model_options(config.model, config.model.name)));
  ZH_RETURN_IF_ERROR(server.load(std::move(model)));
  if (!config.limits.usage_folder.empty()) {
    ZH_RETURN_IF_ERROR(server.keep_usage(config.limits.usage_folder));
  }
  return endpoint.port;
}

}  // namespace

OnCore::OnCore(Core core) {
  const cpu_set_t usable = usable_set();
  if (CPU_COUNT(&usable) < 2) return;
  int chosen = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable)) continue;
    before_.push_back(cpu);
    if (chosen < 0 || core == Core::kLast) chosen = cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(chosen, &one);
  ZH_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

OnCore::~OnCore() {
  if (before_.empty()) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int cpu : before_) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all);
}

OwnServer::OwnServer(const Programs& programs, const Room& room,
                     const std::vector<std::string>& environment)
    : config_(read_config(programs, room, environment)), server_(config_, clock_) {
  const Result<std::uint16_t> port = start(server_, config_);
  if (!port.ok()) {
    std::fprintf(stderr, "a server does not come up: %s\n", port.error().message.c_str());
    std::exit(1);
  }
  port_ = *port;
  io_ = std::thread([this] { server_.run(); });
}

OwnServer::~OwnServer() {
  server_.stop_now();
  io_.join();
}

}  // namespace zerohop::bench
