// What the configuration says of the collector, beyond what one key can say. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "app/environment.h"
#include "app/http_get.h"
#include "core/error.h"
#include "http/headers.h"

namespace zerohop {

/// Errors: kConfiguration (an endpoint that is none or wants https; headers whose value stands in
/// the configuration itself, or that belong to the client).
Result<void> check_otlp_rules(const OtlpConfig& config);

inline bool exports_traces(const OtlpConfig& config) {
  return !config.endpoint.empty() && config.traces;
}
inline bool exports_metrics(const OtlpConfig& config) {
  return !config.endpoint.empty() && config.metrics;
}

/// Of a configuration that was checked: the place below which /v1/traces stands; its path has no
/// slash at its end.
HttpUrl collector_of(const OtlpConfig& config);

/// Header values that stand somewhere else than in the configuration.
class SecretHeaders {
 public:
  static constexpr std::size_t kValueBytesMax = 4'096;

  /// Of a configuration that was checked. Variables are taken from `environment`, once.
  SecretHeaders(const OtlpConfig& config, const Environment& environment);

  /// Reads the files. Blocks for the disk. Errors: kConfiguration (a variable or file that is not
  /// there, empty or no header value), naming it and never its content.
  Result<std::vector<HeaderField>> read() const;

 private:
  struct Source {
    std::string name;
    std::string origin;  // "env:VARIABLE" or "file:PATH"
    std::string value;   // of a variable
  };

  std::vector<Source> sources_;
};

}  // namespace zerohop
