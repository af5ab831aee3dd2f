// The whole server at its edge: limits of addresses, balancers, pins, pools, gateways.
#include <gtest/gtest.h>

#include <string>

#include "app/test_server.h"

namespace zerohop {
namespace {

const std::string kMessage =
    R"({"model":"m","max_tokens":2,"messages":[{"role":"user","content":"hi"}]})";

TestServerOptions configured(std::function<void(Config&)> configure) {
  TestServerOptions options;
  options.configure = std::move(configure);
  return options;
}

// ---- Limits of one address ----

TEST(ServerEdge, RefusesAnAddressThatAsksTooOftenInTheDialectOfItsPath) {
  const RunningServer server(configured([](Config& config) {
    config.server.address_exempt.clear();
    config.server.address_requests_per_minute = 2;
  }));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(get(server, "/livez").status, 200);
  const Answer refused = post(server, "/v1/messages", kMessage);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(text_at(refused.json(), "/error/type"), "rate_limit_error");
  const int wait = std::stoi(refused.header("retry-after-ms"));
  EXPECT_GT(wait, 0);
  EXPECT_LE(wait, 30'000);
  EXPECT_EQ(refused.header("retry-after"), std::to_string((wait + 999) / 1'000));
  EXPECT_EQ(refused.header("x-should-retry"), "true");
  const Answer openai = post(server, "/v1/chat/completions", kMessage);
  EXPECT_EQ(openai.status, 429);
  EXPECT_EQ(text_at(openai.json(), "/type"), "(none)");
  EXPECT_NE(text_at(openai.json(), "/error/message"), "(none)");
}

TEST(ServerEdge, AnUnknownPathCostsItsAddressARequestToo) {
  const RunningServer server(configured([](Config& config) {
    config.server.address_exempt.clear();
    config.server.address_requests_per_minute = 3;
  }));
  EXPECT_EQ(get(server, "/nothing/here").status, 404);
  EXPECT_EQ(get(server, "/v1/messages").status, 405);
  EXPECT_EQ(get(server, "/%zz").status, 400);
  const Answer refused = get(server, "/nothing/here");
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.header("retry-after-ms"), "");
  EXPECT_EQ(get(server, "/livez").status, 429);
}

TEST(ServerEdge, LeavesLoopbackAloneByDefault) {
  const RunningServer server(configured([](Config& config) {
    config.server.address_requests_per_minute = 1;
    config.server.address_connections_max = 1;
  }));
  const Socket idle(server.port());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get(server, "/livez").status, 200);
}

TEST(ServerEdge, ClosesConnectionsOfAnAddressThatHasTooMany) {
  const RunningServer server(configured([](Config& config) {
    config.server.address_exempt = {"10.0.0.0/8"};
    config.server.address_connections_max = 2;
  }));
  {
    Socket first(server.port());
    Socket second(server.port());
    EXPECT_TRUE(eventually([&] { return server.service().addresses.addresses_connected() == 1; }));
    Socket third(server.port());
    first.send("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
    EXPECT_TRUE(first.receive().starts_with("HTTP/1.1 200"));
    third.send("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
    EXPECT_EQ(third.receive(), "");
  }
  EXPECT_TRUE(eventually([&] { return get(server, "/livez").status == 200; }));
  EXPECT_GE(metric(server, "zerohop_http_connections_refused_total", "cause=\"address\""), 1);
}

TEST(ServerEdge, CountsTheAddressThatABalancerTells) {
  const RunningServer server(configured([](Config& config) {
    config.server.proxy_protocol = ProxyPolicy::kOptional;
    config.server.proxy_protocol_from = {"127.0.0.0/8"};
    config.server.address_requests_per_minute = 1;
  }));
  const auto status_of = [&](const std::string& address) {
    Socket socket(server.port());
    socket.send("PROXY TCP4 " + address + " 198.51.100.7 1000 8080\r\n" +
                bytes_of({"/livez", "", "", "GET"}));
    return parse_answer(socket.receive_all()).status;
  };
  EXPECT_EQ(status_of("203.0.113.1"), 200);
  EXPECT_EQ(status_of("203.0.113.1"), 429);
  EXPECT_EQ(status_of("203.0.113.2"), 200);
}

// ---- Who this is ----

TEST(ServerEdge, ServesPinsThatItFitsAndNamesTheOthers) {
  const RunningServer server(configured([](Config& config) {
    config.instance.id = "gpu-risk-01";
    config.instance.peers = {{"law-1", "https://law-1:8443"}};
  }));
  const auto asked = [&](const std::string& pin) {
    return ask(server, {"/v1/messages", kMessage, "x-anthropic-instance-id: " + pin + "\r\n"});
  };
  EXPECT_EQ(asked("gpu-risk-01").status, 200);
  EXPECT_EQ(asked("gpu-risk-*").status, 200);
  const Answer other = asked("law-*");
  EXPECT_EQ(other.status, 421);
  EXPECT_EQ(other.header("x-should-retry"), "false");
  EXPECT_EQ(other.header("x-anthropic-instance-address"), "https://law-1:8443");
  EXPECT_EQ(other.header("x-anthropic-instance-id"), "gpu-risk-01");
  EXPECT_EQ(asked("nobody").header("x-anthropic-instance-address"), "");
  const auto instances = get(server, "/v1/instances").json();
  EXPECT_EQ(text_at(instances, "/data/0/id"), "gpu-risk-01");
  EXPECT_EQ(text_at(instances, "/data/0/self"), "true");
  EXPECT_EQ(text_at(instances, "/data/1/address"), "https://law-1:8443");
}

TEST(ServerEdge, AnExclusivePoolServesWhoNamesItAndAnswersProbes) {
  const RunningServer server(configured([](Config& config) {
    config.instance.pool = "law";
    config.instance.id = "law-20240601";
    config.instance.exclusive = true;
  }));
  EXPECT_EQ(post(server, "/v1/messages", kMessage).status, 421);
  EXPECT_EQ(ask(server, {"/v1/messages", kMessage, "x-anthropic-instance-id: law-*\r\n"}).status,
            200);
  EXPECT_EQ(get(server, "/healthz").status, 200);
  EXPECT_EQ(get(server, "/v1/models").status, 200);
}

TEST(ServerEdge, PutsLabelsIntoHeadersOfEveryAnswer) {
  const RunningServer server(configured([](Config& config) {
    config.instance.labels = {{"corpus_version", "20240601"}};
    config.instance.label_headers = {{"corpus_version", "X-Law-Source-Version"}};
  }));
  EXPECT_EQ(post(server, "/v1/messages", kMessage).header("X-Law-Source-Version"), "20240601");
  EXPECT_EQ(get(server, "/no/such/path").header("X-Law-Source-Version"), "20240601");
  EXPECT_EQ(get(server, "/livez").header("X-Law-Source-Version"), "20240601");
}

// ---- Gateways ----

TEST(ServerEdge, TellsOfAGatewayInFront) {
  const RunningServer server(FakeModelOptions{});
  EXPECT_EQ(text_at(get(server, "/v1/system_info").json(), "/gateways"), "[]");
  for (int i = 0; i < 2; ++i) {
    ask(server, {"/livez", "", "X-Forwarded-For: 192.0.2.1\r\nX-Kong-Request-Id: 1\r\n", "GET"});
  }
  const auto info = get(server, "/v1/system_info").json();
  EXPECT_EQ(text_at(info, "/gateways/0/name"), "kong");
  EXPECT_EQ(text_at(info, "/gateways/0/requests"), "2");
  EXPECT_EQ(metric(server, "zerohop_gateway_requests_total", "gateway=\"kong\""), 2);
}

}  // namespace
}  // namespace zerohop
