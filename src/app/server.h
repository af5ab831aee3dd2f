// The whole server in one object: service, tier, HTTP, and their orderly end. `zerohop serve` is a
// shell around it (serve.cc); tests run it in process with a fake model.
//
//   Server server(config, clock);
//   server.listen() → server.load(model) → server.run()          run() returns when all is over
//   keep_keys(store) before listen(); keep_batches(folder), warm_up(setup), show_preparation(…)
//   before run(): optional
//
//   begin_drain()   the gate closes: new work gets 503 and /healthz says so; running answers
//                   finish, up to server.drain_seconds; then everything stops
//   stop_now()      running answers end at once with a typed error; then everything stops
//
// run() makes its caller the I/O thread. begin_drain(), stop_now() and reload() from any thread,
// idempotent; the rest from the owner, before run().
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/config.h"
#include "app/config_load.h"
#include "app/machine_rates.h"
#include "app/model_preparation.h"
#include "app/warm_prefixes.h"
#include "base/clock.h"
#include "core/error.h"
#include "engine/layout_choice.h"
#include "http/endpoint.h"
#include "http/server_options.h"
#include "model/model.h"

namespace zerohop {

struct Service;

class Server {
 public:
  /// `clock` outlives the server.
  Server(const Config& config, const Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Reads the certificate, if there is to be one, and binds the configured address. Errors:
  /// kAddressInUse, kConfiguration.
  Result<Endpoint> listen();

  /// Makes the tier and starts its engine. `embedding_model` makes the vectors of /v1/embeddings;
  /// without one `model` does. `layout` was measured where the configuration leaves it open.
  /// Errors: kConfiguration.
  Result<void> load(std::unique_ptr<Model> model, std::unique_ptr<Model> embedding_model = nullptr,
                    std::optional<KvLayoutChoiceReport> layout = std::nullopt);

  /// Keeps message batches in `folder` and computes what is left there of an earlier process.
  /// Without it there are none. After load(). Errors: kConfiguration.
  Result<void> keep_batches(const std::filesystem::path& folder);

  /// Keeps spent budgets and a row for every request in `folder`; without it they are gone with the
  /// process. Before run(). Errors: kConfiguration.
  Result<void> keep_usage(const std::filesystem::path& folder);

  /// Reads the keys and tenants in the file `store`, and follows its changes (key_watch.h). There
  /// may be no file yet. Before listen(). Errors: kConfiguration (cannot be read; the address is
  /// public and no keys would be asked for).
  Result<void> keep_keys(const std::string& store);

  /// Opens the listener of the admin API (admin_api.h). Errors: kAddressInUse, kConfiguration.
  Result<Endpoint> serve_admin(const std::string& token);

  /// Puts the system prompts of cache.warm_prefixes and prompt.profiles into the prompt cache.
  /// After load(). Errors: kConfiguration.
  Result<void> warm_up(const WarmSetup& setup);

  /// What /v1/system_info tells of how the model came to be what it is.
  void show_preparation(ModelPreparation preparation);
  /// What it tells of the machine. Before run(): optional.
  void show_machine(const MachineRates& rates);

  /// Where reload() reads the configuration anew; without it that stays as it was at the start.
  /// `read` runs on a thread of its own. After load(), before run().
  void follow_config(std::function<Result<LoadedConfig>()> read);

  void run();
  /// Reads what may change while the server runs again: configuration (config_keeper.h),
  /// certificates, keys. Any thread.
  void reload();
  void begin_drain();
  void stop_now();

  /// From now on SIGTERM and SIGINT drain, a second one stops at once, and SIGHUP reloads.
  void handle_signals();

  const Service& service() const;
  /// I/O thread, or after run().
  const ServerCounts& http_counts() const;
  const ServerOptions& http_options() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace zerohop
