#include "api/openai_chat_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/openai_chat_stream_checker.h"
#include "api/openai_test_events.h"
#include "base/random.h"

namespace zerohop {
namespace {

using namespace openai_test;

const OpenAiReplyHead kHead{"chatcmpl-1", "small", 1'700'000'000, "fp_1"};

std::string write(const std::vector<Event>& events, OpenAiReplyOptions options = {}) {
  OpenAiChatStream stream(kHead, options, 1);
  std::string out;
  for (const Event& event : events) stream.append(0, event, out);
  return out;
}

OpenAiChatStreamChecker checked(const std::string& bytes, OpenAiStreamExpectation expected = {}) {
  OpenAiChatStreamChecker checker(expected);
  checker.feed(bytes);
  EXPECT_EQ(checker.fault(), "") << bytes;
  EXPECT_TRUE(checker.ended()) << bytes;
  return checker;
}

TEST(OpenAiChatStream, CarriesTextAndReasoning) {
  auto checker = checked(write({started(), thinking("hm"), text("a"), text("\"b\n"), finished()}));
  EXPECT_EQ(checker.choice(0).text, "a\"b\n");
  EXPECT_EQ(checker.choice(0).thinking, "hm");
  EXPECT_EQ(checker.choice(0).finish_reason, "stop");
}

TEST(OpenAiChatStream, NumbersToolCalls) {
  auto checker =
      checked(write({started(), call("c1", "f"), arguments("{\"a\""), arguments(":1}"),
                     call("c2", "g"), arguments("{}"), finished(FinishReason::kToolUse)}));
  const auto& calls = checker.choice(0).calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].id, "c1");
  EXPECT_EQ(calls[0].arguments, "{\"a\":1}");
  EXPECT_EQ(calls[1].name, "g");
  EXPECT_EQ(checker.choice(0).finish_reason, "tool_calls");
}

TEST(OpenAiChatStream, SendsTheUsageOnlyWhenAsked) {
  const std::vector<Event> events{started(), text("a"), finished()};
  EXPECT_EQ(checked(write(events)).usage(), "");
  auto checker = checked(write(events, {.include_usage = true}), {.include_usage = true});
  EXPECT_EQ(checker.usage(), R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,)"
                             R"("prompt_tokens_details":{"cached_tokens":4},)"
                             R"("completion_tokens_details":{"reasoning_tokens":2}})");
}

TEST(OpenAiChatStream, AttachesLogprobsToTheTextTheyLedTo) {
  const std::string bytes = write({started(), token("a", -1), token("b", -2), text("ab"), text("c"),
                                   token("d", -3), finished()},
                                  {.logprobs = true});
  auto checker = checked(bytes, {.logprobs = true});
  EXPECT_EQ(checker.choice(0).logprob_tokens, "abd");
  const std::size_t chunk = bytes.find(R"("content":"ab")");
  ASSERT_NE(chunk, std::string::npos);
  const std::string_view rest = std::string_view(bytes).substr(chunk);
  EXPECT_LT(rest.find(R"("token":"b")"), rest.find("\n\n"));
}

TEST(OpenAiChatStream, LeavesOutLogprobsThatNobodyAskedFor) {
  const std::string bytes = write({started(), token("a", -1), text("a"), finished()});
  EXPECT_EQ(bytes.find("\"token\""), std::string::npos);
}

TEST(OpenAiChatStream, WaitsForEveryChoice) {
  OpenAiChatStream stream(kHead, {.include_usage = true}, 2);
  std::string out;
  stream.append(1, started(), out);
  stream.append(1, text("b"), out);
  stream.append(1, finished(FinishReason::kMaxTokens), out);
  EXPECT_FALSE(stream.ended());
  EXPECT_EQ(out.find("[DONE]"), std::string::npos);
  stream.append(0, started(), out);
  stream.append(0, text("a"), out);
  stream.append(0, finished(), out);
  EXPECT_TRUE(stream.ended());
  auto checker = checked(out, {.choices = 2, .include_usage = true});
  EXPECT_EQ(checker.choice(0).text, "a");
  EXPECT_EQ(checker.choice(1).text, "b");
  EXPECT_EQ(checker.choice(1).finish_reason, "length");
  EXPECT_NE(checker.usage().find(R"("prompt_tokens":10,"completion_tokens":10)"),
            std::string::npos);
}

TEST(OpenAiChatStream, EndsWithOneErrorAndNoEndMark) {
  for (const std::vector<Event>& events :
       {std::vector<Event>{failed()}, std::vector<Event>{started(), text("a"), failed()}}) {
    const std::string bytes = write(events);
    auto checker = checked(bytes);
    EXPECT_TRUE(checker.failed());
    EXPECT_EQ(checker.error(), "the model failed");
    EXPECT_EQ(bytes.find("[DONE]"), std::string::npos);
  }
}

