// Answers of unknown length, and peers that leave in the middle of them.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "http/server.h"
#include "http/sse.h"
#include "http/test_support.h"

namespace zerohop {
namespace {

TEST(HttpStream, SendsEachBurstAsOneChunkInOneWrite) {
  Latch latch;
  Router router;
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, event_stream_headers());
    for (const std::string burst : {"one", "two", "three"}) {
      co_await exchange.write(burst);
      co_await latch.wait();
    }
    co_await exchange.end_stream();
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/stream")));
  // The handler writes the next chunk only after this one was seen, so one recv is one write.
  const std::string first = client.receive();
  EXPECT_TRUE(
      first.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
                        "cache-control: no-cache\r\nx-accel-buffering: no\r\n"));
  EXPECT_TRUE(first.ends_with("transfer-encoding: chunked\r\n\r\n3\r\none\r\n"));
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "3\r\ntwo\r\n");
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "5\r\nthree\r\n");
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "0\r\n\r\n");
  EXPECT_EQ(server.counts().socket_writes, 4u);
}

TEST(HttpStream, JoinsTheLastBurstWithTheEnd) {
  Router router;
  router.add("GET", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("a");
    co_await exchange.end_stream("bc");
  });
  router.add("GET", "/empty", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("");
    co_await exchange.end_stream();
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  const ClientResponse response = client.exchange(get("/stream"));
  EXPECT_EQ(response.body, "abc");
  EXPECT_TRUE(response.complete);
  EXPECT_EQ(server.counts().socket_writes, 2u);
  const ClientResponse empty = client.exchange(get("/empty"));  // and the connection goes on
  EXPECT_TRUE(empty.complete);
  EXPECT_EQ(empty.body, "");
  EXPECT_EQ(server.counts().socket_writes, 3u);
}

TEST(HttpStream, FlushSendsTheHeadAlone) {
  Latch latch;
  Router router;
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(202, {});
    co_await exchange.flush();
    co_await latch.wait();
    co_await exchange.end_stream("x");
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/stream")));
  EXPECT_TRUE(client.receive().ends_with("transfer-encoding: chunked\r\n\r\n"));
  server.on_io([&] { latch.open(); });
  EXPECT_EQ(client.receive(), "1\r\nx\r\n0\r\n\r\n");
}

TEST(HttpStream, EndsWithTheConnectionForHttp10) {
  Router router;
  router.add("GET", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("ab");
    co_await exchange.end_stream("c");
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  const ClientResponse response = client.receive_response();
  EXPECT_EQ(response.headers.find("connection"), "close");
  EXPECT_FALSE(response.headers.contains("transfer-encoding"));
  EXPECT_EQ(response.body, "abc");
}

TEST(HttpStream, SendsOnlyTheHeadToAHeadRequest) {
  Router router;
  router.add("GET", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("dropped");
    co_await exchange.end_stream("dropped");
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send("HEAD /stream HTTP/1.1\r\nHost: t\r\n\r\n"));
  EXPECT_EQ(client.receive_response(true).status, 200);
  EXPECT_EQ(client.exchange(get("/nowhere")).status, 404);
}

TEST(HttpStream, AbortIsVisibleToTheClient) {
  Router router;
  router.add("GET", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("part");
    co_await exchange.abort_stream();
    EXPECT_FALSE(co_await exchange.write("more"));
    EXPECT_FALSE(co_await exchange.end_stream());
  });
  ExchangeEnd end = ExchangeEnd::kCompleted;
  ServerHooks hooks;
  hooks.on_done = [&](const ExchangeSummary& summary) { end = summary.end; };
  TestServer server(std::move(router), {}, std::move(hooks));
  Client client(server.listen());
  const ClientResponse response = client.exchange(get("/stream"));
  EXPECT_EQ(response.body, "part");
  EXPECT_FALSE(response.complete);
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(end, ExchangeEnd::kAborted);
  EXPECT_EQ(server.counts().handler_faults, 0u);
}

// ---- Peers that leave ----

enum class Leaving { kClose, kReset, kHalfClose };

