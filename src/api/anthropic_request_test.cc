#include "api/anthropic_request.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "api/error_body.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr ParseOptions kStrictOptions{.strictness = Strictness::kStrict};

// A request around `fields`, which start with a comma, and one user message.
std::string with(std::string_view fields) {
  return R"({"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}])" +
         std::string(fields) + "}";
}

template <class Request>
std::string complaint(const Result<Request>& parsed) {
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidRequest);
  return error_text(parsed.error());
}
std::string lenient(std::string_view body) {
  return complaint(parse_messages_request(body, ParseOptions{}));
}
std::string strict(std::string_view body) {
  return complaint(parse_messages_request(body, kStrictOptions));
}
std::string counting(std::string_view body) {
  return complaint(parse_count_tokens_request(body, ParseOptions{}));
}

TEST(AnthropicRequest, ReadsTheSmallestRequest) {
  const auto parsed =
      parse_messages_request(R"({"messages":[{"role":"user","content":"Hi"}]})", ParseOptions{});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->chat.model, "");
  EXPECT_FALSE(parsed->chat.stream);
  EXPECT_EQ(parsed->chat.generation.max_tokens, limits::kDefaultMaxTokens);
  EXPECT_TRUE(parsed->chat.conversation.system.empty());
  ASSERT_EQ(parsed->chat.conversation.messages.size(), 1u);
  EXPECT_EQ(parsed->chat.conversation.messages[0].role, Role::kUser);
  EXPECT_EQ(std::get<TextBlock>(parsed->chat.conversation.messages[0].content.at(0)).text, "Hi");
}

TEST(AnthropicRequest, ReadsModelAndStream) {
  const auto parsed = parse_messages_request(with(R"(,"stream":true)"), ParseOptions{});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->chat.model, "m");
  EXPECT_TRUE(parsed->chat.stream);
}

TEST(AnthropicRequest, TakesTheDefaultForMaxTokensFromTheOptions) {
  const auto parsed = parse_messages_request(R"({"messages":[{"role":"user","content":"Hi"}]})",
                                             ParseOptions{.default_max_tokens = 77});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->chat.generation.max_tokens, 77u);
}

TEST(AnthropicRequest, RefusesABodyThatIsNoObject) {
  EXPECT_EQ(lenient("[]"), "the request body must be an object, got an array");
  EXPECT_EQ(lenient("\"x\""), "the request body must be an object, got \"x\"");
  EXPECT_EQ(lenient("null"), "the request body must be an object, got null");
  EXPECT_EQ(lenient(""), "the request body is empty");
  EXPECT_EQ(counting("7"), "the request body must be an object, got 7");
}

TEST(AnthropicRequest, RefusesTopLevelFieldsOfTheWrongType) {
  EXPECT_EQ(lenient(with(R"(,"model":5)")), "model: must be a string, got 5");
  EXPECT_EQ(lenient(with(R"(,"stream":"yes")")), "stream: must be true or false, got \"yes\"");
  EXPECT_EQ(lenient(with(R"(,"stream":1)")), "stream: must be true or false, got 1");
  EXPECT_EQ(lenient(with(R"(,"metadata":"x")")), "metadata: must be an object, got \"x\"");
  EXPECT_EQ(lenient(with(R"(,"metadata":{"user_id":1})")),
            "metadata.user_id: must be a string, got 1");
  EXPECT_EQ(lenient(with(R"(,"thinking":true)")), "thinking: must be an object, got true");
  EXPECT_EQ(lenient(with(R"(,"output_config":[])")),
            "output_config: must be an object, got an array");
}

TEST(AnthropicRequest, BoundsTheModelName) {
  const std::string name(limits::kModelNameBytesMax, 'm');
  EXPECT_EQ(lenient(with(R"(,"model":")" + name + "\"")), "");
  EXPECT_EQ(lenient(with(R"(,"model":")" + name + "m\"")),
            "model: must be at most 256 bytes long, got 257");
}

