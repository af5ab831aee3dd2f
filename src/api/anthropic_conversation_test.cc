#include "api/anthropic_conversation.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "api/error_body.h"

namespace zerohop {
namespace {

Result<Conversation> parse(std::string_view body, Strictness strictness = Strictness::kLenient) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  const ParseOptions options{.strictness = strictness};
  ZH_ASSIGN_OR_RETURN(AnthropicConversation read, parse_anthropic_conversation(root, options));
  read.conversation.tools = std::move(read.tools.definitions);
  return std::move(read.conversation);
}

std::string complaint(std::string_view body, Strictness strictness = Strictness::kLenient) {
  const auto parsed = parse(body, strictness);
  return parsed.ok() ? "" : error_text(parsed.error());
}

// A conversation of one user message with this content.
std::string user(std::string_view content) {
  return R"({"messages":[{"role":"user","content":)" + std::string(content) + "}]}";
}
std::string user_block(std::string_view block) { return user("[" + std::string(block) + "]"); }

// `role:text|text` per message, after `system:` blocks; one line a message.
std::string outline(const Result<Conversation>& parsed) {
  if (!parsed.ok()) return error_text(parsed.error());
  std::string text;
  for (const TextBlock& block : parsed->system) text += "system block:" + block.text + "\n";
  for (const Message& message : parsed->messages) {
    text += message.role == Role::kUser        ? "user:"
            : message.role == Role::kAssistant ? "assistant:"
                                               : "system:";
    for (const ContentBlock& block : message.content) {
      const auto* words = std::get_if<TextBlock>(&block);
      const auto* thought = std::get_if<ThinkingBlock>(&block);
      const auto* result = std::get_if<ToolResultBlock>(&block);
      if (words != nullptr) text += words->text;
      if (thought != nullptr) text += "(" + thought->text + ")";
      if (result != nullptr) text += "=" + result->tool_use_id;
      text += "|";
    }
    text += "\n";
  }
  return text;
}

TEST(AnthropicConversation, ReadsStringsAndBlocksAlike) {
  EXPECT_EQ(outline(parse(user("\"Hi\""))), "user:Hi|\n");
  EXPECT_EQ(outline(parse(user(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"))),
            "user:a|b|\n");
}

TEST(AnthropicConversation, KeepsTurnsOfTheSameRoleApartAndInOrder) {
  EXPECT_EQ(outline(parse(R"({"messages":[
      {"role":"assistant","content":"first"},{"role":"user","content":"a"},
      {"role":"user","content":"b"},{"role":"system","content":"rule"}]})")),
            "assistant:first|\nuser:a|\nuser:b|\nsystem:rule|\n");
}

TEST(AnthropicConversation, ReadsSystemAsStringOrBlocks) {
  EXPECT_EQ(outline(parse(R"({"system":"s","messages":[{"role":"user","content":"a"}]})")),
            "system block:s\nuser:a|\n");
  EXPECT_EQ(outline(parse(R"({"system":[{"type":"text","text":"s"},{"type":"text","text":""},
      {"type":"text","text":"t"}],"messages":[{"role":"user","content":"a"}]})")),
            "system block:s\nsystem block:t\nuser:a|\n");
  EXPECT_EQ(outline(parse(R"({"system":"","messages":[{"role":"user","content":"a"}]})")),
            "user:a|\n");
}

TEST(AnthropicConversation, DropsEmptyTextButKeepsTheMessage) {
  EXPECT_EQ(outline(parse(user("\"\""))), "user:\n");
  EXPECT_EQ(outline(parse(user("[]"))), "user:\n");
  EXPECT_EQ(outline(parse(user_block(R"({"type":"text","text":""})"))), "user:\n");
}

TEST(AnthropicConversation, KeepsThinkingOfReplayedAssistantTurnsUnlessItCannotBeRead) {
  EXPECT_EQ(outline(parse(R"({"messages":[{"role":"user","content":"q"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
      {"type":"redacted_thinking","data":"xx"},{"type":"text","text":"a"}]},
      {"role":"user","content":"r"}]})")),
            "user:q|\nassistant:(hm)|a|\nuser:r|\n");
}

