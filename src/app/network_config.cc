#include "app/network_config.h"

#include <chrono>
#include <optional>
#include <string_view>

#include "app/config_error.h"
#include "base/check.h"

namespace zerohop {
namespace {

Result<void> check_networks(std::string_view key, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (IpNetwork::parse(text)) continue;
    return configuration_error(
        std::string(key) + ": '" + text +
        "' is no address or network such as 10.0.0.0/8 or 2001:db8::/32, with "
        "no bits set behind the prefix");
  }
  return {};
}

Result<void> check_proxy(const ServerConfig& server) {
  ZH_RETURN_IF_ERROR(check_networks("server.proxy_protocol_from", server.proxy_protocol_from));
  const bool spoken = server.proxy_protocol != ProxyPolicy::kOff;
  if (spoken && server.unix_socket.empty() && server.proxy_protocol_from.empty()) {
    return configuration_error(
        "server.proxy_protocol needs server.proxy_protocol_from: whose headers are believed");
  }
  if (!spoken && !server.proxy_protocol_from.empty()) {
    return configuration_error(
        "server.proxy_protocol_from has no effect while server.proxy_protocol is off");
  }
  return {};
}

Result<void> check_tls(const Config& config) {
  const TlsConfig& tls = config.tls;
  if (tls.certificate.empty() != tls.private_key.empty()) {
    return configuration_error(
        "tls.certificate and tls.private_key are given together or not at all");
  }
  const bool asks = tls.client_certificates != ClientCertificates::kOff;
  if (asks && !serves_tls(config)) {
    return configuration_error("tls.client_certificates needs tls.certificate and tls.private_key");
  }
  if (asks && tls.client_ca.empty()) {
    return configuration_error("tls.client_certificates needs tls.client_ca: whose they may be");
  }
  if (!asks && !tls.client_ca.empty()) {
    return configuration_error("tls.client_ca has no effect while tls.client_certificates is off");
  }
  if (!asks && tls.client_identity != ClientIdentity::kOff) {
    return configuration_error("tls.client_identity needs tls.client_certificates");
  }
  if (serves_tls(config) && !config.server.unix_socket.empty()) {
    return configuration_error("a Unix socket (server.unix_socket) is not served over TLS");
  }
  return {};
}

}  // namespace

Result<void> check_network_rules(const Config& config) {
  ZH_RETURN_IF_ERROR(check_proxy(config.server));
  ZH_RETURN_IF_ERROR(check_networks("server.address_exempt", config.server.address_exempt));
  return check_tls(config);
}

ServerOptions server_options(const Config& config) {
  using std::chrono::seconds;
  ServerOptions options;
  options.connections_max = config.server.connections_max;
  options.body_bytes_max = config.server.body_bytes_max;
  options.head_timeout = seconds(config.server.head_timeout_seconds);
  options.body_timeout = seconds(config.server.body_timeout_seconds);
  options.idle_timeout = seconds(config.server.idle_timeout_seconds);
  options.write_timeout = seconds(config.server.write_timeout_seconds);
  options.cors = CorsPolicy::kAnyOrigin;
  options.proxy = config.server.proxy_protocol;
  options.proxy_from = networks_of(config.server.proxy_protocol_from);
  return options;
}

std::vector<IpNetwork> networks_of(const std::vector<std::string>& texts) {
  std::vector<IpNetwork> networks;
  for (const std::string& text : texts) {
    const std::optional<IpNetwork> network = IpNetwork::parse(text);
    ZH_CHECK(network.has_value());
    networks.push_back(*network);
  }
  return networks;
}

AddressRules address_rules(const ServerConfig& config) {
  AddressRules rules;
  rules.connections_max = config.address_connections_max;
  rules.requests_per_minute = config.address_requests_per_minute;
  rules.exempt = networks_of(config.address_exempt);
  return rules;
}

bool serves_tls(const Config& config) { return !config.tls.certificate.empty(); }

TlsFiles tls_files(const TlsConfig& config) {
  TlsFiles files;
  files.certificate = config.certificate;
  files.private_key = config.private_key;
  files.client_ca = config.client_ca;
  files.clients = config.client_certificates;
  return files;
}

}  // namespace zerohop
