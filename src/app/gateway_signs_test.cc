#include "app/gateway_signs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

namespace zerohop {
namespace {

// The names, joined.
std::string found(std::initializer_list<std::pair<const char*, const char*>> fields) {
  Headers headers;
  for (const auto& [name, value] : fields) headers.add(name, value);
  std::string names;
  for_each_gateway(gateways_of(headers), [&](Gateway gateway) {
    names += (names.empty() ? "" : " ") + std::string(gateway_name(gateway));
  });
  return names;
}

TEST(GatewaySigns, AreNotSeenInRequestsThatComeDirectly) {
  EXPECT_EQ(found({{"host", "localhost"},
                   {"x-api-key", "k"},
                   {"x-stainless-retry-count", "0"},
                   {"anthropic-version", "2023-06-01"},
                   {"x-anthropic-request-id", "a"},
                   {"accept", "*/*"},
                   {"content-type", "application/json"},
                   {"connection", "keep-alive"},
                   {"x-app", "cli"},
                   {"X-Forward", "no"}}),
            "");
}

TEST(GatewaySigns, NameTheProduct) {
  EXPECT_EQ(found({{"CF-Ray", "1"}, {"cf-connecting-ip", "1.2.3.4"}}), "cloudflare");
  EXPECT_EQ(found({{"x-envoy-expected-rq-timeout-ms", "15000"}}), "envoy");
  EXPECT_EQ(found({{"X-Kong-Request-Id", "1"}}), "kong");
  EXPECT_EQ(found({{"x-litellm-call-id", "1"}}), "litellm");
  EXPECT_EQ(found({{"x-portkey-trace-id", "1"}}), "portkey");
  EXPECT_EQ(found({{"X-Real-IP", "1.2.3.4"}}), "nginx");
  EXPECT_EQ(found({{"x-amzn-trace-id", "Root=1"}}), "aws");
  EXPECT_EQ(found({{"helicone-auth", "Bearer"}}), "helicone");
}

TEST(GatewaySigns, PreferAProductToTheGeneralMark) {
  EXPECT_EQ(found({{"x-forwarded-for", "1.2.3.4"}}), "other");
  EXPECT_EQ(found({{"Forwarded", "for=1.2.3.4"}}), "other");
  EXPECT_EQ(found({{"via", "1.1 some-proxy"}}), "other");
  EXPECT_EQ(found({{"x-forwarded-for", "1.2.3.4"}, {"x-real-ip", "1.2.3.4"}}), "nginx");
  EXPECT_EQ(found({{"cf-ray", "1"}, {"x-real-ip", "1.2.3.4"}}), "cloudflare nginx");
}

TEST(GatewaySigns, ReadTheNamesInVia) {
  EXPECT_EQ(found({{"via", "kong/3.9.0"}}), "kong");
  EXPECT_EQ(found({{"via", "1.1 google, 1.1 varnish (Varnish/7.1)"}}), "google varnish");
  EXPECT_EQ(found({{"via", "2.0 Caddy"}}), "caddy");
  EXPECT_EQ(found({{"via", "1.1 kongress"}}), "other");
  EXPECT_EQ(found({{"via", "1.1 hongkong"}}), "other");
  EXPECT_EQ(found({{"via", ""}}), "other");
}

TEST(GatewaySigns, HaveDifferentNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kGateways; ++i) names.insert(gateway_name(static_cast<Gateway>(i)));
  EXPECT_EQ(names.size(), kGateways);
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(gateway_name(Gateway::kOther), "other");
}

TEST(GatewaySightings, TellWhichOnesAreNew) {
  GatewaySightings sightings;
  const GatewaySet both = set_of(Gateway::kKong) | set_of(Gateway::kNginx);
  const TimePoint later = TimePoint{} + std::chrono::seconds(5);
  EXPECT_EQ(sightings.note(set_of(Gateway::kNginx), TimePoint{}), set_of(Gateway::kNginx));
  EXPECT_EQ(sightings.note(both, later), set_of(Gateway::kKong));
  EXPECT_EQ(sightings.note(both, later), 0u);
  EXPECT_EQ(sightings.note(0, later), 0u);
  EXPECT_EQ(sightings.of(Gateway::kNginx).requests, 3u);
  EXPECT_EQ(sightings.of(Gateway::kKong).requests, 2u);
  EXPECT_EQ(sightings.of(Gateway::kKong).last, later);
  EXPECT_EQ(sightings.of(Gateway::kEnvoy).requests, 0u);
}

}  // namespace
}  // namespace zerohop