TEST(AnthropicRequest, TreatsNullAsAbsentEverywhere) {
  EXPECT_EQ(lenient(R"({"model":null,"max_tokens":null,"system":null,"stream":null,
      "stop_sequences":null,"temperature":null,"top_p":null,"top_k":null,"tools":null,
      "tool_choice":null,"thinking":null,"output_config":null,"output_format":null,
      "cache_control":null,"metadata":null,"container":null,"context_management":null,
      "mcp_servers":null,"compaction":null,"thread":null,"stop":null,"min_p":null,"seed":null,
      "logit_bias":null,"max_completion_tokens":null,
      "messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":null,
      "citations":null}]}]})"),
            "");
}

TEST(AnthropicRequest, IgnoresUnknownFieldsAndCacheControlAnywhere) {
  EXPECT_EQ(lenient(R"({"brand_new":{"deep":[1e400]},"cache_control":{"type":"ephemeral"},
      "context_management":{"edits":[]},"service_tier":"auto","speed":"fast","betas":["x"],
      "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"},
      "metadata":{"user_id":null,"more":1},
      "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],
      "messages":[{"role":"user","id":"m1","cache_control":{},"content":[
      {"type":"text","text":"x","cache_control":{"type":"ephemeral"},"new":1}]}]})"),
            "");
}

TEST(AnthropicRequest, RefusesByNameWhatItCanNotDo) {
  EXPECT_EQ(lenient(with(R"(,"mcp_servers":[{"type":"url"}])")),
            "mcp_servers: MCP servers are not supported by this server");
  EXPECT_EQ(lenient(with(R"(,"container":"c1")")),
            "container: server-side containers are not supported by this server");
  EXPECT_EQ(lenient(with(R"(,"thread":{"type":"create"})")),
            "thread: server-held threads are not supported by this server");
  EXPECT_EQ(
      parse_messages_request(with(R"(,"thread":{"type":"create"})"), ParseOptions{}).error().detail,
      "thread_unsupported_request");
  EXPECT_EQ(lenient(with(R"(,"compaction":{"type":"summarize"})")),
            "compaction: compaction is not supported by this server; ask for a summary in a "
            "message instead");
  EXPECT_EQ(counting(with(R"(,"container":{"id":"c"})")),
            "container: server-side containers are not supported by this server");
  EXPECT_EQ(counting(with(R"(,"compaction":{"type":"summarize"})")), "");
}

TEST(AnthropicRequest, AcceptsEmptyToolsWithAnyToolChoice) {
  EXPECT_EQ(lenient(with(R"(,"tools":[],"tool_choice":"auto","mcp_servers":[])")), "");
  EXPECT_EQ(lenient(with(R"(,"tools":null,"tool_choice":{"type":"any"})")), "");
}

TEST(AnthropicRequest, StrictModeWantsWhatTheHostedApiWants) {
  EXPECT_EQ(strict(with("")), "");
  EXPECT_EQ(strict(R"({"max_tokens":5,"messages":[{"role":"user","content":"Hi"}]})"),
            "model: is required");
  EXPECT_EQ(strict(R"({"model":"m","messages":[{"role":"user","content":"Hi"}]})"),
            "max_tokens: is required");
  EXPECT_EQ(strict(with(R"(,"brand_new":1)")), "");
}

TEST(AnthropicRequest, CountingDoesNotLookAtGeneration) {
  const std::string body =
      with(R"(,"max_tokens":"many","stream":"yes","temperature":-1,"stop_sequences":5)");
  const auto parsed = parse_count_tokens_request(body, ParseOptions{});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->model, "m");
  EXPECT_EQ(parsed->generation.max_tokens, 0u);
  EXPECT_EQ(parsed->conversation.messages.size(), 1u);
}

TEST(AnthropicRequest, CountingInStrictModeNeedsNoMaxTokens) {
  EXPECT_EQ(complaint(parse_count_tokens_request(
                R"({"model":"m","messages":[{"role":"user","content":"Hi"}]})", kStrictOptions)),
            "");
}

TEST(AnthropicRequest, EveryTruncationOfARealRequestIsAnError) {
  const std::string whole =
      with(R"(,"stop_sequences":["é"],"system":[{"type":"text","text":"s"}])");
  ASSERT_EQ(lenient(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(lenient(std::string_view(whole).substr(0, size)), "") << size;
  }
}

TEST(AnthropicRequest, TheLastOfDuplicateFieldsWins) {
  const auto parsed = parse_messages_request(with(R"(,"model":"second")"), ParseOptions{});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->chat.model, "second");
}

}  // namespace
}  // namespace zerohop
