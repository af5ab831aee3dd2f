// The server behind TLS: the same answers, the same system calls, and what goes wrong in front of
// the first request.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/server.h"
#include "http/sse.h"
#include "http/test_support.h"
#include "http/test_tls.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

// One authority and one server certificate for all tests: making keys costs time.
const TestAuthority& authority() {
  static const TestAuthority kAuthority("Test CA");
  return kAuthority;
}

const TestIdentity& server_identity() {
  static const TestIdentity kIdentity = authority().issue("server");
  return kIdentity;
}

std::shared_ptr<const TlsContext> context_of(
    const TestIdentity& identity, ClientCertificates clients = ClientCertificates::kOff) {
  const TlsFolder folder;
  TlsFiles files = folder.write(identity);
  files.clients = clients;
  files.client_ca = folder.write("ca.pem", authority().pem());
  auto context = TlsContext::load(files);
  EXPECT_TRUE(context.ok());
  return *context;
}

ServerOptions secure(ClientCertificates clients = ClientCertificates::kOff) {
  ServerOptions options;
  options.tls = context_of(server_identity(), clients);
  return options;
}

TlsClientOptions trusting() {
  TlsClientOptions options;
  options.authority = authority().pem();
  return options;
}

// ---- The same server ----

TEST(HttpTls, ServesRequestsUnderACheckedCertificate) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  EXPECT_EQ(endpoint.url(), "https://127.0.0.1:" + std::to_string(endpoint.port));
  TlsClient client(endpoint, trusting());
  ASSERT_TRUE(client.secured());
  EXPECT_EQ(client.version(), TLS1_3_VERSION);
  EXPECT_EQ(client.exchange(get("/hello")).body, "hello");
  EXPECT_EQ(client.exchange(post("/echo", "again")).body, "again");
  EXPECT_EQ(server.counts().tls_handshakes, 1u);
  EXPECT_EQ(server.counts().tls_faults, 0u);
}

TEST(HttpTls, CarriesLongBodiesBothWays) {
  TestServer server(basic_router(), secure());
  TlsClient client(server.listen());
  std::string body(3'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 % 251);
  std::thread sender([&] { EXPECT_TRUE(client.send(post("/echo", body))); });
  sender.join();
  const ClientResponse response = client.receive_response();
  EXPECT_TRUE(response.body == body);
}

TEST(HttpTls, AnswersPipelinedRequestsInOrderBeyondTheReadAhead) {
  TestServer server(basic_router(), secure());
  TlsClient client(server.listen());
  std::string requests;
  constexpr int kRequests = 3'000;  // 150 KiB, more than is read ahead
  for (int i = 0; i < kRequests; ++i) requests += get("/items/" + std::to_string(i));
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(client.receive_response().body, std::to_string(i));
  }
}

TEST(HttpTls, SendsEachBurstAsOneRecordInOneWrite) {
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
  TestServer server(std::move(router), secure());
  TlsClient client(server.listen());
  ASSERT_TRUE(client.secured());
  // The client is done first: the server still sends its tickets.
  ASSERT_TRUE(server.eventually([&] { return server.server().counts().tls_handshakes == 1; }));
  const std::uint64_t before = server.counts().socket_writes;
  ASSERT_TRUE(client.send(get("/stream")));
  EXPECT_TRUE(client.receive().ends_with("transfer-encoding: chunked\r\n\r\n3\r\none\r\n"));
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "3\r\ntwo\r\n");
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "5\r\nthree\r\n");
  server.on_io([&] { latch.pulse(); });
  EXPECT_EQ(client.receive(), "0\r\n\r\n");
  EXPECT_EQ(server.counts().socket_writes - before, 4u);
}

