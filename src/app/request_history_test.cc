#include "app/request_history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zerohop {
namespace {

RequestRecord record(const std::string& id, int status) {
  RequestRecord made;
  made.id = id;
  made.status = status;
  return made;
}

TEST(RequestHistory, FindsWhatItKeeps) {
  RequestHistory history;
  history.add(record("req_a", 200));
  history.add(record("req_b", 429));
  ASSERT_NE(history.find("req_a"), nullptr);
  EXPECT_EQ(history.find("req_b")->status, 429);
  EXPECT_EQ(history.find("req_c"), nullptr);
}

TEST(RequestHistory, ForgetsTheOldestAndCountsThemStill) {
  RequestHistory history;
  for (std::size_t i = 0; i <= RequestHistory::kKept; ++i) {
    history.add(record("req_" + std::to_string(i), i % 2 == 0 ? 200 : 529));
  }
  EXPECT_EQ(history.find("req_0"), nullptr);
  EXPECT_NE(history.find("req_1"), nullptr);
  EXPECT_EQ(history.answered() + history.refused(), RequestHistory::kKept + 1);
}

TEST(RequestHistory, ShowsTheLatestFirstAndStopsWhenToldSo) {
  RequestHistory history;
  for (const char* id : {"a", "b", "c"}) history.add(record(id, 200));
  std::vector<std::string> seen;
  history.latest([&seen](const RequestRecord& entry) {
    seen.push_back(entry.id);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"c", "b"}));
}

TEST(RequestHistory, TellsWhomItTurnedAwayFromWhoAskedWrongly) {
  RequestHistory history;
  for (const char* code : {"invalid_request", "overloaded", "rate_limited", "internal"}) {
    RequestRecord refused = record(code, 400);
    refused.error_code = code;
    history.add(refused);
  }
  EXPECT_EQ(history.refused(), 4u);
  EXPECT_EQ(history.turned_away(), 2u);
}

TEST(RequestHistory, CountsNobodyWhoWentAwayAsServed) {
  RequestHistory history;
  history.add(record("req_gone", 0));
  EXPECT_EQ(history.answered(), 0u);
  EXPECT_EQ(history.refused(), 0u);
}

}  // namespace
}  // namespace zerohop
