// Metrics: the handles of the server's own families, fetched once at start, by name of a member
// instead of by string. One object, owned by app; members may be copied out and used from any
// thread. What each family means stands in metric_table.cc.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "core/error.h"
#include "core/snapshot.h"
#include "telemetry/registry.h"

namespace zerohop {

/// How far the work for a request had come when its client went away.
enum class CancelPhase : std::uint8_t {
  kQueued,   ///< before Started: waiting for its turn
  kPrefill,  ///< after Started, before the first text
  kDecode,   ///< text was flowing
};

class Metrics {
 public:
  /// `registry` must outlive this.
  explicit Metrics(MetricsRegistry& registry);

  Gauge http_connections;
  Gauge requests_in_flight;
  Gauge keys;

  Histogram constraint_compile_seconds;

  /// What came of connections that have no request yet, as totals since the start.
  struct ConnectionTotals {
    std::uint64_t over_limit = 0;
    std::uint64_t over_address_limit = 0;
    std::uint64_t proxy_refused = 0;
    std::uint64_t tls_faults = 0;
    std::uint64_t tls_handshakes = 0;
    std::uint64_t tls_resumed = 0;  ///< of the handshakes
  };
  void publish_connections(const ConnectionTotals& totals);

  enum class TlsReload : std::uint8_t { kTaken, kFailed };
  void count_tls_reload(TlsReload result);

  /// Only where there is a certificate: a page without TLS has no such line.
  void set_certificate_expiry(WallTime expires_at);

  /// `gateway` is one of few names (gateway_signs.h of app).
  void count_gateway(std::string_view gateway);

  /// `route` is the pattern that matched ("/v1/messages"), never the path that a client sent. Takes
  /// the registry's lock: once per request, not per token.
  void count_http_request(std::string_view route, int status);

  /// A model request that was refused or failed. Codes that never reach a client are not counted.
  void count_refusal(ErrorCode code);

  void count_cancellation(CancelPhase phase);

  /// `reason` is one of few: missing, malformed, unknown, revoked, expired.
  void count_auth_failure(std::string_view reason);
  /// "done" or "failed".
  void count_key_reload(std::string_view outcome);
  /// "applied", "unchanged" or "failed".
  void count_config_reload(std::string_view outcome);

  /// `requested` is one of few values, never what a client sent.
  void count_api_version(std::string_view requested, std::string_view applied);

  /// `rule` comes from the configuration.
  void count_prompt_rewrites(std::string_view rule, std::uint64_t pieces);

  /// `profile` comes from the configuration, or is "none".
  void count_profile_request(std::string_view profile);

  /// A request whose answer is constrained.
  enum class ConstraintFrom : std::uint8_t { kCache, kCompiler };
  void count_constraint(ConstraintFrom from);
  /// A schema that is not enforced as it is; `keyword` is one of JSON Schema's, or "other".
  void count_constraint_refusal(std::string_view kind, std::string_view keyword);
  void count_constraint_relaxed();
  /// Not even the shortest answer of the form that was asked for fits into its max_tokens.
  void count_constrained_answer_refused();

  /// How often the kernel killed a process of this cgroup; a page without it has no such line.
  void publish_oom_kills(std::uint64_t total);

  /// Once, at start.
  void set_build_info(std::string_view version, std::string_view libllama);

 private:
  static constexpr std::size_t kErrorCodes = static_cast<std::size_t>(ErrorCode::kAddressInUse) + 1;

  MetricsRegistry& registry_;
  std::array<Counter, kErrorCodes> refusals_;
  std::array<Counter, 3> cancellations_;
};

/// Makes every scrape copy the engine's latest snapshot into the families of the engine, the
/// tokens, the prefix cache, the pressure ladder and constraints. `latest` is called from the
/// scraping thread, once a page; it and `clock` must stay valid as long as the registry is scraped.
/// `model` is a label.
void export_engine_snapshot(MetricsRegistry& registry, const Clock& clock, std::string_view model,
                            std::function<EngineSnapshot()> latest);

}  // namespace zerohop
