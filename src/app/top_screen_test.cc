#include "app/top_screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace zerohop {
namespace {

std::string look(int unix_ms, int tokens, const std::string& live = "",
                 const std::string& ended = "") {
  return R"({"instance":"cpu-1","model":"m","health":"ok","rung":"normal","unix_ms":)" +
         std::to_string(unix_ms) +
         R"(,"queue":{"queued":3,"decoding":2},"cells":{"total":100,)"
         R"("active":25,"cached":25},"cache":{"hit_rate":0.5},"totals":{"output_tokens":)" +
         std::to_string(tokens) + R"(,"answered":4,"refused":1},"live":[)" + live +
         R"(],"recent":[)" + ended + "]}";
}

TEST(TopScreen, ShowsRatesBetweenTwoLooks) {
  TopScreen top;
  const auto first = top.draw(look(1000, 100), {});
  ASSERT_TRUE(first.ok());
  EXPECT_NE(first->find("queued 3"), std::string::npos) << *first;
  EXPECT_NE(first->find("output     0.0 tokens/s"), std::string::npos) << *first;
  const auto second = top.draw(look(3000, 150), {});
  ASSERT_TRUE(second.ok());
  EXPECT_NE(second->find("output    25.0 tokens/s"), std::string::npos) << *second;
  EXPECT_NE(second->find("[###############...............]  50 % of 100"), std::string::npos)
      << *second;
}

TEST(TopScreen, FitsIntoTheTerminal) {
  std::string live;
  for (int i = 0; i < 50; ++i) {
    live += std::string(i == 0 ? "" : ",") + R"({"id":"req_)" + std::to_string(i) + R"("})";
  }
  const auto screen = TopScreen().draw(look(1, 1, live), {40, 12});
  ASSERT_TRUE(screen.ok());
  EXPECT_EQ(std::ranges::count(*screen, '\n'), 12);
  for (std::size_t at = 0; at < screen->size();) {
    const std::size_t end = screen->find('\n', at);
    EXPECT_LE(end - at, 40u);
    at = end + 1;
  }
}

TEST(TopScreen, NeverWritesControlCharactersOfClients) {
  const auto screen =
      TopScreen().draw(look(1, 1, "",
                            "{\"id\":\"r\",\"status\":400,\"error\":\"invalid_request\","
                            "\"message\":\"\\u001b[2Jgone \\u009b\"}"),
                       {});
  ASSERT_TRUE(screen.ok());
  EXPECT_NE(screen->find("?[2Jgone"), std::string::npos) << *screen;
  EXPECT_TRUE(
      std::ranges::all_of(*screen, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(TopScreen, RefusesWhatNoServerSays) {
  TopScreen top;
  for (const char* wrong : {"", "[]", "{}", "{", "null"}) EXPECT_FALSE(top.draw(wrong, {}).ok());
  EXPECT_TRUE(top.draw(R"({"totals":3,"live":{},"recent":[1,{}],"cells":[]})", {}).ok());
}

}  // namespace
}  // namespace zerohop
