// Options that change while the server runs.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "http/server.h"
#include "http/test_support.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// An hour before and a second afterwards, on a clock of its own.
class HttpOptions : public testing::Test {
 protected:
  HttpOptions() {
    ServerOptions options;
    options.head_timeout = options.body_timeout = options.idle_timeout = seconds(3'600);
    server_ = std::make_unique<TestServer>(basic_router(), options, ServerHooks{}, &clock_);
    endpoint_ = server_->listen();
    options.head_timeout = options.body_timeout = options.idle_timeout = milliseconds(20);
    options.body_bytes_max = 8;
    options.connections_max = 1;
    changed_ = options;
  }
  void change() {
    server_->on_io([this] { server_->server().set_options(changed_); });
  }
  // Until the server has seen what was sent.
  void wait_for_bytes(std::uint64_t count) {
    ASSERT_TRUE(
        server_->eventually([&] { return server_->server().counts().bytes_received == count; }));
  }

  VirtualClock clock_;
  std::unique_ptr<TestServer> server_;
  Endpoint endpoint_;
  ServerOptions changed_;
};

TEST_F(HttpOptions, HoldForTheNextWaitOfAConnectionThatIsOpen) {
  Client client(endpoint_);
  EXPECT_EQ(client.exchange(get("/hello")).status, 200);
  change();
  ASSERT_TRUE(client.send("GET /h"));
  wait_for_bytes(get("/hello").size() + 6);
  clock_.advance(milliseconds(21));
  EXPECT_EQ(client.receive_response().status, 408);
}

TEST_F(HttpOptions, HoldForTheSizeOfTheNextBody) {
  Client client(endpoint_);
  EXPECT_EQ(client.exchange(post("/echo", "longer than eight")).status, 200);
  change();
  EXPECT_EQ(client.exchange(post("/echo", "longer than eight")).status, 413);
}

TEST_F(HttpOptions, HoldForTheNumberOfConnections) {
  Client first(endpoint_);
  EXPECT_EQ(first.exchange(get("/hello")).status, 200);
  Client second(endpoint_);
  EXPECT_EQ(second.exchange(get("/hello")).status, 200);
  change();
  Client third(endpoint_);
  EXPECT_TRUE(third.closed_by_server());
  EXPECT_EQ(first.exchange(get("/hello")).status, 200);  // open ones stay
}

TEST_F(HttpOptions, LeaveWhatAConnectionIsMadeWith) {
  changed_.head_bytes_max = 1;
  changed_.proxy = ProxyPolicy::kRequired;
  change();
  Client client(endpoint_);
  EXPECT_EQ(client.exchange(get("/hello")).status, 200);
}

}  // namespace
}  // namespace zerohop
