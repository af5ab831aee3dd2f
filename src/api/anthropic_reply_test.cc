#include "api/anthropic_reply.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr Usage kTotal{.prompt_tokens = 12, .prompt_tokens_cached = 4, .output_tokens = 3};

AnthropicReply make_reply() { return AnthropicReply({"msg_1", "m", "req_1"}); }

TEST(AnthropicReply, GathersTheTextIntoOneBlock) {
  AnthropicReply reply = make_reply();
  reply.add(Started{});
  reply.add(TextDelta{"Hel"});
  EXPECT_FALSE(reply.complete());
  reply.add(TextDelta{"lo \"you\""});
  reply.add(Finished{FinishReason::kEndOfTurn, "", kTotal});
  ASSERT_TRUE(reply.complete());
  EXPECT_EQ(reply.failure(), nullptr);
  EXPECT_EQ(reply.body(),
            R"({"id":"msg_1","type":"message","role":"assistant","model":"m",)"
            R"("content":[{"type":"text","text":"Hello \"you\""}],"stop_reason":"end_turn",)"
            R"("stop_sequence":null,"stop_details":null,"usage":{"input_tokens":8,)"
            R"("cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":3}})");
}

TEST(AnthropicReply, HasNoBlockWithoutText) {
  AnthropicReply reply = make_reply();
  reply.add(Started{});
  reply.add(Finished{FinishReason::kMaxTokens, "", kTotal});
  EXPECT_NE(reply.body().find(R"("content":[],"stop_reason":"max_tokens")"), std::string::npos);
}

TEST(AnthropicReply, NamesTheStopSequence) {
  AnthropicReply reply = make_reply();
  reply.add(Started{});
  reply.add(TextDelta{"x"});
  reply.add(Finished{FinishReason::kStopSequence, "\n", kTotal});
  EXPECT_NE(reply.body().find(R"("stop_reason":"stop_sequence","stop_sequence":"\n")"),
            std::string::npos);
}

TEST(AnthropicReply, KeepsAFailureInPlaceOfABody) {
  AnthropicReply reply = make_reply();
  reply.add(Started{});
  reply.add(TextDelta{"half an answer"});
  reply.add(Failed{Error{ErrorCode::kTimeout, "took too long", {}, {}}});
  ASSERT_TRUE(reply.complete());
  ASSERT_NE(reply.failure(), nullptr);
  EXPECT_EQ(reply.failure()->code, ErrorCode::kTimeout);
}

using AnthropicReplyDeathTest = testing::Test;

TEST(AnthropicReplyDeathTest, MisuseIsABug) {
  AnthropicReply unfinished = make_reply();
  unfinished.add(Started{});
  EXPECT_DEATH(unfinished.body(), "finished_");
  AnthropicReply finished = make_reply();
  finished.add(Finished{});
  EXPECT_DEATH(finished.add(TextDelta{"x"}), "complete");
}

TEST(CountTokens, SaysTheNumber) {
  EXPECT_EQ(count_tokens_body(0), R"({"input_tokens":0})");
  EXPECT_EQ(count_tokens_body(4'294'967'295u), R"({"input_tokens":4294967295})");
}

}  // namespace
}  // namespace zerohop