TEST(HttpTls, EndsOrderlyWhereAnAnswerDoesAndNotWhereItIsCutOff) {
  Router router = basic_router();
  router.add("GET", "/cut", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("part");
    co_await exchange.abort_stream();
  });
  router.add("GET", "/whole", [](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("whole");
    co_await exchange.end_stream();
  });
  TestServer server(std::move(router), secure());
  const Endpoint endpoint = server.listen();
  TlsClient old(endpoint);
  ASSERT_TRUE(old.send("GET /whole HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(old.receive_until_close().ends_with("\r\n\r\nwhole"));
  EXPECT_TRUE(old.closed_orderly());
  for (const char* request :
       {"GET /cut HTTP/1.0\r\n\r\n", "GET /cut HTTP/1.1\r\nHost: t\r\n\r\n"}) {
    TlsClient cut(endpoint);
    ASSERT_TRUE(cut.send(request));
    cut.receive_until_close();
    EXPECT_FALSE(cut.closed_orderly());
  }
}

TEST(HttpTls, SaysGoodbyeToAnIdleConnection) {
  ServerOptions options = secure();
  options.idle_timeout = milliseconds(30);
  TestServer server(basic_router(), options);
  TlsClient client(server.listen());
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_TRUE(client.closed_orderly());
}

// ---- Peers that leave ----

enum class Leaving { kClose, kReset, kGoodbye };

class HttpTlsPeerGone : public ::testing::TestWithParam<Leaving> {};

INSTANTIATE_TEST_SUITE_P(AllWays, HttpTlsPeerGone,
                         ::testing::Values(Leaving::kClose, Leaving::kReset, Leaving::kGoodbye));

TEST_P(HttpTlsPeerGone, IsSeenWhileTheHandlerWaitsAndNothingIsWritten) {
  Latch latch;
  int told = 0;
  Router router;
  router.add("POST", "/wait", [&](Exchange& exchange) -> Awaitable<void> {
    exchange.on_peer_gone([&] {
      ++told;
      latch.open();
    });
    co_await latch.wait();
  });
  TestServer server(std::move(router), secure());
  TlsClient client(server.listen());
  ASSERT_TRUE(client.send(post("/wait", "body")));
  ASSERT_TRUE(server.eventually([&] { return latch.waiting() == 1; }));
  switch (GetParam()) {
    case Leaving::kClose: client.close(); break;
    case Leaving::kReset: client.reset(); break;
    case Leaving::kGoodbye: client.say_goodbye(); break;
  }
  EXPECT_TRUE(server.eventually([&] { return told == 1; }));
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().handler_faults, 0u);
}

TEST(HttpTls, EndsAConnectionWhoseBytesWereTamperedWith) {
  TestServer server(basic_router(), secure());
  TlsClient client(server.listen());
  ASSERT_EQ(client.exchange(get("/hello")).status, 200);
  ASSERT_TRUE(client.send_plain(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x')));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().tls_faults, 1u);
}

TEST(HttpTls, ChangesKeysInTheMiddleOfAStream) {
  Latch latch;
  Router router;
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    for (int i = 0; i < 20; ++i) {
      co_await exchange.write("x");
      co_await latch.wait();
    }
    co_await exchange.end_stream();
  });
  TestServer server(std::move(router), secure());
  TlsClient client(server.listen());
  ASSERT_TRUE(client.send(get("/stream")));
  EXPECT_TRUE(client.receive().ends_with("1\r\nx\r\n"));
  for (int i = 1; i < 20; ++i) {
    const std::uint64_t before = server.counts().bytes_received;
    client.ask_for_new_keys();
    ASSERT_TRUE(client.send("\r\n"));  // carries the request; belongs to the next head
    ASSERT_TRUE(
        server.eventually([&] { return server.server().counts().bytes_received > before; }));
    server.on_io([&] { latch.pulse(); });
    EXPECT_EQ(client.receive(), "1\r\nx\r\n");
  }
}

// ---- Who does not get as far as a request ----

TEST(HttpTls, TellsWhoSpeaksPlainHttpWhatIsWrong) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  for (const std::string& request : {get("/hello"), post("/echo", "x"), std::string("x")}) {
    Client client(endpoint);
    const ClientResponse response = client.exchange(request);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("https://"), std::string::npos) << response.body;
    client.finish_sending();
    EXPECT_TRUE(client.closed_by_server());
  }
  EXPECT_EQ(server.counts().tls_handshakes, 0u);
}

TEST(HttpTls, ClosesConnectionsThatDoNotShakeHandsInTime) {
  ServerOptions options = secure();
  options.handshake_timeout = milliseconds(30);
  TestServer server(basic_router(), options);
  const Endpoint endpoint = server.listen();
  Client silent(endpoint);
  EXPECT_TRUE(silent.closed_by_server());
  Client begun(endpoint);
  ASSERT_TRUE(begun.send(std::string_view("\x16\x03\x01\x02\x00\x01", 6)));
  EXPECT_TRUE(begun.closed_by_server());
  EXPECT_TRUE(server.eventually_idle());
  EXPECT_EQ(server.counts().tls_faults, 1u) << "silence is no fault";
}

