// Connections that come through a balancer of layer 4: who connected, and who may say so.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/server.h"
#include "http/test_support.h"

namespace zerohop {
namespace {

constexpr std::string_view kV1 = "PROXY TCP4 203.0.113.9 198.51.100.7 8080 443\r\n";
const std::string kV2 = std::string("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", 16) +
                        std::string("\xcb\0\x71\x09\xc6\x33\x64\x07\x1f\x90\x01\xbb", 12);
const std::string kV2Local = std::string("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);

Router address_router() {
  Router router = basic_router();
  router.add("GET", "/address", [](Exchange& exchange) -> Awaitable<void> {
    const RequestHead& head = exchange.request().head;
    HttpResponse response = text_response(head.remote_address + "|" + head.peer.text());
    co_await exchange.respond(std::move(response));
  });
  return router;
}

ServerOptions behind_balancer(ProxyPolicy policy, std::string_view trusted = "127.0.0.0/8") {
  ServerOptions options;
  options.proxy = policy;
  options.proxy_from.push_back(IpNetwork::parse(trusted).value());
  return options;
}

TEST(HttpProxy, TellsWhoConnectedToTheBalancer) {
  for (const ProxyPolicy policy : {ProxyPolicy::kOptional, ProxyPolicy::kRequired}) {
    TestServer server(address_router(), behind_balancer(policy));
    const Endpoint endpoint = server.listen();
    for (const std::string& header : {std::string(kV1), kV2}) {
      Client client(endpoint);
      EXPECT_EQ(client.exchange(header + get("/address")).body, "203.0.113.9|203.0.113.9");
      EXPECT_EQ(client.exchange(get("/address")).body, "203.0.113.9|203.0.113.9");
    }
    EXPECT_EQ(server.counts().proxy_headers, 2u);
    EXPECT_EQ(server.counts().proxy_refused, 0u);
  }
}

TEST(HttpProxy, ReadsAHeaderThatComesByteByByte) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kRequired));
  const Endpoint endpoint = server.listen();
  for (const std::string& header : {std::string(kV1), kV2}) {
    for (std::size_t cut = 1; cut < header.size(); ++cut) {
      Client client(endpoint);
      const std::uint64_t before = server.counts().bytes_received;
      ASSERT_TRUE(client.send(header.substr(0, cut)));
      ASSERT_TRUE(server.eventually(
          [&] { return server.server().counts().bytes_received == before + cut; }));
      EXPECT_EQ(client.exchange(header.substr(cut) + get("/address")).body,
                "203.0.113.9|203.0.113.9")
          << cut;
    }
  }
}

TEST(HttpProxy, KeepsTheBalancersAddressWhereItSpeaksForItself) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kRequired));
  Client client(server.listen());
  EXPECT_EQ(client.exchange(kV2Local + get("/address")).body, "127.0.0.1|127.0.0.1");
}

TEST(HttpProxy, ServesWithoutAHeaderWhereItIsOptional) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional));
  const Endpoint endpoint = server.listen();
  Client client(endpoint);
  EXPECT_EQ(client.exchange(get("/address")).body, "127.0.0.1|127.0.0.1");
  Client slow(endpoint);  // "P" may become either
  ASSERT_TRUE(slow.send("P"));
  EXPECT_EQ(slow.exchange("OST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nhi").body,
            "hi");
}

TEST(HttpProxy, RefusesConnectionsWithoutAHeaderWhereItIsRequired) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kRequired));
  Client client(server.listen());
  const ClientResponse response = client.exchange(get("/address"));
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("PROXY"), std::string::npos);
  client.finish_sending();
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(server.counts().proxy_refused, 1u);
}

TEST(HttpProxy, RefusesAHeaderFromAPeerThatIsNotTrusted) {
  for (const ProxyPolicy policy : {ProxyPolicy::kOptional, ProxyPolicy::kRequired}) {
    TestServer server(address_router(), behind_balancer(policy, "10.0.0.0/8"));
    const Endpoint endpoint = server.listen();
    for (const std::string& header : {std::string(kV1), kV2, std::string("PROXY nonsense\r\n")}) {
      Client client(endpoint);
      ASSERT_TRUE(client.send(header + get("/address")));
      const ClientResponse response = client.receive_response();
      EXPECT_EQ(response.status, 400);
      EXPECT_NE(response.body.find("proxy_protocol_from"), std::string::npos) << response.body;
      client.finish_sending();
      EXPECT_TRUE(client.closed_by_server());
    }
    EXPECT_EQ(server.counts().proxy_refused, 3u);
    EXPECT_EQ(server.counts().proxy_headers, 0u);
  }
}

TEST(HttpProxy, ServesUntrustedPeersWithoutAHeaderWhereItIsOptional) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional, "10.0.0.0/8"));
  Client client(server.listen());
  EXPECT_EQ(client.exchange(get("/address")).body, "127.0.0.1|127.0.0.1");
}

