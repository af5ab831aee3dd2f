// What all sessions of one server share. Internal to http; I/O thread only.
//
// Held by shared_ptr from the server, the accept loops and every session, so that a session which
// ends after its server object still finds its counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "http/router.h"
#include "http/server_options.h"

namespace zerohop {

class Connection;

/// The value of the `date` field (RFC 9110, section 5.6.7), written anew once a second.
class DateCache {
 public:
  std::string_view text(WallTime now);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

/// Counts itself into a gauge while it lives.
class GaugeGuard {
 public:
  explicit GaugeGuard(std::size_t& gauge) : gauge_(gauge) { ++gauge_; }
  ~GaugeGuard() { --gauge_; }
  GaugeGuard(const GaugeGuard&) = delete;
  GaugeGuard& operator=(const GaugeGuard&) = delete;

 private:
  std::size_t& gauge_;
};

struct ServerState {
  ServerState(const Clock& clock_in, ServerOptions options_in, ServerHooks hooks_in,
              Router router_in)
      : clock(clock_in),
        hooks(std::move(hooks_in)),
        router(std::move(router_in)),
        options(std::move(options_in)),
        tls(options.tls) {}

  // Constant.
  const Clock& clock;
  const ServerHooks hooks;
  const Router router;

  // I/O thread.
  ServerOptions options;                  // HttpServer::set_options() changes some
  std::shared_ptr<const TlsContext> tls;  // of connections that come from now on
  std::string record;                     // one TLS record on its way; between two waits only
  ServerCounts counts;
  DateCache date;
  bool draining = false;  // answers carry `connection: close`, idle connections end
  std::unordered_set<Connection*> connections;  // those with a running session
  std::size_t accept_loops = 0;
  std::function<void()> on_all_ended;  // taken out before it is called

  /// Calls on_all_ended when draining has finished. Call after anything that may have been the
  /// last.
  void check_all_ended();
};

}  // namespace zerohop