TEST(HttpTls, SurvivesAHandshakeThatIsNone) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  for (const std::size_t length : {1u, 5u, 6u, 60u, 5'000u, 200'000u}) {
    Client client(endpoint);
    std::string bytes("\x16\x03\x01\x40\x00\x01\xff\xff\xff", 9);
    bytes.resize(std::max<std::size_t>(length, 1), '\x16');
    bytes.resize(length);
    (void)client.send(bytes);
    client.finish_sending();
    client.receive_until_close();
  }
  EXPECT_TRUE(server.eventually_idle());
  TlsClient client(endpoint);
  EXPECT_EQ(client.exchange(get("/hello")).status, 200);
}

TEST(HttpTls, RefusesOldVersions) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  for (const auto& [version, accepted] : {std::pair{TLS1_VERSION, false},
                                          {TLS1_1_VERSION, false},
                                          {TLS1_2_VERSION, true},
                                          {TLS1_3_VERSION, true}}) {
    TlsClientOptions options = trusting();
    options.version_max = version;
    TlsClient client(endpoint, options);
    EXPECT_EQ(client.secured(), accepted) << version;
    if (accepted) {
      EXPECT_EQ(client.exchange(get("/hello")).status, 200);
    }
  }
  EXPECT_TRUE(server.eventually([&] { return server.server().counts().tls_faults == 2; }));
}

TEST(HttpTls, AgreesOnHttp11AndOnNothingElse) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  TlsClientOptions options;
  options.protocols = "\x02h2\x08http/1.1";
  TlsClient both(endpoint, options);
  EXPECT_EQ(both.protocol(), "http/1.1");
  EXPECT_EQ(both.exchange(get("/hello")).status, 200);
  options.protocols = "\x02h2";
  TlsClient other(endpoint, options);
  EXPECT_FALSE(other.secured());
}

// ---- Sessions ----

TEST(HttpTls, ResumesSessions) {
  TestServer server(basic_router(), secure());
  const Endpoint endpoint = server.listen();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClientOptions options = trusting();
    options.version_max = version;
    TlsClient first(endpoint, options);
    EXPECT_EQ(first.exchange(get("/hello")).status, 200);
    EXPECT_FALSE(first.resumed());
    const std::shared_ptr<SSL_SESSION> session(first.session(), SSL_SESSION_free);
    options.resume = session.get();
    TlsClient second(endpoint, options);
    EXPECT_TRUE(second.resumed()) << version;
    EXPECT_EQ(second.exchange(get("/hello")).status, 200);
  }
  EXPECT_EQ(server.counts().tls_resumed, 2u);
}

// ---- Client certificates ----

TEST(HttpTls, AsksForClientCertificatesAsItIsTold) {
  const TestIdentity known = authority().issue("known client");
  const TestIdentity expired = authority().issue("late client", -60);
  const TestAuthority another("Another CA");
  const TestIdentity stranger = another.issue("stranger");
  struct Case {
    ClientCertificates clients;
    const TestIdentity* identity;
    bool served;
  };
  for (const Case& c : {Case{ClientCertificates::kOff, nullptr, true},
                        Case{ClientCertificates::kOff, &stranger, true},
                        Case{ClientCertificates::kOptional, nullptr, true},
                        Case{ClientCertificates::kOptional, &known, true},
                        Case{ClientCertificates::kOptional, &stranger, false},
                        Case{ClientCertificates::kOptional, &expired, false},
                        Case{ClientCertificates::kRequired, nullptr, false},
                        Case{ClientCertificates::kRequired, &known, true},
                        Case{ClientCertificates::kRequired, &stranger, false},
                        Case{ClientCertificates::kRequired, &expired, false}}) {
    TestServer server(basic_router(), secure(c.clients));
    const Endpoint endpoint = server.listen();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsClientOptions options = trusting();
      options.identity = c.identity;
      options.version_max = version;
      TlsClient client(endpoint, options);
      // In TLS 1.3 the client is done before the server has looked at its certificate.
      const bool asked = client.send(get("/hello"));
      const bool served = asked && client.receive().starts_with("HTTP/1.1 200");
      EXPECT_EQ(served, c.served) << static_cast<int>(c.clients) << " " << version;
    }
  }
}

