#include "api/openai_chat_reply.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json_place.h"
#include "api/openai_chat_stream.h"
#include "api/openai_chat_stream_checker.h"
#include "api/openai_test_events.h"

namespace zerohop {
namespace {

using namespace openai_test;

const OpenAiReplyHead kHead{"chatcmpl-1", "small", 1'700'000'000, ""};

std::string body_of(const std::vector<Event>& events, OpenAiReplyOptions options = {}) {
  OpenAiChatReply reply(kHead, options, 1);
  for (const Event& event : events) reply.add(0, event);
  EXPECT_TRUE(reply.complete());
  EXPECT_EQ(reply.failure(), nullptr);
  return reply.body();
}

TEST(OpenAiChatReply, GathersText) {
  EXPECT_EQ(body_of({started(), text("a"), text("b\n"), finished()}),
            R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,)"
            R"("model":"small","system_fingerprint":null,"choices":[{"index":0,"message":)"
            R"({"role":"assistant","content":"ab\n","refusal":null},"logprobs":null,)"
            R"("finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,)"
            R"("total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},)"
            R"("completion_tokens_details":{"reasoning_tokens":2}}})");
}

TEST(OpenAiChatReply, HasNullContentWhenThereAreOnlyCalls) {
  const std::string body = body_of({started(), call("c1", "f"), arguments("{\"a\""),
                                    arguments(":1}"), finished(FinishReason::kToolUse)});
  EXPECT_NE(body.find(R"("content":null,"refusal":null,"tool_calls":[{"id":"c1",)"
                      R"("type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]})"),
            std::string::npos)
      << body;
}

TEST(OpenAiChatReply, HasEmptyContentWhenThereIsNothing) {
  EXPECT_NE(body_of({started(), finished()}).find(R"("content":"")"), std::string::npos);
}

TEST(OpenAiChatReply, HasAnEmptyListOfLogprobsWhenNothingWasGenerated) {
  EXPECT_NE(body_of({started(), finished()}, {.logprobs = true})
                .find(R"("logprobs":{"content":[],"refusal":null})"),
            std::string::npos);
}

TEST(OpenAiChatReply, WritesTheOlderFormOfCalls) {
  const std::string body =
      body_of({started(), call("c1", "f"), arguments("{}"), finished(FinishReason::kToolUse)},
              {.legacy_functions = true});
  EXPECT_NE(body.find(R"("function_call":{"name":"f","arguments":"{}"})"), std::string::npos);
  EXPECT_NE(body.find(R"("finish_reason":"function_call")"), std::string::npos);
}

TEST(OpenAiChatReply, NeverPassesOffAFailureAsAnAnswer) {
  OpenAiChatReply reply(kHead, {}, 2);
  reply.add(0, started());
  reply.add(0, finished());
  EXPECT_FALSE(reply.complete());
  reply.add(1, started());
  reply.add(1, failed());
  EXPECT_TRUE(reply.complete());
  ASSERT_NE(reply.failure(), nullptr);
  EXPECT_EQ(reply.failure()->message, "the model failed");
}

TEST(OpenAiChatReply, SaysTheSameAsTheStream) {
  const std::vector<Event> events{
      started(),       thinking("h"),   text("a"),
      call("c1", "f"), arguments("{}"), text("b"),
      call("c2", "g"), arguments("{}"), finished(FinishReason::kToolUse)};
  OpenAiChatStream stream(kHead, {}, 1);
  std::string bytes;
  for (const Event& event : events) stream.append(0, event, bytes);
  OpenAiChatStreamChecker checker{{}};
  checker.feed(bytes);
  ASSERT_EQ(checker.fault(), "");
  const auto document = parse_json(body_of(events));
  const JsonPlace root(document->root());
  const auto& choice = root.value().at("choices").at(0);
  const auto& message = choice.at("message");
  EXPECT_EQ(message.at("content").as_string(), checker.choice(0).text);
  EXPECT_EQ(message.at("reasoning_content").as_string(), checker.choice(0).thinking);
  EXPECT_EQ(choice.at("finish_reason").as_string(), checker.choice(0).finish_reason);
  const auto& calls = message.at("tool_calls").as_array();
  ASSERT_EQ(calls.size(), checker.choice(0).calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].at("id").as_string(), checker.choice(0).calls[i].id);
    EXPECT_EQ(calls[i].at("function").at("arguments").as_string(),
              checker.choice(0).calls[i].arguments);
  }
}

}  // namespace
}  // namespace zerohop
