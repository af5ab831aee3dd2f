#include "app/server.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>

#include "app/admin_api.h"
#include "app/batch_service.h"
#include "app/config_keeper.h"
#include "app/constraint_precompile.h"
#include "app/environment.h"
#include "app/handlers.h"
#include "app/key_watch.h"
#include "app/machine.h"
#include "app/model_names.h"
#include "app/model_options.h"
#include "app/network_config.h"
#include "app/otlp_exporter.h"
#include "app/otlp_settings.h"
#include "app/server_hooks.h"
#include "app/service.h"
#include "app/stream_reader.h"
#include "app/tier_feeds.h"
#include "app/tls_keeper.h"
#include "app/version.h"
#include "base/log.h"
#include "base/random.h"
#include "http/server.h"
#include "model/llama_backend.h"
#include "prompt/prompt_habits.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

// After a hard stop: time for the last typed errors to leave their sockets.
constexpr std::chrono::milliseconds kFlushTime{500};
constexpr std::size_t kWorkersMax = 4;
// Each waits for a child process; more would only compete for the cores.
constexpr std::size_t kWaiters = 2;

Router make_router(Service& service) {
  Router router;
  add_messages_routes(router, service);
  add_openai_routes(router, service);
  add_embeddings_routes(router, service);
  add_batch_routes(router, service);
  add_model_routes(router, service);
  add_operations_routes(router, service);
  add_console_routes(router, service, ConsoleReach::kTenant);
  return router;
}

// What makes the vectors, if it is another model; it answers nothing.
void add_embedding_model(const EmbeddingModel& embeddings, std::vector<ModelDescription>& models) {
  const std::string& name = embeddings.info().name;
  const auto same = [&name](const ModelDescription& model) { return model.id == name; };
  if (std::ranges::any_of(models, same)) return;
  ModelDescription model;
  model.id = name;
  model.display_name = name;
  model.max_input_tokens = embeddings.window();
  models.push_back(std::move(model));
}

std::vector<ModelDescription> describe_models(const Config& config, const Tier& tier) {
  std::vector<ModelDescription> models;
  for (std::string& name : listed_model_names(config.model, tier.name())) {
    ModelDescription model;
    model.display_name = name;
    model.id = std::move(name);
    model.max_input_tokens = tier.window();
    model.max_tokens = tier.window();
    model.abilities.thinking = tier.prompts().template_traits().thinking_switch;
    model.abilities.pdf_input = true;
    model.abilities.structured_outputs = config.constraints.enabled;
    models.push_back(std::move(model));
  }
  add_embedding_model(tier.embeddings(), models);
  return models;
}

}  // namespace

Service::Service(const Config& config_in, const Clock& clock_in)
    : config(config_in),
      clock(clock_in),
      began(clock_in.wall()),
      admission(config_in.limits.requests_max),
      registry({.instance_id = config_in.instance.id, .pool = config_in.instance.pool},
               metric_table(), config_in.metrics.series_max),
      metrics(registry),
      request_metrics(registry, clock, config_in.metrics.series_max),
      queue_metrics(registry),
      constraints(config.constraints, clock, metrics),
      workers(std::min<std::size_t>(usable_cores(), kWorkersMax)),
      waiters(kWaiters),
      retry_advice(os_random_seed()),
      addresses(address_rules(config.server), os_random_seed()),
      keys({&config, &clock, &metrics, os_random_seed()}),
      limits(config, clock),
      tracing({exports_traces(config.otlp), config.otlp.sample_ratio, os_random_seed()}),
      spans(exports_traces(config.otlp) ? config.otlp.spans_max : 0) {
  // One that is wrong is refused by Server::load().
  if (auto made = make_live_config(config); made.ok()) live.set(std::move(made).value());
  limits.on_cost([this](std::string_view tenant, std::uint64_t micros) {
    request_metrics.count_cost(tenant, micros);
  });
}

Service::~Service() = default;

namespace {

void publish_connections(const ServerCounts& counts, Metrics& metrics) {
  metrics.http_connections.set(static_cast<double>(counts.connections_open));
  Metrics::ConnectionTotals totals;
  totals.over_limit = counts.connections_refused;
  totals.over_address_limit = counts.connections_unwelcome;
  totals.proxy_refused = counts.proxy_refused;
  totals.tls_faults = counts.tls_faults;
  totals.tls_handshakes = counts.tls_handshakes;
  totals.tls_resumed = counts.tls_resumed;
  metrics.publish_connections(totals);
}

}  // namespace