TEST(OpenAiChatStream, KeepsAliveWithComments) {
  OpenAiChatStream stream(kHead, {}, 1);
  std::string out;
  stream.append_keep_alive(out);
  for (const Event& event : {started(), finished()}) {
    stream.append(0, event, out);
    if (!stream.ended()) stream.append_keep_alive(out);
  }
  checked(out);
  EXPECT_TRUE(out.starts_with(": keep-alive\n\n"));
}

TEST(OpenAiChatStream, WritesTheOlderFormOfCalls) {
  const std::string bytes =
      write({started(), call("c1", "f"), arguments("{}"), finished(FinishReason::kToolUse)},
            {.legacy_functions = true});
  EXPECT_NE(bytes.find(R"("delta":{"function_call":{"name":"f","arguments":""}})"),
            std::string::npos);
  EXPECT_NE(bytes.find(R"("delta":{"function_call":{"arguments":"{}"}})"), std::string::npos);
  EXPECT_NE(bytes.find(R"("finish_reason":"function_call")"), std::string::npos);
  EXPECT_EQ(bytes.find("tool_calls"), std::string::npos);
}

TEST(OpenAiChatStreamDeathTest, CrashesOnEventsOutOfOrder) {
  std::string out;
  OpenAiChatStream unstarted(kHead, {}, 1);
  EXPECT_DEATH(unstarted.append(0, text("a"), out), "Started");
  OpenAiChatStream ended(kHead, {}, 1);
  ended.append(0, failed(), out);
  EXPECT_DEATH(ended.append(0, text("a"), out), "ended");
}

// One random answer, as the contract of events allows it.
std::vector<Event> random_answer(Random& random) {
  std::vector<Event> events{started()};
  bool calls = false;
  const std::uint64_t parts = random.below(8);
  for (std::uint64_t i = 0; i < parts; ++i) {
    switch (random.below(4)) {
      case 0: events.push_back(text("t" + std::to_string(i))); break;
      case 1: events.push_back(thinking("h" + std::to_string(i))); break;
      case 2: events.push_back(token("x", -0.5f)); break;
      default:
        calls = true;
        events.push_back(call("c" + std::to_string(i), "f"));
        events.push_back(arguments("{\"k\":"));
        events.push_back(arguments("1}"));
    }
  }
  events.push_back(finished(calls ? FinishReason::kToolUse : FinishReason::kEndOfTurn));
  return events;
}

TEST(OpenAiChatStream, ObeysTheProtocolInAnyInterleaving) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t choices = 1 + random.below(3);
    OpenAiChatStream stream(kHead, {.include_usage = true, .logprobs = true},
                            static_cast<std::uint32_t>(choices));
    std::vector<std::vector<Event>> answers;
    for (std::size_t i = 0; i < choices; ++i) answers.push_back(random_answer(random));
    std::vector<std::size_t> next(choices, 0);
    std::string out;
    while (!stream.ended()) {
      const auto choice = static_cast<std::uint32_t>(random.below(choices));
      if (next[choice] == answers[choice].size()) continue;
      stream.append(choice, answers[choice][next[choice]++], out);
    }
    checked(out, {.choices = choices, .include_usage = true, .logprobs = true});
  }
}

// ---- The checker itself ----

std::string fault_of(std::string bytes) {
  OpenAiChatStreamChecker checker{{}};
  checker.feed(bytes);
  return checker.fault();
}

std::string replaced(std::string bytes, std::string_view from, std::string_view to) {
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, from.size(), to);
}

TEST(OpenAiChatStreamChecker, NamesTheFirstBrokenRule) {
  const std::string good =
      write({started(), call("c1", "f"), arguments("{}"), finished(FinishReason::kToolUse)});
  EXPECT_EQ(fault_of(good), "");
  EXPECT_EQ(fault_of(replaced(good, "data: [DONE]\n\n", "data: [DONE]\n")), "a frame is cut off");
  EXPECT_EQ(fault_of(good + good), "nothing may follow the end");
  EXPECT_EQ(fault_of(kOpenAiDone.data()), "[DONE] before every choice has finished");
  EXPECT_EQ(fault_of(replaced(good, R"("role":"assistant",)", "")),
            "the first delta must carry the role");
  EXPECT_EQ(fault_of(replaced(good, "chatcmpl-1", "chatcmpl-2")),
            "id, model and fingerprint must stay the same");
  EXPECT_EQ(fault_of(replaced(good, R"("index":0,"id":"c1")", R"("index":1,"id":"c1")")),
            "indices of calls must run without gaps");
  EXPECT_EQ(fault_of(replaced(good, R"("arguments":"{}")", R"("arguments":"{")")),
            "arguments must be one object");
  EXPECT_EQ(
      fault_of(replaced(good, R"("finish_reason":"tool_calls")", R"("finish_reason":"stop")")),
      "calls must end with tool_calls");
  EXPECT_EQ(fault_of(replaced(good, "data: ", "event: x\ndata: ")), "frames have no names");
}

}  // namespace
}  // namespace zerohop
