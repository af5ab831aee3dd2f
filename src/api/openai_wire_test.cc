#include "api/openai_wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace zerohop {
namespace {

std::string logprob(float value) {
  std::string out;
  append_openai_logprob(value, out);
  return out;
}

TEST(OpenAiWire, CountsAPromptOnceAndItsAnswersTogether) {
  const OpenAiUsage usage = openai_usage({{10, 4, 0, 5, 2}, {10, 10, 0, 7, 1}}, 2);
  EXPECT_EQ(usage.prompt_tokens, 10u);
  EXPECT_EQ(usage.cached_tokens, 4u);
  EXPECT_EQ(usage.output_tokens, 12u);
  EXPECT_EQ(usage.reasoning_tokens, 3u);
}

TEST(OpenAiWire, AddsUpDifferentPrompts) {
  const OpenAiUsage usage =
      openai_usage({{10, 4, 0, 1, 0}, {10, 10, 0, 1, 0}, {20, 20, 0, 1, 0}, {20, 8, 0, 1, 0}}, 2);
  EXPECT_EQ(usage.prompt_tokens, 30u);
  EXPECT_EQ(usage.cached_tokens, 12u);
  EXPECT_EQ(usage.output_tokens, 4u);
}

TEST(OpenAiWire, WritesTotalsThatDoNotWrap) {
  OpenAiUsage usage;
  usage.prompt_tokens = 4'000'000'000;
  usage.output_tokens = 4'000'000'000;
  std::string out;
  append_openai_usage(usage, out);
  EXPECT_NE(out.find(R"("total_tokens":8000000000)"), std::string::npos);
}

TEST(OpenAiWire, WritesLogprobsThatJsonCanHold) {
  EXPECT_EQ(logprob(-0.25f), "-0.25");
  EXPECT_EQ(logprob(0.0f), "0");
  EXPECT_EQ(logprob(-0.0f), "0");
  EXPECT_EQ(logprob(1e-7f), "0");
  EXPECT_EQ(logprob(-std::numeric_limits<float>::infinity()), "-9999");
  EXPECT_EQ(logprob(std::nanf("")), "-9999");
}

TEST(OpenAiWire, WritesTheBytesOfHalfACharacter) {
  TokenLogprobs token;
  token.chosen = TokenChance{1, "\xe2\x82", -1.0f};
  std::string out;
  append_openai_token(token, out);
  EXPECT_EQ(out,
            "{\"token\":\"\xef\xbf\xbd\",\"logprob\":-1,\"bytes\":[226,130],\"top_logprobs\":[]}");
}

TEST(OpenAiWire, NamesEveryFinishReason) {
  EXPECT_EQ(openai_finish_reason(FinishReason::kEndOfTurn), "stop");
  EXPECT_EQ(openai_finish_reason(FinishReason::kStopSequence), "stop");
  EXPECT_EQ(openai_finish_reason(FinishReason::kMaxTokens), "length");
  EXPECT_EQ(openai_finish_reason(FinishReason::kContextWindow), "length");
  EXPECT_EQ(openai_finish_reason(FinishReason::kToolUse), "tool_calls");
  const OpenAiReplyOptions legacy{.legacy_functions = true};
  EXPECT_EQ(openai_chat_finish_reason(FinishReason::kToolUse, legacy), "function_call");
  EXPECT_EQ(openai_chat_finish_reason(FinishReason::kMaxTokens, legacy), "length");
}

}  // namespace
}  // namespace zerohop