struct Server::Parts {
  Parts(const Config& config, const Clock& clock)
      : service(config, clock),
        guard(asio::make_work_guard(io)),
        waker(io.get_executor()),
        signals(io),
        hangups(io),
        timer(io) {
    service.metrics.set_build_info(kVersion, llama_library_version());
    http.emplace(io, clock, server_options(config), make_server_hooks(service),
                 make_router(service));
  }

  Result<void> read_certificate();
  Result<void> export_telemetry();
  void use(std::shared_ptr<LiveConfig> live);
  void watch_hangups();
  Awaitable<Result<ConfigChanges>> reload();
  Awaitable<void> reload_unanswered();
  void reload_soon();
  void end();
  void watch_drain(TimePoint deadline);
  void stop_hard();

  // In the order of construction; destroyed in reverse: no session, no coroutine and no worker is
  // left when the service goes.
  Service service;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  IoWaker waker;
  asio::signal_set signals;
  asio::signal_set hangups;
  asio::steady_timer timer;
  std::optional<HttpServer> http;
  std::unique_ptr<AdminApi> admin;         // null: none
  std::shared_ptr<TlsKeeper> tls;          // null: no TLS
  std::unique_ptr<ConfigKeeper> keeper;    // null: the configuration stays as it was
  Endpoint endpoint;                       // of listen()
  std::shared_ptr<OtlpExporter> exporter;  // null: nothing is exported
  bool draining = false;
  bool stopping = false;
};

Server::Server(const Config& config, const Clock& clock)
    : parts_(std::make_unique<Parts>(config, clock)) {}

Server::~Server() {
  if (parts_->service.loaded_tier) parts_->service.loaded_tier->stop();
  parts_->service.workers.join();
  parts_->service.waiters.join();
  parts_->keeper.reset();
  parts_->service.key_watch.reset();
  parts_->service.batches.reset();
  parts_->service.limits.close_books();
}

const Service& Server::service() const { return parts_->service; }
const ServerCounts& Server::http_counts() const { return parts_->http->counts(); }

const ServerOptions& Server::http_options() const { return parts_->http->options(); }

Result<void> Server::Parts::read_certificate() {
  TlsKeeperParts parts;
  parts.config = service.config.tls;
  parts.metrics = &service.metrics;
  parts.workers = &service.workers;
  parts.use = [this](std::shared_ptr<const TlsContext> context) {
    http->set_tls(std::move(context));
  };
  ZH_ASSIGN_OR_RETURN(tls, TlsKeeper::open(std::move(parts), io.get_executor()));
  TlsKeeper::start(tls);
  return {};
}

Result<void> Server::Parts::export_telemetry() {
  const OtlpConfig& config = service.config.otlp;
  if (!exports_traces(config) && !exports_metrics(config)) return {};
  OtlpExporterParts parts;
  parts.service = &service;
  parts.server = endpoint;
  parts.environment = process_environment();
  parts.seed = os_random_seed();
  ZH_ASSIGN_OR_RETURN(exporter, OtlpExporter::open(std::move(parts), io.get_executor()));
  OtlpExporter::start(exporter);
  return {};
}

// I/O thread, or before it runs. What was begun under the old one is served by it to its end.
void Server::Parts::use(std::shared_ptr<LiveConfig> live) {
  live->models = describe_models(live->config, service.tier());
  for (ModelDescription& model : live->models) {
    model.abilities.batch = service.batches != nullptr && model.max_tokens > 0;
  }
  const std::shared_ptr<const LiveConfig> before = service.live.get();
  if (before != nullptr && before->slo != nullptr) {
    before->slo->retire_all_but(service.registry, live->objectives);
  }
  live->slo = make_slo_metrics(service.registry, live->objectives, service.tier().name());
  const Config& config = live->config;
  service.limits.set(live->limits, config.instance.labels);
  service.addresses.set_rules(address_rules(config.server));
  service.admission.set_requests_max(config.limits.requests_max);
  service.tier().loop().set_wait_max(std::chrono::seconds(config.scheduler.max_wait_seconds));
  http->set_options(server_options(config));
  service.live.set(std::move(live));
}

Result<Endpoint> Server::listen() {
  if (serves_tls(parts_->service.config)) ZH_RETURN_IF_ERROR(parts_->read_certificate());
  const ServerConfig& config = parts_->service.config.server;
  ZH_ASSIGN_OR_RETURN(parts_->endpoint, config.unix_socket.empty()
                                            ? parts_->http->listen_tcp(config.host, config.port)
                                            : parts_->http->listen_unix(config.unix_socket));
  return parts_->endpoint;
}

