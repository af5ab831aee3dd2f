#include "app/network_config.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace zerohop {
namespace {

std::string fault(const std::function<void(Config&)>& change) {
  Config config;
  change(config);
  const auto checked = check_network_rules(config);
  return checked.ok() ? "" : checked.error().message;
}

void with_tls(Config& config) {
  config.tls.certificate = "c.pem";
  config.tls.private_key = "k.pem";
}

TEST(NetworkConfig, AllowsTheDefaults) {
  EXPECT_EQ(fault([](Config&) {}), "");
  EXPECT_FALSE(serves_tls(Config{}));
  EXPECT_EQ(address_rules(ServerConfig{}).exempt.size(), 2u);
}

TEST(NetworkConfig, WantsToKnowWhoseProxyHeadersAreBelieved) {
  EXPECT_NE(fault([](Config& c) { c.server.proxy_protocol = ProxyPolicy::kOptional; }), "");
  EXPECT_NE(fault([](Config& c) { c.server.proxy_protocol_from = {"10.0.0.0/8"}; }), "");
  const auto both = [](Config& c) {
    c.server.proxy_protocol = ProxyPolicy::kRequired;
    c.server.proxy_protocol_from = {"10.0.0.0/8", "2001:db8::7"};
  };
  EXPECT_EQ(fault(both), "");
  EXPECT_EQ(fault([](Config& c) {
              c.server.proxy_protocol = ProxyPolicy::kRequired;
              c.server.unix_socket = "/run/z.sock";
            }),
            "");
  Config config;
  both(config);
  EXPECT_EQ(server_options(config).proxy, ProxyPolicy::kRequired);
  EXPECT_EQ(server_options(config).proxy_from.size(), 2u);
}

TEST(NetworkConfig, NamesWhatIsNoNetwork) {
  for (const char* wrong : {"10.0.0.1/8", "example.org", "10.0.0.0/33", "10.0.0.0-10.0.0.9"}) {
    const std::string message = fault([wrong](Config& c) { c.server.address_exempt = {wrong}; });
    EXPECT_NE(message.find("server.address_exempt"), std::string::npos);
    EXPECT_NE(message.find(wrong), std::string::npos);
  }
  EXPECT_EQ(fault([](Config& c) { c.server.address_exempt = {}; }), "");
}

TEST(NetworkConfig, WantsTlsWholeOrNotAtAll) {
  EXPECT_EQ(fault(with_tls), "");
  EXPECT_NE(fault([](Config& c) { c.tls.certificate = "c.pem"; }), "");
  EXPECT_NE(fault([](Config& c) { c.tls.private_key = "k.pem"; }), "");
  EXPECT_NE(fault([](Config& c) {
              with_tls(c);
              c.server.unix_socket = "/run/z.sock";
            }),
            "");
}

TEST(NetworkConfig, WantsAnAuthorityForClientCertificates) {
  EXPECT_NE(fault([](Config& c) { c.tls.client_certificates = ClientCertificates::kRequired; }),
            "");
  EXPECT_NE(fault([](Config& c) {
              with_tls(c);
              c.tls.client_certificates = ClientCertificates::kOptional;
            }),
            "");
  EXPECT_NE(fault([](Config& c) {
              with_tls(c);
              c.tls.client_ca = "ca.pem";
            }),
            "");
  EXPECT_EQ(fault([](Config& c) {
              with_tls(c);
              c.tls.client_certificates = ClientCertificates::kRequired;
              c.tls.client_ca = "ca.pem";
            }),
            "");
}

}  // namespace
}  // namespace zerohop