TEST(AnthropicConversation, DropsThinkingThatCameWithoutItsText) {
  EXPECT_EQ(outline(parse(R"({"messages":[{"role":"assistant","content":[
      {"type":"thinking","thinking":"","signature":"x"},{"type":"text","text":"a"}]},
      {"role":"user","content":"r"}]})")),
            "assistant:a|\nuser:r|\n");
}

TEST(AnthropicConversation, RefusesThinkingInOtherRoles) {
  EXPECT_EQ(complaint(user_block(R"({"type":"thinking","thinking":"hm"})")),
            "messages[0].content[0].type: thinking content is allowed in assistant messages only");
}

TEST(AnthropicConversation, KeepsNulAndEveryOtherCharacter) {
  const auto parsed = parse(user(R"("a\u0000b\ud83c\udf0d")"));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(std::get<TextBlock>(parsed->messages[0].content[0]).text,
            std::string("a\0b\xf0\x9f\x8c\x8d", 7));
}

TEST(AnthropicConversation, TrimsWhiteSpaceAtTheEndOfAPrefill) {
  const auto prefill = [](std::string_view content) {
    return R"({"messages":[{"role":"user","content":"q "},{"role":"assistant","content":)" +
           std::string(content) + "}]}";
  };
  EXPECT_EQ(outline(parse(prefill(R"("Answer: \n")"))), "user:q |\nassistant:Answer:|\n");
  EXPECT_EQ(
      outline(parse(prefill(R"([{"type":"text","text":"a "},{"type":"text","text":" \t"}])"))),
      "user:q |\nassistant:a|\n");
  EXPECT_EQ(outline(parse(prefill(R"("  ")"))), "user:q |\nassistant:\n");
  EXPECT_EQ(outline(parse(prefill(R"("tight")"))), "user:q |\nassistant:tight|\n");
  EXPECT_EQ(complaint(prefill(R"("Answer: ")"), Strictness::kStrict),
            "messages: the final assistant message must not end with white space");
}

TEST(AnthropicConversation, LeavesWhiteSpaceOfEarlierAssistantTurnsAlone) {
  EXPECT_EQ(outline(parse(R"({"messages":[{"role":"assistant","content":"a "},
      {"role":"user","content":"b "}]})")),
            "assistant:a |\nuser:b |\n");
}

TEST(AnthropicConversation, WantsMessages) {
  EXPECT_EQ(complaint("{}"), "messages: is required");
  EXPECT_EQ(complaint(R"({"messages":null})"), "messages: is required");
  EXPECT_EQ(complaint(R"({"messages":[]})"), "messages: at least one message is required");
  EXPECT_EQ(complaint(R"({"messages":"Hi"})"), "messages: must be an array, got \"Hi\"");
  EXPECT_EQ(complaint(R"({"messages":{}})"), "messages: must be an array, got an object");
}

