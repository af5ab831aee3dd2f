#include "app/http_get.h"

#include <gtest/gtest.h>

#include "app/test_server.h"

namespace zerohop {
namespace {

std::string url_of(std::uint16_t port, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(port) + path;
}

// Somebody who takes connections and says nothing.
class SilentListener {
 public:
  SilentListener() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &address, sizeof generic);
    EXPECT_EQ(bind(descriptor_, &generic, sizeof generic), 0);
    EXPECT_EQ(listen(descriptor_, 4), 0);
    socklen_t size = sizeof generic;
    EXPECT_EQ(getsockname(descriptor_, &generic, &size), 0);
    std::memcpy(&address, &generic, sizeof address);
    port_ = ntohs(address.sin_port);
  }
  ~SilentListener() { close(descriptor_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

TEST(HttpGet, GivesTheBodyOfAPage) {
  const RunningServer server(FakeModelOptions{});
  const auto body = http_get(url_of(server.port(), "/livez"));
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_EQ(*body, R"({"status":"alive"})");
}

TEST(HttpGet, NamesTheStatusOfARefusal) {
  const RunningServer server(FakeModelOptions{});
  const auto body = http_get(url_of(server.port(), "/nowhere"));
  ASSERT_FALSE(body.ok());
  EXPECT_EQ(body.error().code, ErrorCode::kNotFound);
  EXPECT_NE(body.error().message.find("404"), std::string::npos) << body.error().message;
}

TEST(HttpGet, WaitsForNobodyForEver) {
  const SilentListener silent;
  const auto body = http_get(url_of(silent.port(), "/"), {.time = std::chrono::milliseconds(20)});
  ASSERT_FALSE(body.ok());
  EXPECT_NE(body.error().message.find("no answer within 20 ms"), std::string::npos);
}

TEST(HttpGet, SaysThatNobodyIsThere) {
  std::uint16_t port = 0;
  {
    const SilentListener gone;
    port = gone.port();
  }
  EXPECT_FALSE(http_get(url_of(port, "/")).ok());
  EXPECT_FALSE(http_get("https://127.0.0.1/").ok());
}

}  // namespace
}  // namespace zerohop
