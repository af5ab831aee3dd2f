// Clients that are broken, slow or hostile: a typed answer or a silent close, and nothing left
// behind.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/server.h"
#include "http/test_bad_heads.h"
#include "http/test_support.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

TEST(HttpServerFaults, MalformedRequestsGetATypedAnswerAndAClose) {
  std::vector<ErrorCode> codes;
  ServerHooks hooks;
  hooks.error_response = [&](const ExchangeContext&, const Error& error) {
    codes.push_back(error.code);
    HttpResponse response = text_response(error.message);
    response.status = error_traits(error.code).status;
    return response;
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  const Endpoint endpoint = server.listen();
  for (const BadHead& bad : kBadHeads) {
    Client client(endpoint);
    const ClientResponse response = client.exchange(bad.bytes);
    EXPECT_EQ(response.status, bad.status) << bad.name;
    EXPECT_EQ(response.headers.find("connection"), "close") << bad.name;
    EXPECT_FALSE(response.body.empty()) << bad.name;
    client.finish_sending();
    EXPECT_TRUE(client.closed_by_server()) << bad.name;
  }
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(codes, std::vector<ErrorCode>(std::size(kBadHeads), ErrorCode::kInvalidRequest));
}

TEST(HttpServerFaults, NothingAfterAMalformedRequestIsServed) {
  TestServer server(basic_router());
  Client client(server.listen());
  ASSERT_TRUE(
      client.send("GET /hello HTTP/1.1\r\nHost: t\r\nX-A: one\r\n two\r\n\r\n" + get("/hello")));
  EXPECT_EQ(client.receive_response().status, 400);
  client.finish_sending();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServerFaults, HeadsOverTheLimitGet431) {
  ServerOptions options;
  options.head_bytes_max = 1'000;
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  const std::string start = "GET /hello HTTP/1.1\r\nHost: t\r\nX: ";
  const std::string end = "\r\n\r\n";
  Client fitting(endpoint);
  EXPECT_EQ(
      fitting.exchange(start + std::string(1'000 - start.size() - end.size(), 'a') + end).status,
      200);
  for (const std::string& request :
       {start + std::string(1'001 - start.size() - end.size(), 'a') + end,
        start + std::string(1'000 - start.size(), 'a'), "GET /" + std::string(5'000, 'a')}) {
    Client client(endpoint);
    const ClientResponse response = client.exchange(request);
    EXPECT_EQ(response.status, 431);
    client.finish_sending();
    EXPECT_TRUE(client.closed_by_server());
  }
  EXPECT_EQ(server.counts().heads_malformed, 3u);
}

TEST(HttpServerFaults, BodiesOverTheLimitGet413) {
  ServerOptions options;
  options.body_bytes_max = 10;
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  Client fitting(endpoint);
  EXPECT_EQ(fitting.exchange(post("/echo", "0123456789")).body, "0123456789");

  Client declared(endpoint);  // refused by its head alone
  const ClientResponse refused =
      declared.exchange("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.headers.find("connection"), "close");
  declared.finish_sending();
  EXPECT_TRUE(declared.closed_by_server());

  Client chunked(endpoint);  // refused by the size of the chunk that goes too far
  EXPECT_EQ(chunked
                .exchange("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "6\r\n012345\r\n5\r\n")
                .status,
            413);
}

TEST(HttpServerFaults, EndlessChunkExtensionsAreRefused) {
  TestServer server(basic_router());
  Client client(server.listen());
  ASSERT_TRUE(
      client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5;"));
  ASSERT_TRUE(client.send(std::string(20'000, 'a')));
  EXPECT_EQ(client.receive_response().status, 400);
}

// ---- Slow peers ----

TEST(HttpServerFaults, ASlowHeadGets408) {
  ServerOptions options;
  options.head_timeout = milliseconds(30);
  TestServer server(basic_router(), options);
  Client client(server.listen());
  const ClientResponse response = client.exchange("GET /hello HTTP/1.1\r\nHost:");
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.headers.find("connection"), "close");
  client.finish_sending();
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(server.counts().timeouts, 1u);
}

// On a virtual clock: a byte every 20 ms, and no silence reaches the 100 ms.
TEST(HttpServerFaults, ATricklingHeadGets408ThoughItIsNeverSilent) {
  VirtualClock clock;
  ServerOptions options;
  options.head_timeout = milliseconds(100);
  TestServer server(basic_router(), options, {}, &clock);
  Client client(server.listen());
  std::uint64_t sent = 0;
  for (const char c : std::string_view("GET /h")) {
    EXPECT_EQ(server.counts().timeouts, 0u);
    ASSERT_TRUE(client.send(std::string_view(&c, 1)));
    ++sent;
    ASSERT_TRUE(server.eventually([&] { return server.server().counts().bytes_received == sent; }));
    clock.advance(milliseconds(20));
  }
  ASSERT_TRUE(client.send("e"));
  EXPECT_EQ(client.receive_response().status, 408);
  EXPECT_EQ(server.counts().timeouts, 1u);
}

TEST(HttpServerFaults, ASilentBodyGets408AndReturnsItsTicket) {
  std::atomic<int> alive{0};
  struct Ticket {
    explicit Ticket(std::atomic<int>& count_in) : count(count_in) { ++count; }
    ~Ticket() { --count; }
    std::atomic<int>& count;
  };
  ExchangeEnd end = ExchangeEnd::kCompleted;
  ServerHooks hooks;
  hooks.on_head = [&](const RequestHead&, std::shared_ptr<void>& ticket) {
    ticket = std::make_shared<Ticket>(alive);
    return std::optional<HttpResponse>();
  };
  hooks.on_done = [&](const ExchangeSummary& summary) { end = summary.end; };
  ServerOptions options;
  options.body_timeout = milliseconds(30);
  TestServer server(basic_router(), options, std::move(hooks));
  Client client(server.listen());
  EXPECT_EQ(
      client.exchange("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc").status,
      408);
  client.close();
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(end, ExchangeEnd::kTimedOut);
}

// On a virtual clock: 20 ms pass before each byte, so no silence reaches the 30 ms, but the whole
// body is too slow.
TEST(HttpServerFaults, ATricklingBodyGets408ThoughItIsNeverSilent) {
  VirtualClock clock;
  ServerOptions options;
  options.body_timeout = milliseconds(30);
  options.body_bytes_per_second_min = 1u << 10;
  TestServer server(basic_router(), options, {}, &clock);
  Client client(server.listen());
  std::string sent = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\na";
  ASSERT_TRUE(client.send(sent));
  const auto all_received = [&] { return server.server().counts().bytes_received == sent.size(); };
  ASSERT_TRUE(server.eventually(all_received));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(server.counts().timeouts, 0u);
    clock.advance(milliseconds(20));
    sent += "a";
    ASSERT_TRUE(client.send("a"));
    ASSERT_TRUE(server.eventually(all_received));
  }
  EXPECT_EQ(client.receive_response().status, 408);
  EXPECT_EQ(server.counts().timeouts, 1u);
}

TEST(HttpServerFaults, AnIdleConnectionIsClosedSilently) {
  ServerOptions options;
  options.idle_timeout = milliseconds(30);
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  Client fresh(endpoint);
  EXPECT_TRUE(fresh.closed_by_server());
  Client used(endpoint);
  EXPECT_EQ(used.exchange(get("/hello")).status, 200);
  EXPECT_TRUE(used.closed_by_server());
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().timeouts, 0u);
}

TEST(HttpServerFaults, AClientThatDoesNotReadIsClosed) {
  ExchangeEnd end = ExchangeEnd::kCompleted;
  ServerHooks hooks;
  hooks.on_done = [&](const ExchangeSummary& summary) { end = summary.end; };
  Router router;
  router.add("GET", "/big", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(std::string(64u << 20, 'x'));
    co_await exchange.respond(std::move(response));
  });
  ServerOptions options;
  options.write_timeout = milliseconds(30);
  TestServer server(std::move(router), options, std::move(hooks));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/big")));
  EXPECT_TRUE(server.eventually([&] { return end == ExchangeEnd::kTimedOut; }));
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().timeouts, 1u);
}

// ---- Peers that vanish ----

TEST(HttpServerFaults, TruncatedRequestsAreCountedAndNotAnswered) {
  int done = 0;
  ServerHooks hooks;
  hooks.on_done = [&](const ExchangeSummary& summary) {
    ++done;
    EXPECT_EQ(summary.status, 0);
    EXPECT_EQ(summary.end, ExchangeEnd::kPeerGone);
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  const Endpoint endpoint = server.listen();
  for (const std::string& request :
       {std::string("GET /hel"),
        std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc"),
        std::string(
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")}) {
    Client client(endpoint);
    ASSERT_TRUE(client.send(request));
    client.finish_sending();
    EXPECT_TRUE(client.closed_by_server());
  }
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().requests_truncated, 3u);
  EXPECT_EQ(done, 2);  // a head that never came is no exchange
}

TEST(HttpServerFaults, ConnectionsOverTheCapAreClosedAtOnce) {
  ServerOptions options;
  options.connections_max = 2;
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  {
    Client first(endpoint);
    Client second(endpoint);
    EXPECT_EQ(first.exchange(get("/hello")).status, 200);
    EXPECT_EQ(second.exchange(get("/hello")).status, 200);
    Client third(endpoint);
    EXPECT_TRUE(third.closed_by_server());
    EXPECT_EQ(first.exchange(get("/hello")).status, 200);
    EXPECT_EQ(server.counts().connections_refused, 1u);
    EXPECT_EQ(server.counts().connections_open, 2u);
  }
  EXPECT_TRUE(server.eventually_idle());
  Client fourth(endpoint);
  EXPECT_EQ(fourth.exchange(get("/hello")).status, 200);
}

std::uint16_t local_port(int descriptor) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  auto* generic = static_cast<sockaddr*>(static_cast<void*>(&address));
  return ::getsockname(descriptor, generic, &bytes) == 0 ? ntohs(address.sin_port)
                                                         : std::uint16_t{0};
}

int listening_descriptor(std::uint16_t port) {
  for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
    int listening = 0;
    socklen_t bytes = sizeof listening;
    ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes);
    if (listening == 1 && local_port(descriptor) == port) return descriptor;
  }
  return -1;
}

// Shutting a listening socket down makes every accept fail, as a lack of descriptors would (which
// the sanitizers do not survive themselves).
TEST(HttpServerFaults, AcceptingBacksOffFromFaultsAndRecovers) {
  const SteadyClock clock;
  boost::asio::io_context io;
  HttpServer server(io, clock, ServerOptions{}, ServerHooks{}, basic_router());
  Endpoint endpoint = server.listen_tcp("127.0.0.1", 0).value();
  io.poll();
  const int listener = listening_descriptor(endpoint.port);
  ASSERT_GE(listener, 0);
  ASSERT_EQ(::shutdown(listener, SHUT_RDWR), 0);
  while (server.counts().accept_faults < 2) io.run_one();
  ASSERT_EQ(::listen(listener, 16), 0);
  endpoint.port = local_port(listener);  // the shutdown gave the first one back

  Client client(endpoint);
  ASSERT_TRUE(client.connected() && client.send(get("/hello")));
  while (server.counts().exchanges < 1 || server.counts().exchanges_in_flight > 0) io.run_one();
  EXPECT_EQ(client.receive_response().body, "hello");
  server.close_all();
  io.run();
  EXPECT_EQ(server.counts().connections_open, 0u);
}

}  // namespace
}  // namespace zerohop
