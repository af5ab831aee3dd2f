#include "app/explain_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace zerohop {
namespace {

using std::chrono::milliseconds;

RequestRecord answered() {
  RequestRecord record;
  record.id = "req_abc";
  record.route = "/v1/messages";
  record.model = "m";
  record.tenant = "default";
  record.status = 200;
  record.state = RequestState::kDone;
  record.stop_reason = "end_turn";
  record.usage = {.prompt_tokens = 100, .prompt_tokens_cached = 40, .output_tokens = 20};
  record.max_tokens = 50;
  record.in_state[static_cast<std::size_t>(RequestState::kReceiving)] = milliseconds(1);
  record.in_state[static_cast<std::size_t>(RequestState::kValidating)] = milliseconds(2);
  record.in_state[static_cast<std::size_t>(RequestState::kInferring)] = milliseconds(300);
  record.in_state[static_cast<std::size_t>(RequestState::kStreaming)] = milliseconds(100);
  record.queue = milliseconds(10);
  record.first_token = milliseconds(303);
  record.total = milliseconds(403);
  return record;
}

std::string about(const RequestRecord& record, std::string_view what,
                  const RecordedMiss* miss = nullptr) {
  for (const Finding& finding : explain_request(record, miss)) {
    if (finding.about == what) return finding.text;
  }
  return "";
}

TEST(ExplainRequest, NamesTheLongestPartOfItsTime) {
  RequestRecord record = answered();
  EXPECT_NE(about(record, "slow").find("(290.0 ms) computing the prompt"), std::string::npos)
      << about(record, "slow");
  record.queue = milliseconds(250);
  EXPECT_NE(about(record, "slow").find("the queue"), std::string::npos);
  record = answered();
  record.in_state[static_cast<std::size_t>(RequestState::kStreaming)] = milliseconds(900);
  EXPECT_NE(about(record, "slow").find("writing the answer"), std::string::npos);
  EXPECT_NE(about(record, "slow").find("20 tokens, 45.0 ms each"), std::string::npos)
      << about(record, "slow");
  record.in_state[static_cast<std::size_t>(RequestState::kReceiving)] = milliseconds(5000);
  EXPECT_NE(about(record, "slow").find("(5.0 s) receiving the body"), std::string::npos);
}

TEST(ExplainRequest, SaysWhyARequestWasRefusedAndWhatHelps) {
  RequestRecord record;
  record.status = 429;
  record.state = RequestState::kFailed;
  record.error_code = "rate_limited";
  record.error_message = "requests per minute of key k: 60";
  const std::string text = about(record, "refused");
  EXPECT_NE(text.find("429, rate_limited: requests per minute of key k: 60."), std::string::npos)
      << text;
  EXPECT_NE(text.find("zerohop keys limits"), std::string::npos) << text;
  // It never came to a prompt.
  EXPECT_EQ(about(record, "slow"), "");
  EXPECT_EQ(about(record, "cache"), "");
}

TEST(ExplainRequest, TellsEveryKindOfCutApart) {
  RequestRecord record = answered();
  EXPECT_EQ(about(record, "cut"), "");
  record.stop_reason = "max_tokens";
  EXPECT_NE(about(record, "cut").find("max_tokens (50)"), std::string::npos);
  record.soft_max_tokens = 20;
  EXPECT_NE(about(record, "cut").find("held to 20 tokens"), std::string::npos);
  record.limit = "key output_tokens_per_day";
  EXPECT_NE(about(record, "cut").find("key output_tokens_per_day"), std::string::npos);
  record = answered();
  record.stop_reason = "context_window";
  EXPECT_NE(about(record, "cut").find("engine.context_tokens"), std::string::npos);
}

TEST(ExplainRequest, GivesTheAdviceOfARecordedMiss) {
  RequestRecord record = answered();
  record.miss_cause = miss_cause_name(MissCause::kSystemChanged);
  RecordedMiss miss;
  miss.miss.cause = MissCause::kSystemChanged;
  miss.miss.position = 7;
  EXPECT_NE(about(record, "cache", &miss).find("prompt.volatile"), std::string::npos);
  EXPECT_NE(about(record, "cache").find("40 of 100"), std::string::npos);
}

TEST(ExplainRequest, SpeaksOfClientsThatWentAwayOrTriedAgain) {
  RequestRecord record = answered();
  record.state = RequestState::kCancelled;
  record.client_retries = 2;
  EXPECT_NE(about(record, "answer").find("went away"), std::string::npos);
  EXPECT_NE(about(record, "retried").find("2 times"), std::string::npos);
}

TEST(ExplainRequest, IsTextForPeopleOutOfWhatTheServerSays) {
  const auto text = explanation_text(explanation_body(answered(), nullptr));
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with("req_abc  route /v1/messages  model m")) << *text;
  EXPECT_NE(text->find("\n  slow     it took 403.0 ms"), std::string::npos) << *text;
  for (const char* wrong : {"", "[]", "{}", "{\"findings\":1}", "{\"findings\":[1"}) {
    EXPECT_FALSE(explanation_text(wrong).ok()) << wrong;
    EXPECT_FALSE(request_list_text(wrong).ok()) << wrong;
  }
}

TEST(ExplainRequest, ListsRequestsWithTheLatestLast) {
  const auto text = request_list_text(
      R"({"data":[{"id":"b","status":200,"stop_reason":"end_turn"},{"id":"a","status":429,)"
      R"("error":"rate_limited"}]})");
  ASSERT_TRUE(text.ok());
  EXPECT_LT(text->find("a "), text->find("b ")) << *text;
  EXPECT_NE(text->find("rate_limited"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
