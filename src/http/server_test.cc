// Well-behaved clients: what HTTP promises, over real sockets.
#include "http/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/test_support.h"

namespace zerohop {
namespace {

TEST(HttpServer, AnswersWithLengthAndDate) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse response = client.exchange(get("/hello"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.headers.find("content-type"), "text/plain");
  EXPECT_EQ(response.headers.find("content-length"), "5");
  ASSERT_TRUE(response.headers.contains("date"));
  EXPECT_TRUE(response.headers.find("date")->ends_with(" GMT"));
  EXPECT_FALSE(response.headers.contains("connection"));
  EXPECT_TRUE(response.head.starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServer, KeepsTheConnectionBetweenRequests) {
  TestServer server(basic_router());
  Client client(server.listen());
  for (const std::string body : {"one", "two", "three"}) {
    EXPECT_EQ(client.exchange(post("/echo", body)).body, body);
  }
  EXPECT_EQ(server.counts().connections_accepted, 1u);
  EXPECT_EQ(server.counts().exchanges, 3u);
}

TEST(HttpServer, ClosesWhenTheClientAsksForIt) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse response =
      client.exchange("GET /hello HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response.headers.find("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, ClosesAfterHttp10UnlessAskedToStay) {
  TestServer server(basic_router());
  const Endpoint endpoint = server.listen();
  Client leaving(endpoint);
  EXPECT_EQ(leaving.exchange("GET /hello HTTP/1.0\r\n\r\n").headers.find("connection"), "close");
  EXPECT_TRUE(leaving.closed_by_server());
  Client staying(endpoint);
  const std::string request = "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(staying.exchange(request).headers.find("connection"), "keep-alive");
  EXPECT_EQ(staying.exchange(request).body, "hello");
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer server(basic_router());
  Client client(server.listen());
  ASSERT_TRUE(client.send(post("/echo", "first") + get("/items/second") + get("/nowhere") +
                          post("/echo", "fourth")));
  EXPECT_EQ(client.receive_response().body, "first");
  EXPECT_EQ(client.receive_response().body, "second");
  EXPECT_EQ(client.receive_response().status, 404);
  EXPECT_EQ(client.receive_response().body, "fourth");
}

TEST(HttpServer, ServesPipelinedRequestsOneAtATime) {
  Latch latch;
  int running = 0;
  int running_max = 0;
  Router router;
  router.add("GET", "/slow", [&](Exchange& exchange) -> Awaitable<void> {
    running_max = std::max(running_max, ++running);
    co_await latch.wait();
    --running;
    HttpResponse response = text_response("done");
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  const std::string three = get("/slow") + get("/slow") + get("/slow");
  ASSERT_TRUE(client.send(three));
  ASSERT_TRUE(server.eventually(
      [&] { return running == 1 && server.server().counts().bytes_received == three.size(); }));
  server.on_io([&] { latch.open(); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.receive_response().body, "done");
  EXPECT_EQ(running_max, 1);
}

TEST(HttpServer, ReadsChunkedBodies) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse response = client.exchange(
      "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: dropped\r\n\r\n");
  EXPECT_EQ(response.body, "hello world");
  EXPECT_EQ(client.exchange(get("/hello")).body, "hello");
}

TEST(HttpServer, ReadsALongBodyWhole) {
  TestServer server(basic_router());
  Client client(server.listen());
  std::string body;
  for (int i = 0; body.size() < (5u << 20); ++i) body += std::to_string(i) + ",";
  std::thread sender([&] { client.send(post("/echo", body)); });
  const ClientResponse response = client.receive_response();
  sender.join();
  EXPECT_TRUE(response.body == body);
}

TEST(HttpServer, InvitesABodyThatWaitsForContinue) {
  TestServer server(basic_router());
  Client client(server.listen());
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  ASSERT_TRUE(client.send(head));
  EXPECT_EQ(client.receive_response().status, 100);
  EXPECT_EQ(client.exchange("body").body, "body");
}

TEST(HttpServer, SendsNoContinueForABodyThatIsAlreadyThere) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse response = client.exchange(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "body");
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  TestServer server(basic_router());
  Client client(server.listen());
  ASSERT_TRUE(client.send("HEAD /hello HTTP/1.1\r\nHost: test\r\n\r\n"));
  const ClientResponse response = client.receive_response(true);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.find("content-length"), "5");
  EXPECT_EQ(client.exchange(get("/hello")).body, "hello");  // nothing of a body came in between
}

TEST(HttpServer, SaysWhatIsAllowedOnAKnownPath) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse wrong = client.exchange(post("/hello", "x"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.find("allow"), "GET, HEAD, OPTIONS");
  const ClientResponse unknown = client.exchange(get("/nowhere"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find("/nowhere"), std::string::npos);
}

TEST(HttpServer, DecodesCapturedSegmentsAfterSplitting) {
  TestServer server(basic_router());
  Client client(server.listen());
  EXPECT_EQ(client.exchange(get("//items///org%2Fname%3A1/?x=%zz")).body, "org/name:1");
  EXPECT_EQ(client.exchange(get("/items/%zz")).status, 400);
  EXPECT_EQ(client.exchange("GET http://test:1/items/a?b HTTP/1.1\r\nHost: test\r\n\r\n").body,
            "a");
}

TEST(HttpServer, AnswersPreflightsWhenEveryOriginIsAllowed) {
  ServerOptions options;
  options.cors = CorsPolicy::kAnyOrigin;
  TestServer server(basic_router(), options);
  Client client(server.listen());
  const ClientResponse preflight = client.exchange(
      "OPTIONS /echo HTTP/1.1\r\nHost: test\r\nOrigin: https://page.example\r\n"
      "Access-Control-Request-Method: POST\r\n"
      "Access-Control-Request-Headers: content-type,x-api-key,anthropic-version\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.find("access-control-allow-origin"), "*");
  EXPECT_EQ(preflight.headers.find("access-control-allow-methods"), "OPTIONS, POST");
  EXPECT_EQ(preflight.headers.find("access-control-allow-headers"),
            "content-type,x-api-key,anthropic-version");
  EXPECT_FALSE(preflight.headers.contains("content-length"));
  const ClientResponse answer =
      client.exchange("GET /hello HTTP/1.1\r\nHost: test\r\nOrigin: https://page.example\r\n\r\n");
  EXPECT_EQ(answer.headers.find("access-control-allow-origin"), "*");
  EXPECT_FALSE(client.exchange(get("/hello")).headers.contains("access-control-allow-origin"));
}

TEST(HttpServer, AnswersOptionsWithoutCorsFieldsByDefault) {
  TestServer server(basic_router());
  Client client(server.listen());
  const ClientResponse response =
      client.exchange("OPTIONS /echo HTTP/1.1\r\nHost: test\r\nOrigin: https://x.example\r\n\r\n");
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.headers.find("allow"), "OPTIONS, POST");
  EXPECT_FALSE(response.headers.contains("access-control-allow-origin"));
  EXPECT_EQ(client.exchange("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n").status, 204);
}

TEST(HttpServer, MakesHeaderValuesHarmless) {
  Router router;
  router.add("GET", "/split", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response("x");
    response.headers.push_back(HeaderField{"x-echo", "a\r\nset-cookie: stolen"});
    response.headers.push_back(HeaderField{"bad name", "v"});
    response.headers.push_back(HeaderField{"content-length", "999"});
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router));
  Client client(server.listen());
  const ClientResponse response = client.exchange(get("/split"));
  EXPECT_EQ(response.headers.find("x-echo"), "a  set-cookie: stolen");
  EXPECT_FALSE(response.headers.contains("set-cookie"));
  EXPECT_FALSE(response.headers.contains("bad name"));
  EXPECT_EQ(response.headers.all("content-length"), std::vector<std::string_view>{"1"});
}

// ---- Hooks ----

TEST(HttpServerHooks, RefusesBeforeTheBodyAndKeepsTheConnectionForAShortOne) {
  ServerHooks hooks;
  hooks.on_head = [](const RequestHead& head, std::shared_ptr<void>&) {
    std::optional<HttpResponse> refusal;
    if (!head.headers.contains("x-api-key")) {
      refusal = text_response("no key");
      refusal->status = 401;
    }
    return refusal;
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  Client client(server.listen());
  const std::string head = "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n";
  ASSERT_TRUE(client.send(head + "\r\n"));
  EXPECT_EQ(client.receive_response().status, 401);  // before the body is sent
  ASSERT_TRUE(client.send("drop"));
  EXPECT_EQ(client.exchange(head + "x-api-key: k\r\n\r\nkept").body, "kept");
}

TEST(HttpServerHooks, ClosesAfterRefusingALongBody) {
  ServerHooks hooks;
  hooks.on_head = [](const RequestHead&, std::shared_ptr<void>&) {
    std::optional<HttpResponse> refusal = text_response("no");
    refusal->status = 429;
    return refusal;
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  const Endpoint endpoint = server.listen();
  for (const std::string fields : {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n",
                                   "Content-Length: 5\r\nExpect: 100-continue\r\n"}) {
    Client client(endpoint);
    const ClientResponse response =
        client.exchange("POST /echo HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n");
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.headers.find("connection"), "close");
    client.finish_sending();
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServerHooks, AnswerArrivesThoughTheClientIsStillSendingItsBody) {
  ServerHooks hooks;
  hooks.on_head = [](const RequestHead&, std::shared_ptr<void>&) {
    std::optional<HttpResponse> refusal = text_response("no");
    refusal->status = 429;
    return refusal;
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  Client client(server.listen());
  ASSERT_TRUE(client.send(post("/echo", std::string(8u << 20, 'x'))));
  EXPECT_EQ(client.receive_response().status, 429);
}

struct TestTicket {
  explicit TestTicket(std::atomic<int>& alive_in) : alive(alive_in) { ++alive; }
  ~TestTicket() { --alive; }
  std::atomic<int>& alive;
};

TEST(HttpServerHooks, HoldsTheTicketUntilTheAnswerIsOut) {
  std::atomic<int> alive{0};
  int alive_in_handler = 0;
  int alive_in_done = 0;
  ServerHooks hooks;
  hooks.on_head = [&](const RequestHead&, std::shared_ptr<void>& ticket) {
    ticket = std::make_shared<TestTicket>(alive);
    return std::optional<HttpResponse>();
  };
  hooks.on_done = [&](const ExchangeSummary&) { alive_in_done = alive; };
  Router router;
  router.add("GET", "/", [&](Exchange& exchange) -> Awaitable<void> {
    alive_in_handler = alive;
    EXPECT_NE(exchange.ticket(), nullptr);
    HttpResponse response = text_response("x");
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router), {}, std::move(hooks));
  Client client(server.listen());
  EXPECT_EQ(client.exchange(get("/")).status, 200);
  EXPECT_TRUE(server.eventually([&] { return alive == 0; }));
  EXPECT_EQ(alive_in_handler, 1);
  EXPECT_EQ(alive_in_done, 1);
}

TEST(HttpServerHooks, DecoratesEveryKindOfAnswer) {
  ServerHooks hooks;
  hooks.error_response = [](const ExchangeContext& context, const Error& error) {
    context.ticket = std::make_shared<std::string>("req_error");
    HttpResponse response = text_response("dialect: " + error.message);
    response.status = error_traits(error.code).status;
    return response;
  };
  hooks.decorate = [](const ExchangeContext& context, ResponseHead& head) {
    const std::string id =
        context.ticket ? *std::static_pointer_cast<std::string>(context.ticket) : "req_fresh";
    head.headers.push_back(HeaderField{"request-id", id});
  };
  Router router = basic_router();
  router.add("GET", "/stream", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.end_stream("x");
  });
  TestServer server(std::move(router), {}, std::move(hooks));
  const Endpoint endpoint = server.listen();
  Client client(endpoint);
  EXPECT_EQ(client.exchange(get("/hello")).headers.find("request-id"), "req_fresh");
  EXPECT_EQ(client.exchange(get("/stream")).headers.find("request-id"), "req_fresh");
  const ClientResponse missing = client.exchange(get("/nowhere"));
  EXPECT_EQ(missing.headers.find("request-id"), "req_error");
  EXPECT_TRUE(missing.body.starts_with("dialect: "));
  const ClientResponse garbage = client.exchange("nonsense\r\n");
  EXPECT_EQ(garbage.status, 400);
  EXPECT_EQ(garbage.headers.find("request-id"), "req_error");
}

TEST(HttpServerHooks, SummarisesEveryExchange) {
  struct Seen {
    std::string path;
    std::string route;
    int status;
    ExchangeEnd end;
    bool streamed;
    std::uint64_t request_body_bytes;
    std::uint64_t response_bytes;
  };
  std::vector<Seen> seen;
  ServerHooks hooks;
  hooks.on_done = [&](const ExchangeSummary& summary) {
    seen.push_back(Seen{summary.head == nullptr ? "-" : summary.head->path,
                        std::string(summary.route), summary.status, summary.end, summary.streamed,
                        summary.request_body_bytes, summary.response_bytes});
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  Client client(server.listen());
  const ClientResponse echo = client.exchange(post("/echo", "12345"));
  client.exchange(get("/items/7"));
  client.exchange(get("/nowhere"));
  client.exchange("\x16\x03\x01");
  ASSERT_TRUE(server.eventually([&] { return seen.size() == 4; }));
  EXPECT_EQ(seen[0].route, "/echo");
  EXPECT_EQ(seen[0].request_body_bytes, 5u);
  EXPECT_EQ(seen[0].response_bytes, echo.head.size() + echo.body.size());
  EXPECT_EQ(seen[0].end, ExchangeEnd::kCompleted);
  EXPECT_EQ(seen[1].path, "/items/7");
  EXPECT_EQ(seen[1].route, "/items/{id}");
  EXPECT_EQ(seen[2].status, 404);
  EXPECT_EQ(seen[2].route, "");
  EXPECT_EQ(seen[3].path, "-");
  EXPECT_EQ(seen[3].status, 400);
}

// ---- Faulty handlers ----

TEST(HttpServerHandlers, BecomeA500WhenTheyThrowOrForgetToAnswer) {
  Router router = basic_router();
  router.add("GET", "/throws", [](Exchange&) -> Awaitable<void> {
    throw std::runtime_error("broken");
    co_return;
  });
  router.add("GET", "/throws/at/once", [](Exchange&) -> Awaitable<void> {
    throw std::runtime_error("before it is a coroutine");
  });
  router.add("GET", "/throws/oddly", [](Exchange&) -> Awaitable<void> {
    throw 42;
    co_return;
  });
  router.add("GET", "/forgets", [](Exchange&) -> Awaitable<void> { co_return; });
  TestServer server(std::move(router));
  Client client(server.listen());
  for (const char* path : {"/throws", "/throws/at/once", "/throws/oddly", "/forgets"}) {
    const ClientResponse response = client.exchange(get(path));
    EXPECT_EQ(response.status, 500) << path;
    EXPECT_EQ(response.body.find("broken"), std::string::npos);
  }
  EXPECT_EQ(client.exchange(get("/hello")).body, "hello");
  EXPECT_EQ(server.counts().handler_faults, 4u);
}

TEST(HttpServerHandlers, LeaveAnIncompleteStreamWhenTheyThrowInside) {
  Router router;
  router.add("GET", "/throws", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("part");
    throw std::runtime_error("broken");
  });
  router.add("GET", "/forgets", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("part");
  });
  TestServer server(std::move(router));
  const Endpoint endpoint = server.listen();
  for (const char* path : {"/throws", "/forgets"}) {
    Client client(endpoint);
    const ClientResponse response = client.exchange(get(path));
    EXPECT_EQ(response.body, "part");
    EXPECT_FALSE(response.complete);
    EXPECT_TRUE(client.closed_by_server());
  }
  EXPECT_EQ(server.counts().handler_faults, 2u);
}

// Whatever becomes of them: what is counted there cannot be avoided by asking for nothing.
TEST(HttpServerHooks, SeeEveryRequestThatHasAHead) {
  std::vector<std::string> seen;
  int heads = 0;
  ServerHooks hooks;
  hooks.on_request = [&](const RequestHead& head,
                         std::shared_ptr<void>& ticket) -> std::optional<HttpResponse> {
    seen.push_back(head.method + " " + head.path);
    ticket = std::make_shared<int>(7);
    if (head.path != "/refused" && head.path != "/hello/refused") return std::nullopt;
    return text_response("no");
  };
  hooks.on_head = [&](const RequestHead&,
                      std::shared_ptr<void>& ticket) -> std::optional<HttpResponse> {
    EXPECT_NE(ticket, nullptr);
    ++heads;
    return std::nullopt;
  };
  TestServer server(basic_router(), {}, std::move(hooks));
  Client client(server.listen());
  EXPECT_EQ(client.exchange(get("/nowhere")).status, 404);
  EXPECT_EQ(client.exchange(post("/hello", "x")).status, 405);
  EXPECT_EQ(client.exchange(get("/refused")).body, "no");
  EXPECT_EQ(client.exchange(get("/hello")).status, 200);
  const std::vector<std::string> expected{"GET /nowhere", "POST /hello", "GET /refused",
                                          "GET /hello"};
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(heads, 1);
}

TEST(HttpServerHooks, CostTheirConnectionWhenTheyThrow) {
  int done = 0;
  ServerHooks hooks;
  hooks.on_head = [](const RequestHead&, std::shared_ptr<void>&) -> std::optional<HttpResponse> {
    throw std::runtime_error("broken hook");
  };
  hooks.on_done = [&](const ExchangeSummary&) { ++done; };
  TestServer server(basic_router(), {}, std::move(hooks));
  Client client(server.listen());
  ASSERT_TRUE(client.send(get("/hello")));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace zerohop