class HttpPeerGone : public ::testing::TestWithParam<Leaving> {
 protected:
  static void leave(Client& client) {
    switch (GetParam()) {
      case Leaving::kClose: return client.close();
      case Leaving::kReset: return client.reset();
      case Leaving::kHalfClose: return client.finish_sending();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(AllWays, HttpPeerGone,
                         ::testing::Values(Leaving::kClose, Leaving::kReset, Leaving::kHalfClose));

TEST_P(HttpPeerGone, IsSeenWhileTheHandlerWaitsAndNothingIsWritten) {
  Latch latch;
  int started = 0;
  int told = 0;
  bool gone_before = true;
  bool gone_after = false;
  Router router;
  router.add("POST", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] {
      ++told;
      latch.open();
    });
    gone_before = exchange.peer_gone();
    ++started;
    co_await latch.wait();
    gone_after = exchange.peer_gone();
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(post("/wait", "body")));
  ASSERT_TRUE(server.eventually([&] { return started == 1; }));
  leave(client);
  ASSERT_TRUE(server.eventually([&] { return told == 1; }));
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_FALSE(gone_before);
  EXPECT_TRUE(gone_after);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(server.counts().handler_faults, 0u);
}

TEST_P(HttpPeerGone, IsSeenBehindPipelinedBytes) {
  Latch latch;
  int told = 0;
  Router router;
  router.add("GET", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] {
      ++told;
      latch.open();
    });
    co_await latch.wait();
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/wait") + get("/later")));
  ASSERT_TRUE(server.eventually([&] { return latch.waiting() == 1; }));
  leave(client);
  EXPECT_TRUE(server.eventually([&] { return told == 1; }));
  EXPECT_TRUE(server.eventually_idle());
}

TEST_P(HttpPeerGone, EndsAStreamThatIsBeingWritten) {
  int writes = 0;
  bool ended = false;
  Router router;
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    const std::string burst(10'000, 'x');
    bool sent = true;
    while (sent) {
      sent = co_await exchange.write(burst);
      ++writes;
    }
    EXPECT_TRUE(exchange.peer_gone());
    EXPECT_FALSE(co_await exchange.end_stream());
    ended = true;
  });
  ExchangeEnd end = ExchangeEnd::kCompleted;
  ServerHooks hooks;
  hooks.on_done = [&](const ExchangeSummary& summary) { end = summary.end; };
  TestServer server(std::move(router), {}, std::move(hooks));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/stream")));
  for (std::size_t got = 0; got < 1'000'000;) got += client.receive().size();
  leave(client);
  if (GetParam() == Leaving::kHalfClose) client.receive_until_close();
  EXPECT_TRUE(server.eventually([&] { return ended; }));
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(end, ExchangeEnd::kPeerGone);
  EXPECT_GT(writes, 100);
}

TEST(HttpPeerGoneOnce, CallbackRunsAtOnceWhenThePeerHasGoneAlready) {
  Latch latch;
  int told = 0;
  bool began = true;
  Router router;
  router.add("GET", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] { latch.open(); });
    co_await latch.wait();
    exchange.on_peer_gone([&] { ++told; });
    began = co_await exchange.begin_stream(200, {});
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/wait")));
  ASSERT_TRUE(server.eventually([&] { return latch.waiting() == 1; }));
  client.close();
  EXPECT_TRUE(server.eventually([&] { return told == 1; }));
  EXPECT_FALSE(began);
}

TEST(HttpPeerGoneOnce, CallbackNeverRunsAfterTheHandler) {
  int told = 0;
  Router router;
  router.add("GET", "/hello", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] { ++told; });
    HttpResponse response = text_response("hello");
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  EXPECT_EQ(client.exchange(get("/hello")).status, 200);
  client.close();
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(told, 0);
}

TEST(HttpPeerGoneOnce, AHalfClosedClientStillGetsAWholeAnswer) {
  TestServer server(basic_router());
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/hello") + get("/items/2")));
  client.finish_sending();
  EXPECT_EQ(client.receive_response().body, "hello");
  EXPECT_EQ(client.receive_response().body, "2");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpPipelining, ReadsAheadOnlyUpToTheBound) {
  Latch latch;
  Router router = basic_router();
  router.add("GET", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    co_await latch.wait();
    HttpResponse response = text_response("waited");
    co_await exchange.respond(std::move(response));
  });
  ServerOptions options;
  options.head_bytes_max = 4'000;
  options.pipelined_bytes_max = 8'000;
  TestServer server(std::move(router), options);
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/wait")));
  ASSERT_TRUE(server.eventually([&] { return latch.waiting() == 1; }));
  constexpr int kPipelined = 2'000;
  std::string requests;
  for (int i = 0; i < kPipelined; ++i) requests += get("/items/" + std::to_string(i));
  std::thread sender([&] { client.send(requests); });
  EXPECT_TRUE(server.eventually([&] { return server.server().counts().bytes_received >= 8'000; }));
  for (int i = 0; i < 100; ++i) {  // turns in which it could read on, if it were wrong
    EXPECT_EQ(server.counts().bytes_received, 8'000u + get("/wait").size());
  }
  server.on_io([&] { latch.open(); });
  EXPECT_EQ(client.receive_response().body, "waited");
  for (int i = 0; i < kPipelined; ++i) {
    ASSERT_EQ(client.receive_response().body, std::to_string(i));
  }
  sender.join();
}

}  // namespace
}  // namespace zerohop
