#include "api/openai_chat_request.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_test_parse.h"
#include "core/limits.h"

namespace zerohop {
namespace {

using openai_test::chat_complaint;
using openai_test::kStrict;
using openai_test::parsed_chat;

TEST(OpenAiChatRequest, NeedsMessagesOnly) {
  const OpenAiChatRequest request = parsed_chat("");
  EXPECT_EQ(request.chat.model, "");
  EXPECT_FALSE(request.chat.stream);
  EXPECT_EQ(request.chat.choices, 1u);
  EXPECT_EQ(request.chat.generation.max_tokens, limits::kDefaultMaxTokens);
  ASSERT_EQ(request.chat.conversation.messages.size(), 1u);
  EXPECT_FALSE(request.reply.include_usage);
  EXPECT_FALSE(request.reply.logprobs);
}

TEST(OpenAiChatRequest, TakesMissingMaxTokensFromTheOptions) {
  const auto request = openai_test::parse_chat("", ParseOptions{.default_max_tokens = 7});
  EXPECT_EQ(request->chat.generation.max_tokens, 7u);
}

TEST(OpenAiChatRequest, WantsAModelWhenStrict) {
  EXPECT_EQ(chat_complaint("", kStrict), "model: is required");
  EXPECT_EQ(chat_complaint(R"("model":5)"), "model: must be a string, got 5");
  EXPECT_EQ(chat_complaint(R"("model":")" + std::string(257, 'x') + "\""),
            "model: must be at most 256 bytes long, got 257");
}

TEST(OpenAiChatRequest, ReadsStreamAndItsOptions) {
  EXPECT_TRUE(parsed_chat(R"("stream":true)").chat.stream);
  EXPECT_TRUE(parsed_chat(R"("stream_options":{"include_usage":true})").reply.include_usage);
  EXPECT_FALSE(parsed_chat(R"("stream_options":{})").reply.include_usage);
  EXPECT_EQ(chat_complaint(R"("stream":"true")"), "stream: must be true or false, got \"true\"");
  EXPECT_EQ(chat_complaint(R"("stream_options":5)"), "stream_options: must be an object, got 5");
  EXPECT_EQ(chat_complaint(R"("stream_options":{"include_usage":1})"),
            "stream_options.include_usage: must be true or false, got 1");
}

TEST(OpenAiChatRequest, ReadsLogprobs) {
  const OpenAiChatRequest chosen_only = parsed_chat(R"("logprobs":true)");
  EXPECT_EQ(chosen_only.chat.generation.top_logprobs, 0u);
  EXPECT_TRUE(chosen_only.reply.logprobs);
  EXPECT_EQ(parsed_chat(R"("logprobs":true,"top_logprobs":20)").chat.generation.top_logprobs, 20u);
  EXPECT_FALSE(parsed_chat(R"("logprobs":false,"top_logprobs":0)").chat.generation.top_logprobs);
}

TEST(OpenAiChatRequest, RefusesImpossibleLogprobs) {
  EXPECT_EQ(chat_complaint(R"("top_logprobs":2)"), "top_logprobs: needs `logprobs` to be true");
  EXPECT_EQ(chat_complaint(R"("logprobs":true,"top_logprobs":21)"),
            "top_logprobs: must be an integer from 0 to 20, got 21");
  EXPECT_EQ(chat_complaint(R"("logprobs":5)"), "logprobs: must be true or false, got 5");
}

TEST(OpenAiChatRequest, RefusesOutputOtherThanText) {
  EXPECT_EQ(chat_complaint(R"("modalities":["text","audio"])"),
            "modalities[1]: output other than text is not supported by this server");
  EXPECT_EQ(chat_complaint(R"("modalities":["text"])"), "");
}

TEST(OpenAiChatRequest, IgnoresUnknownFields) {
  EXPECT_EQ(chat_complaint(R"("user":5,"x":[1],"metadata":"m","prediction":{},"store":true)", {}),
            "");
}

TEST(OpenAiChatRequest, RefusesABodyThatIsNoObject) {
  EXPECT_EQ(openai_test::complaint_of(parse_chat_completions_request("[]", {})),
            "the request body must be an object, got an array");
  EXPECT_EQ(openai_test::complaint_of(parse_chat_completions_request("{}", {})),
            "messages: is required");
}

}  // namespace
}  // namespace zerohop
