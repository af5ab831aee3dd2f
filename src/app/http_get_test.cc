#include "app/http_get.h"

#include <gtest/gtest.h>

#include "app/test_listener.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

std::string url_of(std::uint16_t port, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(port) + path;
}

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

TEST(HttpGet, SaysWhomItsRequestIsFor) {
  std::string seen;
  std::string port;
  {
    const OneConnection server([&seen](int descriptor) {
      seen = receive_until(descriptor, "\r\n\r\n");
      send_all(descriptor, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    });
    port = std::to_string(server.port());
    const auto body = http_get(url_of(server.port(), "/a/page"));
    ASSERT_TRUE(body.ok()) << body.error().message;
    EXPECT_EQ(*body, "hi");
  }
  EXPECT_TRUE(seen.starts_with("GET /a/page HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("\r\nHost: 127.0.0.1:" + port + "\r\n"), seen.npos) << seen;
}

TEST(HostField, HasThePortAndTheBracketsOfAnAddress) {
  for (const auto& [url, field] : {std::pair{"http://collector:4318/v1", "collector:4318"},
                                   {"http://collector/", "collector"},
                                   {"http://collector:80", "collector"},
                                   {"http://127.0.0.1:8080", "127.0.0.1:8080"},
                                   {"http://[::1]:8080/metrics", "[::1]:8080"},
                                   {"http://[2001:db8::1]", "[2001:db8::1]"}}) {
    const Result<HttpUrl> split = split_http_url(url);
    ASSERT_TRUE(split.ok()) << url;
    EXPECT_EQ(host_field(*split), field) << url;
  }
}

TEST(HttpGet, WaitsForNobodyForEver) {
  const TestListener silent;
  const auto body = http_get(url_of(silent.port(), "/"), {.time = std::chrono::milliseconds(20)});
  ASSERT_FALSE(body.ok());
  EXPECT_NE(body.error().message.find("no answer within 20 ms"), std::string::npos);
}

TEST(HttpGet, SaysThatNobodyIsThere) {
  std::uint16_t port = 0;
  {
    const TestListener gone;
    port = gone.port();
  }
  EXPECT_FALSE(http_get(url_of(port, "/")).ok());
  EXPECT_FALSE(http_get("https://127.0.0.1/").ok());
}

}  // namespace
}  // namespace zerohop
