#include "api/openai_completions_reply.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json_place.h"
#include "api/openai_sse_frames.h"
#include "api/openai_test_events.h"

namespace zerohop {
namespace {

using namespace openai_test;

OpenAiCompletionsReplyOptions options(std::vector<std::string> echoes,
                                      OpenAiReplyOptions reply = {}) {
  return {{"cmpl-1", "small", 1'700'000'000, ""}, reply, 1, std::move(echoes)};
}

// The texts of one choice's chunks, joined; [DONE] must be the last frame.
std::string joined_text(std::string_view bytes, std::int64_t choice) {
  OpenAiFrameCutter frames(bytes);
  std::string joined;
  std::string_view last;
  while (!frames.done()) {
    const OpenAiFrame frame = frames.next();
    EXPECT_EQ(frame.name, "");
    last = frame.data;
    if (frame.data == "[DONE]") continue;
    const auto document = parse_json(frame.data);
    EXPECT_TRUE(document.ok());
    if (!document.ok()) break;
    EXPECT_EQ(document->root().at("object").as_string(), "text_completion");
    for (const auto& entry : document->root().at("choices").as_array()) {
      if (entry.at("index").as_int64() == choice) {
        joined += entry.at("text").as_string();
      }
    }
  }
  EXPECT_EQ(frames.fault(), "");
  EXPECT_EQ(last, "[DONE]");
  return joined;
}

TEST(OpenAiCompletionsStream, EchoesAndKeepsThinkingInTheText) {
  OpenAiCompletionsStream stream(options({"Once", "Twice"}));
  std::string out;
  stream.append(1, started(), out);
  stream.append(0, started(), out);
  stream.append(0, text(" upon"), out);
  stream.append(1, thinking(" more"), out);
  stream.append(0, finished(), out);
  EXPECT_FALSE(stream.ended());
  stream.append(1, finished(), out);
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(joined_text(out, 0), "Once upon");
  EXPECT_EQ(joined_text(out, 1), "Twice more");
}

TEST(OpenAiCompletionsStream, EndsWithOneErrorAndNoEndMark) {
  OpenAiCompletionsStream stream(options({""}));
  std::string out;
  stream.append(0, started(), out);
  stream.append(0, failed(), out);
  EXPECT_TRUE(stream.ended());
  EXPECT_NE(out.find(R"(data: {"error":{"message":"the model failed")"), std::string::npos);
  EXPECT_EQ(out.find("[DONE]"), std::string::npos);
}

TEST(OpenAiCompletionsStream, AddsUpTheUsageOfAllPrompts) {
  OpenAiCompletionsStream stream(options({"", ""}, {.include_usage = true}));
  std::string out;
  for (const std::uint32_t choice : {0u, 1u}) {
    stream.append(choice, started(), out);
    stream.append(choice, finished(), out);
  }
  EXPECT_NE(out.find(R"("choices":[],"usage":{"prompt_tokens":20,"completion_tokens":10,)"),
            std::string::npos)
      << out;
}

TEST(OpenAiCompletionsStream, GoesOnCountingCharactersAcrossChunks) {
  OpenAiCompletionsStream stream(options({""}, {.logprobs = true}));
  std::string out;
  const std::vector<Event> events{started(),
                                  token("\xc3\xa9", -1),
                                  text("\xc3\xa9"),
                                  token("\xe2", -1),
                                  token("\x82\xac", -1),
                                  text("\xe2\x82\xac"),
                                  token("x", -1),
                                  finished()};
  for (const Event& event : events) stream.append(0, event, out);
  EXPECT_NE(out.find(R"("text_offset":[0])"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("text_offset":[1,2])"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("text_offset":[2])"), std::string::npos) << out;
}

TEST(OpenAiCompletionsReply, HasOneChoiceForEachPromptAndAnswer) {
  OpenAiCompletionsReplyOptions two = options({"a", "b"});
  two.choices_per_prompt = 2;
  OpenAiCompletionsReply reply(two);
  for (std::uint32_t choice = 0; choice < 4; ++choice) {
    reply.add(choice, started());
    reply.add(choice, text(std::to_string(choice)));
    reply.add(choice, finished(choice == 3 ? FinishReason::kMaxTokens : FinishReason::kEndOfTurn));
  }
  ASSERT_TRUE(reply.complete());
  const auto document = parse_json(reply.body());
  const auto& choices = document->root().at("choices").as_array();
  ASSERT_EQ(choices.size(), 4u);
  EXPECT_EQ(choices[1].at("text").as_string(), "a1");
  EXPECT_EQ(choices[2].at("text").as_string(), "b2");
  EXPECT_EQ(choices[3].at("finish_reason").as_string(), "length");
  EXPECT_EQ(document->root().at("usage").at("prompt_tokens").as_int64(), 20);
  EXPECT_EQ(document->root().at("usage").at("completion_tokens").as_int64(), 20);
}

TEST(OpenAiCompletionsReply, ShowsTheChosenTokenAmongTheLikeliestOnce) {
  OpenAiCompletionsReply reply(options({""}, {.logprobs = true}));
  TokenLogprobs event;
  event.chosen = {1, "c", -3};
  event.likeliest = {{2, "a", -1}, {3, "a", -2}};
  reply.add(0, started());
  reply.add(0, event);
  reply.add(0, finished());
  EXPECT_NE(reply.body().find(R"("logprobs":{"tokens":["c"],"token_logprobs":[-3],)"
                              R"("top_logprobs":[{"a":-1,"c":-3}],"text_offset":[0]})"),
            std::string::npos)
      << reply.body();
}

TEST(OpenAiCompletionsReply, NeverPassesOffAFailureAsAnAnswer) {
  OpenAiCompletionsReply reply(options({""}));
  reply.add(0, failed());
  EXPECT_TRUE(reply.complete());
  EXPECT_NE(reply.failure(), nullptr);
}

TEST(OpenAiCompletionsReplyDeathTest, CrashesOnAToolCall) {
  OpenAiCompletionsReply reply(options({""}));
  reply.add(0, started());
  EXPECT_DEATH(reply.add(0, call("c", "f")), "thinking");
}

}  // namespace
}  // namespace zerohop
