// Listening, draining, stopping; and that the books balance afterwards.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "http/server.h"
#include "http/test_support.h"

namespace zerohop {
namespace {

std::string socket_path(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("zerohop-" + std::to_string(::getpid()) + "-" + name + ".sock"))
      .string();
}

Router address_router() {
  Router router;
  router.add("GET", "/address", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.request().head.remote_address);
    co_await exchange.respond(std::move(response));
  });
  return router;
}

// ---- Listening ----

TEST(HttpListen, ServesIpv4AndIpv6OfLocalhostOnOnePort) {
  TestServer server(address_router());
  const Endpoint endpoint = server.listen("localhost");
  EXPECT_EQ(endpoint.url(), "http://127.0.0.1:" + std::to_string(endpoint.port));
  Client v4(endpoint);
  EXPECT_EQ(v4.exchange(get("/address")).body, "127.0.0.1");
  Endpoint other = endpoint;
  other.host = "::1";
  Client v6(other);
  EXPECT_EQ(v6.exchange(get("/address")).body, "::1");
}

TEST(HttpListen, ServesAnIpv6Address) {
  TestServer server(address_router());
  const Endpoint endpoint = server.listen("::1");
  EXPECT_EQ(endpoint.url(), "http://[::1]:" + std::to_string(endpoint.port));
  Client client(endpoint);
  EXPECT_EQ(client.exchange(get("/address")).body, "::1");
}

TEST(HttpListen, NamesIpv4PeersOfADualSocketByTheirIpv4Address) {
  TestServer server(address_router());
  Endpoint endpoint = server.listen("::");
  endpoint.host = "127.0.0.1";
  Client client(endpoint);
  EXPECT_EQ(client.exchange(get("/address")).body, "127.0.0.1");
}

TEST(HttpListen, SaysWhatIsWrongWithAnAddress) {
  TestServer server(address_router());
  const Endpoint taken = server.listen();
  server.on_io([&] {
    const auto again = server.server().listen_tcp("127.0.0.1", taken.port);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::kAddressInUse);
    EXPECT_NE(again.error().message.find(std::to_string(taken.port)), std::string::npos);
    const auto both = server.server().listen_tcp("localhost", taken.port);
    ASSERT_FALSE(both.ok());
    EXPECT_EQ(both.error().code, ErrorCode::kAddressInUse);
    const auto foreign = server.server().listen_tcp("192.0.2.1", 0);
    ASSERT_FALSE(foreign.ok());
    EXPECT_EQ(foreign.error().code, ErrorCode::kConfiguration);
    const auto nonsense = server.server().listen_tcp("not a host name", 0);
    ASSERT_FALSE(nonsense.ok());
    EXPECT_EQ(nonsense.error().code, ErrorCode::kConfiguration);
  });
}

TEST(HttpListen, ServesAUnixSocketForOwnerAndGroup) {
  const std::string path = socket_path("mode");
  {
    TestServer server(address_router());
    const Endpoint endpoint =
        server.on_io([&] { return server.server().listen_unix(path); }).value();
    EXPECT_EQ(endpoint.url(), "unix:" + path);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0660u);
    Client client(endpoint);
    EXPECT_EQ(client.exchange(get("/address")).body, "unix");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HttpListen, ReplacesAStaleUnixSocketButNotALiveOneNorAFile) {
  const std::string path = socket_path("stale");
  {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    const auto* generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    ASSERT_EQ(::bind(descriptor, generic, sizeof address), 0);
    ::close(descriptor);  // the file stays
  }
  TestServer server(address_router());
  const auto listen = [&](const std::string& place) {
    return server.on_io([&] { return server.server().listen_unix(place); });
  };
  EXPECT_TRUE(listen(path).ok());
  const auto second = listen(path);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kAddressInUse);
  Endpoint endpoint;
  endpoint.unix_path = path;
  Client client(endpoint);
  EXPECT_EQ(client.exchange(get("/address")).status, 200);

  const std::string file = socket_path("file");
  std::fclose(std::fopen(file.c_str(), "w"));
  const auto on_file = listen(file);
  ASSERT_FALSE(on_file.ok());
  EXPECT_EQ(on_file.error().code, ErrorCode::kConfiguration);
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::remove(file);
  EXPECT_EQ(listen("/" + std::string(200, 'a')).error().code, ErrorCode::kConfiguration);
  EXPECT_EQ(listen("/nonexistent/folder/socket").error().code, ErrorCode::kConfiguration);
}