Result<void> Server::load(std::unique_ptr<Model> model, std::unique_ptr<Model> embedding_model,
                          std::optional<KvLayoutChoiceReport> layout) {
  Service& service = parts_->service;
  ZH_RETURN_IF_ERROR(check_alias_targets(service.config.model, model->info().name));
  ZH_ASSIGN_OR_RETURN(std::shared_ptr<LiveConfig> live, make_live_config(service.config));
  ZH_RETURN_IF_ERROR(check_objective_tiers(live->objectives, model->info().name));
  TierParts parts;
  parts.embedding_model = std::move(embedding_model);
  parts.clock = &service.clock;
  parts.waker = &parts_->waker;
  parts.seed = os_random_seed();
  parts.default_system = default_system_of(service.config.model);
  parts.cache = service.config.cache;
  parts.scheduler = service.config.scheduler;
  parts.queue = service.config.queue;
  parts.limits = service.config.limits;
  parts.constraints = service.config.constraints;
  parts.layout = std::move(layout);
  service.tier_metrics = make_tier_metrics(service, *model);
  feed_tier_metrics(*service.tier_metrics, *model, parts);
  ZH_ASSIGN_OR_RETURN(service.loaded_tier,
                      Tier::create(std::move(model), service.config.engine, std::move(parts)));
  parts_->use(std::move(live));
  export_engine_snapshot(service.registry, service.clock, service.tier().name(),
                         [&service] { return service.tier().snapshot(); });
  service.registry.at_scrape([this, &service] {
    service.tier_metrics->steps.publish(service.tier().snapshot());
    if (const auto kills = cgroup_oom_kills()) service.metrics.publish_oom_kills(*kills);
    publish_connections(parts_->http->counts(), service.metrics);
    service.metrics.requests_in_flight.set(static_cast<double>(service.admission.in_flight()));
  });
  ZH_RETURN_IF_ERROR(precompile_constraints(service));
  service.tier().start();
  return parts_->export_telemetry();
}

Result<void> Server::keep_batches(const std::filesystem::path& folder) {
  Service& service = parts_->service;
  ZH_ASSIGN_OR_RETURN(service.batches,
                      BatchService::open(service, parts_->io.get_executor(), folder));
  parts_->use(std::make_shared<LiveConfig>(*service.live.get()));
  service.batches->start();
  service.batches->drop_owners(service.keys.ring().get()->erased_tenants());
  return {};
}

Result<void> Server::keep_usage(const std::filesystem::path& folder) {
  Service& service = parts_->service;
  ZH_RETURN_IF_ERROR(service.limits.keep(folder, parts_->io.get_executor()));
  const std::shared_ptr<const KeyRing> ring = service.keys.ring().get();
  service.limits.adopt_old_rows(ring);
  service.limits.forget_gone(*ring);
  return {};
}

Result<void> Server::keep_keys(const std::string& store) {
  Service& service = parts_->service;
  KeyWatchParts parts;
  parts.path = store;
  parts.gate = &service.keys;
  parts.metrics = &service.metrics;
  // Called while the server runs, when there are batches or there will be none.
  parts.on_change = [&service](const KeyRing& ring) {
    if (service.batches) service.batches->drop_owners(ring.erased_tenants());
    service.limits.forget_gone(ring);
  };
  ZH_ASSIGN_OR_RETURN(service.key_watch,
                      KeyWatch::open(std::move(parts), parts_->io.get_executor()));
  ZH_RETURN_IF_ERROR(check_keys_for_address(service.config, *service.keys.ring().get()));
  service.key_watch->start();
  return {};
}

Result<Endpoint> Server::serve_admin(const std::string& token) {
  AdminParts parts;
  parts.service = &parts_->service;
  parts.io = &parts_->io;
  parts.token = token;
  parts.reload = [self = parts_.get()] { return self->reload(); };
  ZH_ASSIGN_OR_RETURN(parts_->admin, AdminApi::open(parts));
  return parts_->admin->endpoint();
}

