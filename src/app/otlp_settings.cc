#include "app/otlp_settings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "app/config_error.h"
#include "app/whole_file.h"
#include "base/check.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

constexpr std::string_view kVariable = "env:";
constexpr std::string_view kFile = "file:";

bool is_port(std::string_view text) { return whole_number<std::uint16_t>(text).value_or(0) > 0; }

Result<void> check_endpoint(const std::string& endpoint) {
  if (endpoint.empty()) return {};
  if (endpoint.starts_with("https://")) {
    return configuration_error(
        "otlp.endpoint: https is not supported; name a collector that is reached over http, on "
        "this machine or in a trusted network, and let that one speak TLS to others");
  }
  const Result<HttpUrl> url = split_http_url(endpoint);
  const auto plain = [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("@?#\"'<>\\").find(c) == std::string_view::npos;
  };
  if (!url.ok() || !is_port(url->port) || !std::ranges::all_of(endpoint, plain)) {
    // Not repeated: there may be a password in front of the host.
    return configuration_error(
        "otlp.endpoint: must be of the form http://HOST:PORT or http://HOST:PORT/PATH");
  }
  return {};
}

Result<void> check_header(const std::string& name, const std::string& origin) {
  static constexpr std::array<std::string_view, 6> kOurs{
      "host", "content-type", "content-length", "transfer-encoding", "connection", "expect"};
  const auto same = [&name](std::string_view own) { return equals_ignoring_case(own, name); };
  if (!is_http_token(name) || std::ranges::any_of(kOurs, same)) {
    return configuration_error("otlp.headers: '" + name + "' cannot be set");
  }
  for (const std::string_view kind : {kVariable, kFile}) {
    if (origin.starts_with(kind) && origin.size() > kind.size()) return {};
  }
  // Not repeated: it may be the secret itself.
  return configuration_error("otlp.headers: the value of '" + name +
                             "' must be env:VARIABLE or file:PATH, from where it is read");
}

bool is_field_value(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

Result<void> check_otlp_rules(const OtlpConfig& config) {
  ZH_RETURN_IF_ERROR(check_endpoint(config.endpoint));
  for (const auto& [name, origin] : config.headers) {
    ZH_RETURN_IF_ERROR(check_header(name, origin));
  }
  return {};
}

HttpUrl collector_of(const OtlpConfig& config) {
  Result<HttpUrl> url = split_http_url(config.endpoint);
  ZH_CHECK(url.ok());
  while (url->path.ends_with('/')) url->path.pop_back();
  return std::move(url).value();
}

SecretHeaders::SecretHeaders(const OtlpConfig& config, const Environment& environment) {
  for (const auto& [name, origin] : config.headers) {
    Source source{name, origin, {}};
    if (origin.starts_with(kVariable)) {
      source.value =
          find_variable(environment, origin.substr(kVariable.size())).value_or(std::string());
    }
    sources_.push_back(std::move(source));
  }
}

Result<std::vector<HeaderField>> SecretHeaders::read() const {
  std::vector<HeaderField> fields;
  for (const Source& source : sources_) {
    std::string value = source.value;
    if (source.origin.starts_with(kFile)) {
      value = read_whole(source.origin.substr(kFile.size()), kValueBytesMax).value_or("");
      while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
    }
    if (!is_field_value(value)) {
      return configuration_error("otlp.headers: " + source.origin + " holds no value for '" +
                                 source.name + "' (1 to 4096 printable ASCII characters)");
    }
    fields.push_back({source.name, std::move(value)});
  }
  return fields;
}

}  // namespace zerohop
