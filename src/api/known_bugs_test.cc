// Faults that other servers and gateways had with Messages clients, each one turned into a test
// here. The number is the row of the compatibility table that the project keeps.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "api/anthropic_request.h"
#include "api/anthropic_stream_checker.h"
#include "api/error_body.h"

namespace zerohop {
namespace {

constexpr Usage kPrompt{
    .prompt_tokens = 90, .prompt_tokens_cached = 30, .prompt_tokens_marked = 50};

AnthropicRequest parsed(std::string_view body) {
  auto request = parse_messages_request(body, ParseOptions{});
  EXPECT_TRUE(request.ok()) << error_text(request.error());
  return request.ok() ? *std::move(request) : AnthropicRequest{};
}

std::string stream_of(const std::vector<Event>& events) {
  AnthropicStream stream({"msg_1", "m", "req_1"});
  std::string out;
  stream.append(0, Started{kPrompt}, out);
  for (const Event& event : events) stream.append(0, event, out);
  stream.append(0, Finished{FinishReason::kEndOfTurn, "", kPrompt}, out);
  return out;
}

// `type type …` of the blocks that a strict client sees; its complaint if it has one.
std::string blocks_of(const std::vector<Event>& events) {
  AnthropicStreamChecker checker;
  checker.feed(stream_of(events));
  if (!checker.fault().empty()) return checker.fault();
  std::string types;
  for (const SeenBlock& block : checker.blocks()) types += block.type + " ";
  return types;
}

TEST(KnownBugs, Row01SystemEntriesInMessagesAreAccepted) {
  const auto request = parsed(R"({"messages":[{"role":"user","content":"a"},
      {"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},
      {"role":"assistant","content":"b"},{"role":"system","content":"s"}]})");
  ASSERT_EQ(request.chat.conversation.messages.size(), 4u);
  EXPECT_EQ(request.chat.conversation.messages[1].role, Role::kSystem);
  EXPECT_EQ(request.chat.conversation.messages[3].role, Role::kSystem);
  EXPECT_TRUE(request.chat.conversation.system.empty()) << "hoisted to the front";
}

TEST(KnownBugs, Row04TextThenThinkingGetsANewIndex) {
  EXPECT_EQ(blocks_of({TextDelta{"a"}, ThinkingDelta{"b"}}), "text thinking ");
}

TEST(KnownBugs, Row05ACallWithoutTextInFrontHasIndexZero) {
  const std::string out = stream_of({ToolCallStarted{"t", "f"}, ToolCallDelta{"{}"}});
  EXPECT_NE(
      out.find(R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use")"),
      std::string::npos);
}

TEST(KnownBugs, Row07IndicesRunFromZeroWithoutGaps) {
  EXPECT_EQ(blocks_of({TextDelta{""}, ToolCallStarted{"t", "f"}, TextDelta{""}, TextDelta{"x"},
                       ToolCallStarted{"u", "g"}}),
            "tool_use text tool_use ");
}

TEST(KnownBugs, Row08EveryTimeItThinksIsABlockOfItsOwn) {
  EXPECT_EQ(blocks_of({ThinkingDelta{"a"}, TextDelta{"b"}, ThinkingDelta{"c"},
                       ToolCallStarted{"t", "f"}, ThinkingDelta{"d"}}),
            "thinking text thinking tool_use thinking ");
}

TEST(KnownBugs, Row10ThinkingIsInBothKindsOfReplies) {
  EXPECT_EQ(blocks_of({ThinkingDelta{"a"}}), "thinking ");
  AnthropicReply reply({"msg_1", "m", "r"});
  reply.add(0, Started{});
  reply.add(0, ThinkingDelta{"a"});
  reply.add(0, Finished{});
  EXPECT_NE(reply.body().find(R"({"type":"thinking","thinking":"a","signature":")"),
            std::string::npos);
}

TEST(KnownBugs, Row11ThinkingOfEarlierTurnsReachesThePrompt) {
  const auto request = parsed(R"({"messages":[{"role":"user","content":"a"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
      {"type":"tool_use","id":"t","name":"f","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]})");
  const auto& blocks = request.chat.conversation.messages.at(1).content;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(std::get<ThinkingBlock>(blocks[0]).text, "hm");
}

TEST(KnownBugs, Row13MessageStartCountsTheInput) {
  const std::string out = stream_of({TextDelta{"x"}});
  const std::string start = out.substr(0, out.find("\n\n"));
  EXPECT_NE(start.find(R"("usage":{"input_tokens":40,)"), std::string::npos) << start;
}

TEST(KnownBugs, Row14InputCountersAreDisjoint) {
  EXPECT_NE(stream_of({}).find(R"("input_tokens":40,"cache_creation_input_tokens":20,)"
                               R"("cache_read_input_tokens":30)"),
            std::string::npos);
}

TEST(KnownBugs, Row16BothEventsCarryTheCacheCounters) {
  const std::string out = stream_of({});
  const std::string counters = R"("cache_creation_input_tokens":20,"cache_read_input_tokens":30)";
  const std::size_t first = out.find(counters);
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(first, out.find("event: message_delta"));
  EXPECT_GT(out.rfind(counters), out.find("event: message_delta"));
}

TEST(KnownBugs, Row17ATurnWithACallEndsForItAndHasNoEmptyText) {
  const std::string out = stream_of({TextDelta{""}, ToolCallStarted{"t", "f"}});
  EXPECT_NE(out.find(R"("stop_reason":"tool_use")"), std::string::npos);
  EXPECT_EQ(out.find(R"("type":"text")"), std::string::npos);
}

TEST(KnownBugs, Row22ImagesInsideToolResultsBecomeNotes) {
  const auto request = parsed(R"({"messages":[{"role":"user","content":[{"type":"tool_result",
      "tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","data":")" +
                              std::string(16'000, 'A') + R"(","media_type":"image/png"}},
      {"type":"image","source":{"type":"url","url":"https://x/y.png"}}]}]}]})");
  const auto& result =
      std::get<ToolResultBlock>(request.chat.conversation.messages.at(0).content.at(0));
  ASSERT_EQ(result.content.size(), 2u);
  EXPECT_EQ(std::get<TextBlock>(result.content[0]).text,
            "[image: image/png, 12 kB; this model cannot see images]");
  EXPECT_EQ(std::get<TextBlock>(result.content[1]).text,
            "[image: https://x/y.png; this model cannot see images]");
}