// ---- Ending ----

TEST(HttpDrain, AnswersWhatHasBegunAndClosesWhatIsIdle) {
  Latch latch;
  Router router = basic_router();
  router.add("GET", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    co_await latch.wait();
    HttpResponse response = text_response("waited");
    co_await exchange.respond(std::move(response));
  });
  std::promise<void> ended;
  TestServer server(std::move(router));
  const Endpoint endpoint = server.listen();
  Client idle(endpoint);
  Client used(endpoint);
  Client busy(endpoint);
  EXPECT_EQ(used.exchange(get("/hello")).status, 200);
  ASSERT_TRUE(busy.send(get("/wait")));
  ASSERT_TRUE(server.eventually(
      [&] { return latch.waiting() == 1 && server.server().counts().connections_open == 3; }));
  server.on_io([&] {
    server.server().stop_accepting();
    server.server().when_all_ended([&] { ended.set_value(); });
  });
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_TRUE(used.closed_by_server());
  EXPECT_FALSE(Client(endpoint).connected());
  EXPECT_EQ(server.counts().exchanges_in_flight, 1u);
  server.on_io([&] { latch.open(); });
  const ClientResponse response = busy.receive_response();
  EXPECT_EQ(response.body, "waited");
  EXPECT_EQ(response.headers.find("connection"), "close");
  busy.close();
  ended.get_future().get();
  EXPECT_EQ(server.counts().connections_open, 0u);
}

TEST(HttpDrain, FinishesAStreamThatHasBegun) {
  Latch latch;
  Router router;
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("a");
    co_await latch.wait();
    co_await exchange.end_stream("b");
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(server.eventually([&] { return latch.waiting() == 1; }));
  server.on_io([&] {
    server.server().stop_accepting();
    latch.open();
  });
  const ClientResponse response = client.receive_response();
  EXPECT_TRUE(response.complete);
  EXPECT_EQ(response.body, "ab");
  client.close();
  EXPECT_TRUE(server.eventually_idle());
}

TEST(HttpDrain, TellsWhenNothingWasRunningAnyway) {
  TestServer server(basic_router());
  server.listen();
  std::promise<void> ended;
  server.on_io([&] {
    server.server().when_all_ended([&] { ended.set_value(); });
    server.server().stop_accepting();
  });
  ended.get_future().get();
}

TEST(HttpCloseAll, EndsEverySessionWhateverItDoes) {
  Latch latch;
  int told = 0;
  Router router = basic_router();
  router.add("GET", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] {
      ++told;
      latch.open();
    });
    co_await latch.wait();
  });
  router.add("GET", "/flood", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(std::string(64u << 20, 'x'));
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router));
  const Endpoint endpoint = server.listen();
  Client idle(endpoint);
  Client in_head(endpoint);
  Client in_body(endpoint);
  Client in_handler(endpoint);
  Client in_write(endpoint);
  in_head.send("GET /he");
  in_body.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  in_handler.send(get("/wait"));
  in_write.send(get("/flood"));
  ASSERT_TRUE(server.eventually([&] {
    const ServerCounts& counts = server.server().counts();
    return latch.waiting() == 1 && counts.connections_open == 5 &&
           counts.exchanges_in_flight == 3 && counts.bytes_sent > 0;
  }));
  server.on_io([&] { server.server().close_all(); });
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(idle.closed_by_server());
}

