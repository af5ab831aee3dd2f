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