TEST(KnownBugs, Row23DeferredToolsAndReferencesAreUnderstood) {
  const auto request = parsed(R"({"tools":[{"name":"f","defer_loading":true,"input_schema":{}}],
      "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[
      {"type":"tool_reference","tool_name":"f"}]}]}]})");
  EXPECT_TRUE(request.chat.conversation.tools.at(0).deferred);
  const auto& result =
      std::get<ToolResultBlock>(request.chat.conversation.messages.at(0).content.at(0));
  EXPECT_EQ(std::get<ToolReferenceBlock>(result.content.at(0)).tool_name, "f");
}

TEST(KnownBugs, Row34AToolChoiceWithoutToolsMeansNothing) {
  const auto request = parsed(R"({"tools":[],"tool_choice":{"type":"tool","name":"gone"},
      "messages":[{"role":"user","content":"title?"}]})");
  EXPECT_EQ(request.chat.conversation.tool_choice.kind, ToolChoiceKind::kAuto);
}

TEST(KnownBugs, Row35OverflowTextsAreTheExactOnes) {
  EXPECT_EQ(error_text(prompt_too_long(9'000, 8'192)),
            "prompt is too long: 9000 tokens > 8192 maximum");
  EXPECT_EQ(error_text(prompt_and_output_too_long({8'000, 500, 8'192})),
            "input length and `max_tokens` exceed context limit: 8000 + 500 > 8192, decrease input "
            "length or `max_tokens` and try again");
  EXPECT_EQ(error_text(max_tokens_too_large(9'000, 4'096, "small")),
            "max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens for "
            "small");
}

}  // namespace
}  // namespace zerohop