TEST(HttpTls, KnowsTheSubjectOfAClient) {
  Router router;
  router.add("GET", "/who", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.request().head.client_subject);
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router), secure(ClientCertificates::kOptional));
  const Endpoint endpoint = server.listen();
  const TestIdentity identity = authority().issue("batch, \"nightly\"");
  TlsClientOptions options = trusting();
  TlsClient nobody(endpoint, options);
  EXPECT_EQ(nobody.exchange(get("/who")).body, "");
  options.identity = &identity;
  TlsClient somebody(endpoint, options);
  EXPECT_EQ(somebody.exchange(get("/who")).body, "CN=batch\\, \\\"nightly\\\"");
}

TEST(HttpTls, KnowsTheNameOfAClient) {
  Router router;
  router.add("GET", "/who", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.request().head.client_name);
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router), secure(ClientCertificates::kOptional));
  const Endpoint endpoint = server.listen();
  const auto name_of = [&](const TestIdentity& identity) {
    TlsClientOptions options = trusting();
    options.identity = &identity;
    TlsClient client(endpoint, options);
    return client.exchange(get("/who")).body;
  };
  constexpr long kHour = 3'600;
  EXPECT_EQ(name_of(authority().issue("laptop of law", kHour, nullptr)), "laptop of law");
  EXPECT_EQ(name_of(authority().issue("x", kHour, "IP:10.0.0.1,DNS:one.test,DNS:two.test")),
            "one.test");
  EXPECT_EQ(name_of(authority().issue("x", kHour, "email:a@b.test")), "x");
  EXPECT_EQ(name_of(authority().issue("l\xc3\xa4w", kHour, nullptr)), "");
  EXPECT_EQ(name_of(authority().issue("a\tb", kHour, nullptr)), "");
  TlsClient nobody(endpoint, trusting());
  EXPECT_EQ(nobody.exchange(get("/who")).body, "");
}

// ---- New certificates ----

TEST(HttpTls, TakesANewCertificateForNewConnectionsWhileStreamsRun) {
  Latch latch;
  Router router = basic_router();
  router.add("GET", "/stream", [&](Exchange& exchange) -> Awaitable<void> {
    co_await exchange.begin_stream(200, {});
    co_await exchange.write("before");
    co_await latch.wait();
    co_await exchange.end_stream("after");
  });
  TestServer server(std::move(router), secure());
  const Endpoint endpoint = server.listen();
  TlsClient running(endpoint, trusting());
  EXPECT_EQ(running.server_name(), "server");
  ASSERT_TRUE(running.send(get("/stream")));
  EXPECT_TRUE(running.receive().ends_with("before\r\n"));
  const std::shared_ptr<SSL_SESSION> session(running.session(), SSL_SESSION_free);

  const auto renewed = context_of(authority().issue("renewed"));
  server.on_io([&] { server.server().set_tls(renewed); });
  TlsClient fresh(endpoint, trusting());
  EXPECT_EQ(fresh.server_name(), "renewed");
  EXPECT_EQ(fresh.exchange(get("/hello")).status, 200);
  TlsClientOptions resuming = trusting();
  resuming.resume = session.get();
  TlsClient old_session(endpoint, resuming);
  EXPECT_FALSE(old_session.resumed()) << "keys of tickets go with their certificate";
  EXPECT_EQ(old_session.exchange(get("/hello")).status, 200);

  server.on_io([&] { latch.open(); });
  EXPECT_EQ(running.receive(), "5\r\nafter\r\n0\r\n\r\n");
  EXPECT_EQ(running.exchange(get("/hello")).body, "hello");
}

// ---- Behind a balancer ----

TEST(HttpTls, ReadsTheBalancersHeaderInFrontOfTheHandshake) {
  ServerOptions options = secure();
  options.proxy = ProxyPolicy::kRequired;
  options.proxy_from.push_back(IpNetwork::parse("127.0.0.1").value());
  Router router;
  router.add("GET", "/address", [](Exchange& exchange) -> Awaitable<void> {
    HttpResponse response = text_response(exchange.request().head.remote_address);
    co_await exchange.respond(std::move(response));
  });
  TestServer server(std::move(router), options);
  const Endpoint endpoint = server.listen();
  TlsClientOptions through = trusting();
  through.first = "PROXY TCP6 2001:db8::7 2001:db8::1 1234 443\r\n";
  TlsClient client(endpoint, through);
  EXPECT_EQ(client.exchange(get("/address")).body, "2001:db8::7");
  TlsClient direct(endpoint, trusting());
  EXPECT_FALSE(direct.secured());
}

}  // namespace
}  // namespace zerohop