TEST(HttpCloseAll, AServerMayBeDestroyedWithOpenConnections) {
  const SteadyClock clock;
  std::vector<Client> clients;
  Latch latch;
  boost::asio::io_context io;
  Router router = basic_router();
  router.add("GET", "/wait", [&](Exchange&) -> Awaitable<void> { co_await latch.wait(); });
  auto server =
      std::make_unique<HttpServer>(io, clock, ServerOptions{}, ServerHooks{}, std::move(router));
  const Endpoint endpoint = server->listen_tcp("127.0.0.1", 0).value();
  for (int i = 0; i < 4; ++i) clients.emplace_back(endpoint);
  clients[1].send("GET /he");
  clients[2].send(get("/wait"));
  while (server->counts().connections_open < 4 || latch.waiting() < 1) io.run_one();
  server.reset();
  // The io_context goes next, with sessions that never ran to their end. A leak would show under
  // AddressSanitizer.
}

// ---- The books ----

std::vector<std::string> sample_requests() {
  return {
      get("/hello"),
      post("/echo", std::string(3'000, 'b')),
      post("/wait", "{}"),
      post("/stream", "{}"),
      post("/echo?refuse", std::string(3'000, 'b')),
      post("/stream", "{}") + post("/echo", "x") + get("/nowhere"),
      "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
      "garbage \x01\x02\r\n\r\n",
  };
}

// Hundreds of clients, each leaving at a random point of its request, in a random way.
TEST(HttpBooks, BalanceAfterConnectionsDroppedAtRandomPoints) {
  constexpr int kConnections = 500;
  constexpr std::uint64_t kSeed = 20'261'021;
  std::atomic<int> tickets{0};
  struct Ticket {
    explicit Ticket(std::atomic<int>& count_in) : count(count_in) { ++count; }
    ~Ticket() { --count; }
    std::atomic<int>& count;
  };
  std::uint64_t done = 0;
  ServerHooks hooks;
  hooks.on_head = [&](const RequestHead& head, std::shared_ptr<void>& ticket) {
    std::optional<HttpResponse> refusal;
    ticket = std::make_shared<Ticket>(tickets);
    if (head.query == "refuse") {
      refusal = text_response("no");
      refusal->status = 429;
    }
    return refusal;
  };
  hooks.on_done = [&](const ExchangeSummary&) { ++done; };
  Latch latch;
  Router router = basic_router();
  router.add("POST", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    bool gone = false;
    exchange.on_peer_gone([&] {
      gone = true;
      latch.pulse();
    });
    while (!gone) co_await latch.wait();
  });
  router.add("POST", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    bool sent = co_await exchange.begin_stream(200, {});
    for (int i = 0; i < 50 && sent; ++i) sent = co_await exchange.write(std::string(2'000, 'x'));
    co_await exchange.end_stream();
  });
  TestServer server(std::move(router), {}, std::move(hooks));
  const Endpoint endpoint = server.listen();

  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  const std::vector<std::string> requests = sample_requests();
  std::vector<std::unique_ptr<Client>> open;
  for (int i = 0; i < kConnections; ++i) {
    open.push_back(std::make_unique<Client>(endpoint));
    ASSERT_TRUE(open.back()->connected());
    const std::string& request = requests[random.below(requests.size())];
    const std::size_t cut = random.chance(0.5) ? request.size() : random.below(request.size() + 1);
    open.back()->send(std::string_view(request).substr(0, cut));
    while (open.size() > 20 || (!open.empty() && random.chance(0.4))) {
      std::swap(open[random.below(open.size())], open.back());
      if (random.chance(0.3)) open.back()->finish_sending();
      if (random.chance(0.5)) open.back()->reset();
      open.pop_back();
    }
  }
  open.clear();
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(tickets, 0);
  const ServerCounts counts = server.counts();
  EXPECT_EQ(counts.connections_accepted, static_cast<std::uint64_t>(kConnections));
  EXPECT_EQ(counts.exchanges, done);
  EXPECT_GT(counts.requests_truncated, 0u);
  EXPECT_GT(counts.heads_malformed, 0u);
  EXPECT_EQ(counts.handler_faults, 0u);
  Client after(endpoint);
  EXPECT_EQ(after.exchange(get("/hello")).status, 200);
}

}  // namespace
}  // namespace zerohop