TEST(HttpProxy, IsNoPartOfHttpWhereItIsOff) {
  TestServer server(address_router());
  const Endpoint endpoint = server.listen();
  for (const std::string& header : {std::string(kV1), kV2}) {
    Client client(endpoint);
    EXPECT_EQ(client.exchange(header + get("/address")).status, 400);
  }
}

TEST(HttpProxy, RefusesAMalformedHeader) {
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional));
  Client client(server.listen());
  EXPECT_EQ(client.exchange("PROXY TCP4 1.2.3.4 5.6.7.8 1 99999\r\n" + get("/hello")).status, 400);
  EXPECT_EQ(server.counts().proxy_refused, 1u);
}

TEST(HttpProxy, BelievesWhoeverMayOpenTheUnixSocket) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("zerohop-" + std::to_string(::getpid()) + "-proxy.sock"))
                               .string();
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kRequired, "10.0.0.0/8"));
  const Endpoint endpoint = server.on_io([&] { return server.server().listen_unix(path); }).value();
  Client client(endpoint);
  EXPECT_EQ(client.exchange(std::string(kV1) + get("/address")).body, "203.0.113.9|203.0.113.9");
  Client local(endpoint);
  EXPECT_EQ(local.exchange(kV2Local + get("/address")).body, "unix|");
}

TEST(HttpProxy, ClosesConnectionsWhoseHeaderDoesNotCome) {
  ServerOptions options = behind_balancer(ProxyPolicy::kRequired);
  options.handshake_timeout = std::chrono::milliseconds(30);
  TestServer server(address_router(), options);
  const Endpoint endpoint = server.listen();
  Client silent(endpoint);
  EXPECT_TRUE(silent.closed_by_server());
  EXPECT_EQ(server.counts().proxy_refused, 0u) << "a look whether the port is open";
  Client slow(endpoint);
  ASSERT_TRUE(slow.send("PROXY TCP4 "));
  EXPECT_TRUE(slow.closed_by_server());
  EXPECT_EQ(server.counts().proxy_refused, 1u);
  EXPECT_TRUE(server.eventually_idle());
}

// ---- Who is welcome ----

TEST(HttpConnectionHook, SeesWhoConnectedAndHoldsItsTicketWhileTheConnectionLasts) {
  std::vector<std::string> peers;
  int alive = 0;
  struct Ticket {
    explicit Ticket(int& count_in) : count(count_in) { ++count; }
    ~Ticket() { --count; }
    int& count;
  };
  ServerHooks hooks;
  hooks.on_connection = [&](const IpAddress& peer, std::shared_ptr<void>& ticket) {
    peers.push_back(peer.text());
    ticket = std::make_shared<Ticket>(alive);
    return true;
  };
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional), std::move(hooks));
  const Endpoint endpoint = server.listen();
  {
    Client direct(endpoint);
    EXPECT_EQ(direct.exchange(get("/hello")).status, 200);
    EXPECT_EQ(direct.exchange(get("/hello")).status, 200);
    Client through(endpoint);
    EXPECT_EQ(through.exchange(std::string(kV1) + get("/hello")).status, 200);
    EXPECT_EQ(server.on_io([&] { return alive; }), 2);
  }
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_TRUE(server.eventually([&] { return alive == 0; }));
  EXPECT_EQ(peers, (std::vector<std::string>{"127.0.0.1", "203.0.113.9"}));
}

TEST(HttpConnectionHook, ClosesWhoIsNotWelcome) {
  ServerHooks hooks;
  hooks.on_connection = [](const IpAddress& peer, std::shared_ptr<void>&) {
    return !peer.is_loopback();
  };
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional), std::move(hooks));
  const Endpoint endpoint = server.listen();
  Client through(endpoint);
  EXPECT_EQ(through.exchange(std::string(kV1) + get("/hello")).status, 200);
  Client direct(endpoint);
  (void)direct.send(get("/hello"));
  EXPECT_TRUE(direct.closed_by_server());
  EXPECT_EQ(server.counts().connections_unwelcome, 1u);
}

// Nothing that it could send would change its address, so a silent one counts as well.
TEST(HttpConnectionHook, SeesWhoIsNoBalancerBeforeItSendsAnything) {
  std::atomic<int> seen = 0;
  ServerHooks hooks;
  hooks.on_connection = [&seen](const IpAddress&, std::shared_ptr<void>&) { return ++seen <= 1; };
  TestServer server(address_router(), behind_balancer(ProxyPolicy::kOptional, "10.0.0.0/8"),
                    std::move(hooks));
  const Endpoint endpoint = server.listen();
  Client silent(endpoint);
  EXPECT_TRUE(server.eventually([&] { return seen == 1; }));
  Client next(endpoint);
  EXPECT_TRUE(next.closed_by_server());
  EXPECT_EQ(silent.exchange(get("/hello")).status, 200);
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace zerohop