Result<void> Server::warm_up(const WarmSetup& setup) {
  Service& service = parts_->service;
  std::vector<Conversation> conversations;
  for (const std::string& system : service.config.cache.warm_prefixes) {
    conversations.push_back(conversation_under(system));
    apply_prompt_habits(service.config.prompt.habits, conversations.back());
  }
  const std::shared_ptr<const LiveConfig> live = service.live.get();
  for (const RequestProfile& profile : live->profiles.all()) {
    if (profile.has_prefix()) conversations.push_back(profile.conversation);
  }
  return zerohop::warm_up(service.tier(), conversations, setup, service.waiters);
}

void Server::show_preparation(ModelPreparation preparation) {
  parts_->service.preparation = std::move(preparation);
}

void Server::show_machine(const MachineRates& rates) { parts_->service.machine = rates; }

void Server::run() { parts_->io.run(); }

void Server::begin_drain() {
  asio::post(parts_->io, [parts = parts_.get()] {
    if (parts->draining || parts->stopping) return;
    parts->draining = true;
    log_info("draining",
             {{"requests_in_flight", std::to_string(parts->service.admission.in_flight())}});
    parts->service.admission.close();
    const auto limit = std::chrono::seconds(parts->service.live.get()->config.server.drain_seconds);
    parts->watch_drain(parts->service.clock.now() + limit);
  });
}

void Server::stop_now() {
  asio::post(parts_->io, [parts = parts_.get()] { parts->stop_hard(); });
}

void Server::follow_config(std::function<Result<LoadedConfig>()> read) {
  ConfigKeeperParts parts;
  parts.read = std::move(read);
  parts.service = &parts_->service;
  parts.use = [self = parts_.get()](std::shared_ptr<LiveConfig> live) {
    log_configure({.level = live->config.log.level, .format = live->config.log.format});
    self->use(std::move(live));
  };
  parts_->keeper = std::make_unique<ConfigKeeper>(std::move(parts));
}

void Server::reload() {
  asio::post(parts_->io, [parts = parts_.get()] { parts->reload_soon(); });
}

Awaitable<Result<ConfigChanges>> Server::Parts::reload() {
  if (tls) tls->reload_soon();
  if (service.key_watch) service.key_watch->reload_soon();
  if (keeper == nullptr) co_return ConfigChanges{};
  co_return co_await keeper->reload();
}

// What came of it is in the log.
Awaitable<void> Server::Parts::reload_unanswered() { (void)co_await reload(); }

void Server::Parts::reload_soon() { asio::co_spawn(io, reload_unanswered(), asio::detached); }

void Server::Parts::watch_hangups() {
  hangups.async_wait([this](const boost::system::error_code& error, int) {
    if (error || stopping) return;
    log_info("reading changed files again", {});
    reload_soon();
    watch_hangups();
  });
}

void Server::handle_signals() {
  parts_->hangups.add(SIGHUP);
  parts_->watch_hangups();
  parts_->signals.add(SIGTERM);
  parts_->signals.add(SIGINT);
  parts_->signals.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    begin_drain();
    parts_->signals.async_wait([this](const boost::system::error_code& second, int) {
      if (!second) stop_now();
    });
  });
}

// While it drains the listeners stay open, so that new work is told to go elsewhere (503 with
// advice) instead of meeting a closed port.
void Server::Parts::watch_drain(TimePoint deadline) {
  if (stopping) return;
  if (service.admission.in_flight() == 0) {
    end();
    return;
  }
  if (service.clock.now() >= deadline) {
    log_warning("drain time is over", {});
    stop_hard();
    return;
  }
  timer.expires_after(std::chrono::milliseconds(20));
  timer.async_wait([this, deadline](const boost::system::error_code& error) {
    if (!error) watch_drain(deadline);
  });
}

void Server::Parts::stop_hard() {
  if (stopping) return;
  service.admission.close();
  if (service.batches) service.batches->stop();
  if (service.loaded_tier) service.loaded_tier->stop();  // every stream gets its typed error
  end();
}

// Nothing is left to compute. Answers still on their way out get a moment, then sockets close.
void Server::Parts::end() {
  if (stopping) return;
  stopping = true;
  if (service.batches) service.batches->stop();
  if (service.key_watch) service.key_watch->stop();
  service.limits.stop();
  signals.cancel();
  hangups.cancel();
  if (tls) tls->stop();
  if (admin) admin->stop();
  http->stop_accepting();
  http->when_all_ended([this] { timer.cancel(); });
  timer.expires_after(kFlushTime);
  timer.async_wait([this](const boost::system::error_code&) {
    http->close_all();
    if (exporter) exporter->finish();
    guard.reset();
  });
}

}  // namespace zerohop
