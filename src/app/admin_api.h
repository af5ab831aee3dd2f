// Keys and tenants over HTTP, on a listener of its own that only this machine reaches, behind a
// token of its own. JSON in and out; errors as the Anthropic dialect writes them.
//
//   GET    /admin/keys[?tenant=NAME]   all keys
//   POST   /admin/keys                 {"tenant", "name", "expires_days", "limits"}: makes one; the
//                                      answer, and only it, has the `key`
//   POST   /admin/keys/{id}            {"limits": {"requests_per_minute": 60}}; null: no limit
//   DELETE /admin/keys/{id}            revokes it
//   GET    /admin/tenants              all tenants
//   POST   /admin/tenants              {"name", "weight", "priority", "pool", "models",
//                                      "overload_status", "limits"}: makes or changes one; what is
//                                      not named stays as it is
//   DELETE /admin/tenants/{name}       erases it with all its keys, its usage and its batches
//   GET    /admin/usage                sums of the ledger (admin_usage.h)
//   GET    /metrics                    for Prometheus, the series of all tenants
//   GET    /admin/cache/misses         what /v1/cache/misses shows, of all tenants
//   POST   /admin/reload               reads what SIGHUP reads; {"applied": [KEY…],
//                                      "needs_restart": [KEY…]} of the configuration
//
// A change is in force when its answer comes. I/O thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "app/live_config.h"
#include "app/service.h"
#include "http/awaitable.h"
#include "http/endpoint.h"
#include "http/server.h"

namespace zerohop {

struct AdminParts {
  Service* service = nullptr;
  boost::asio::io_context* io = nullptr;
  std::string token;                                         ///< not empty
  std::function<Awaitable<Result<ConfigChanges>>()> reload;  ///< what SIGHUP does
};

class AdminApi {
 public:
  /// Listens where `admin.listen` says. What `parts` points to outlives the result. Errors:
  /// kAddressInUse, kConfiguration.
  static Result<std::unique_ptr<AdminApi>> open(const AdminParts& parts);

  const Endpoint& endpoint() const { return endpoint_; }
  /// Closes the listener, and every connection at once.
  void stop();

 private:
  explicit AdminApi(const AdminParts& parts);

  std::unique_ptr<HttpServer> http_;
  Endpoint endpoint_;
};

/// The token in `admin.token_file`, which for `auto` is made where it is missing. Errors:
/// kConfiguration: unreadable, shorter than 16 characters, readable by others than its owner.
Result<std::string> admin_token(const AdminConfig& config);

}  // namespace zerohop