TEST(AnthropicConversation, BoundsTheNumberOfMessages) {
  std::string body = R"({"messages":[{"role":"user","content":""})";
  for (int i = 1; i < 100'000; ++i) body += R"(,{"role":"user","content":""})";
  EXPECT_EQ(complaint(body + "]}"), "");
  EXPECT_EQ(complaint(body + R"(,{"role":"user","content":""}]})"),
            "messages: must have at most 100000 entries, got 100001");
}

TEST(AnthropicConversation, WantsARoleItKnows) {
  EXPECT_EQ(complaint(R"({"messages":["Hi"]})"), "messages[0]: must be an object, got \"Hi\"");
  EXPECT_EQ(complaint(R"({"messages":[{"content":"x"}]})"), "messages[0].role: is required");
  EXPECT_EQ(complaint(R"({"messages":[{"role":5,"content":"x"}]})"),
            "messages[0].role: must be a string, got 5");
  EXPECT_EQ(complaint(R"({"messages":[{"role":"user","content":"x"},{"role":"bot"}]})"),
            "messages[1].role: must be \"user\", \"assistant\" or \"system\", got \"bot\"");
}

TEST(AnthropicConversation, WantsContentItCanRead) {
  EXPECT_EQ(complaint(R"({"messages":[{"role":"user"}]})"), "messages[0].content: is required");
  EXPECT_EQ(complaint(user("null")), "messages[0].content: is required");
  EXPECT_EQ(complaint(user("5")),
            "messages[0].content: must be a string or an array of content blocks, got 5");
  EXPECT_EQ(complaint(user(R"({"type":"text","text":"x"})")),
            "messages[0].content: must be a string or an array of content blocks, got an object");
  EXPECT_EQ(complaint(user(R"(["x"])")), "messages[0].content[0]: must be an object, got \"x\"");
  EXPECT_EQ(complaint(user_block(R"({"text":"x"})")), "messages[0].content[0].type: is required");
  EXPECT_EQ(complaint(user_block(R"({"type":7})")),
            "messages[0].content[0].type: must be a string, got 7");
  EXPECT_EQ(complaint(user_block(R"({"type":"text"})")),
            "messages[0].content[0].text: is required");
  EXPECT_EQ(complaint(user_block(R"({"type":"text","text":["x"]})")),
            "messages[0].content[0].text: must be a string, got an array");
}

TEST(AnthropicConversation, NamesContentNobodyKnows) {
  EXPECT_EQ(complaint(user_block(R"({"type":"hologram"})")),
            "messages[0].content[0].type: must be a known content type, got \"hologram\"");
}

TEST(AnthropicConversation, NamesThePlaceInsideSystem) {
  EXPECT_EQ(complaint(R"({"system":5,"messages":[]})"),
            "system: must be a string or an array of content blocks, got 5");
  EXPECT_EQ(complaint(R"({"system":[{"type":"image"}],"messages":[]})"),
            "system[0].type: image content is not allowed in system prompts");
  EXPECT_EQ(complaint(R"({"system":[{"type":"thinking"}],"messages":[]})"),
            "system[0].type: thinking content is not allowed in system prompts");
}

TEST(AnthropicConversation, StrictModeRefusesEmptyTextBlocks) {
  EXPECT_EQ(complaint(user_block(R"({"type":"text","text":""})"), Strictness::kStrict),
            "messages[0].content[0].text: must not be empty");
}

TEST(AnthropicConversation, SystemEntriesMayHoldSettingsInPlaceOfContent) {
  EXPECT_EQ(outline(parse(R"({"messages":[{"role":"user","content":"a"},
      {"role":"system","output_config":{"effort":"low"}}]})")),
            "user:a|\nsystem:\n");
  EXPECT_EQ(complaint(R"({"messages":[{"role":"system"}]})"), "messages[0].content: is required");
  EXPECT_EQ(complaint(R"({"messages":[{"role":"system","output_config":5}]})"),
            "messages[0].output_config: must be an object, got 5");
}

TEST(AnthropicConversation, PassingNotesAreGoneAfterTheNextUserMessage) {
  EXPECT_EQ(outline(parse(R"({"messages":[{"role":"user","content":"a"},
      {"role":"system","content":"now","clear_at":"next_user_message"},
      {"role":"system","content":"always","clear_at":"never"},
      {"role":"assistant","content":"b"},{"role":"user","content":"c"},
      {"role":"system","content":"still","clear_at":"next_user_message"}]})")),
            "user:a|\nsystem:\nsystem:always|\nassistant:b|\nuser:c|\nsystem:still|\n");
  EXPECT_EQ(complaint(R"({"messages":[{"role":"system","content":"x","clear_at":"noon"}]})"),
            "messages[0].clear_at: must be \"never\" or \"next_user_message\", got \"noon\"");
}

TEST(AnthropicConversation, StrictModeRefusesEmptyMessagesButTheLastPrefill) {
  const auto strictly = [](std::string_view body) { return complaint(body, Strictness::kStrict); };
  EXPECT_EQ(strictly(user("\"\"")),
            "messages[0].content: all messages must have non-empty content except for the optional "
            "final assistant message");
  EXPECT_EQ(strictly(R"({"messages":[{"role":"user","content":"q"},
      {"role":"assistant","content":""}]})"),
            "");
}

TEST(AnthropicConversation, PutsResultsInFrontOfWhatElseTheUserSays) {
  EXPECT_EQ(outline(parse(user(R"([{"type":"text","text":"a"},
      {"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"b"},
      {"type":"tool_result","tool_use_id":"u"}])"))),
            "user:=t|=u|a|b|\n");
}

}  // namespace
}  // namespace zerohop
