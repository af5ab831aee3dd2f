// How tools, results, documents, thoughts and rules become messages; through shape_conversation().
#include "prompt/turn_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "prompt/prompt_test_model.h"
#include "prompt/tool_syntax.h"
#include "prompt/tool_texts.h"

namespace zerohop {
namespace {

TemplateTraits native_traits() {
  TemplateTraits traits;
  traits.native_tools = &default_tool_syntax();
  return traits;
}

// A question, two calls in one turn, their results in the other order and a further question.
Conversation two_calls() {
  Conversation conversation{{{"s"}}, {user("q")}, {tool_named("look"), tool_named("go")}};
  conversation.messages.push_back(
      {Role::kAssistant,
       {ThinkingBlock{"hm"}, TextBlock{"I look."}, call_of("c1", "look"), call_of("c2", "go")}});
  ToolResultBlock failed = result_of("c2", "broken");
  failed.is_error = true;
  conversation.messages.push_back(
      {Role::kUser, {failed, TextBlock{"and now?"}, result_of("c1", "sunny")}});
  return conversation;
}

std::string roles_of(const ShapedConversation& shaped) {
  std::string letters;
  for (const TemplateMessage& message : shaped.messages) letters += message.role.front();
  return letters;
}

TEST(TurnWriter, WritesCallsAndResultsAsTextWhereTheTemplateKnowsNone) {
  const ShapedConversation shaped = shape_conversation(two_calls(), {});
  ASSERT_EQ(roles_of(shaped), "suau");
  EXPECT_EQ(shaped.messages[0].content, "s\n\n" + tool_preamble(two_calls().tools));
  EXPECT_EQ(shaped.messages[2].content,
            "I look.\n" + write_tool_call(default_tool_syntax(), "look", R"({"city":"Rome"})") +
                "\n" + write_tool_call(default_tool_syntax(), "go", R"({"city":"Rome"})"));
  EXPECT_EQ(shaped.messages[3].content,
            "<tool_response name=\"look\">\nsunny\n</tool_response>\n\n"
            "<tool_response name=\"go\" error=\"true\">\nbroken\n</tool_response>\n\nand now?");
  EXPECT_FALSE(shaped.is_rich());
  EXPECT_EQ(shaped.messages[2].reasoning, "");
}

TEST(TurnWriter, GivesCallsAndResultsToATemplateThatKnowsThem) {
  TemplateTraits traits = native_traits();
  traits.takes_reasoning = true;
  const ShapedConversation shaped = shape_conversation(two_calls(), traits);
  ASSERT_EQ(roles_of(shaped), "suattu");
  EXPECT_EQ(shaped.messages[0].content, "s");
  ASSERT_EQ(shaped.tools.size(), 2u);
  const TemplateMessage& turn = shaped.messages[2];
  EXPECT_EQ(turn.content, "I look.");
  EXPECT_EQ(turn.reasoning, "hm");
  ASSERT_EQ(turn.tool_calls.size(), 2u);
  EXPECT_EQ(turn.tool_calls[0].name, "look");
  EXPECT_EQ(turn.tool_calls[0].arguments, R"({"city":"Rome"})");
  EXPECT_EQ(shaped.messages[3].tool_call_id, "c1");
  EXPECT_EQ(shaped.messages[3].tool_name, "look");
  EXPECT_EQ(shaped.messages[3].content, "sunny");
  EXPECT_EQ(shaped.messages[4].content, "Error: broken");
  EXPECT_EQ(shaped.messages[5].content, "and now?");
  EXPECT_TRUE(shaped.is_rich());
}

TEST(TurnWriter, GivesEachCallATurnWhereATurnMayMakeOne) {
  TemplateTraits traits = native_traits();
  traits.calls_of_a_turn = CallsOfATurn::kOne;
  const ShapedConversation shaped = shape_conversation(two_calls(), traits);
  ASSERT_EQ(roles_of(shaped), "suatatu");
  EXPECT_EQ(shaped.messages[2].tool_calls.size(), 1u);
  EXPECT_EQ(shaped.messages[3].content, "sunny");
  ASSERT_EQ(shaped.messages[4].tool_calls.size(), 1u);
  EXPECT_EQ(shaped.messages[4].tool_calls[0].name, "go");
  EXPECT_EQ(shaped.messages[5].content, "Error: broken");
}

TEST(TurnWriter, KeepsTextBesideAResultThatRefusesAUserTurn) {
  TemplateTraits traits = native_traits();
  traits.user_after_tool = UserAfterTool::kRefused;
  Conversation conversation = two_calls();
  conversation.volatile_context = "noon";
  const ShapedConversation shaped = shape_conversation(conversation, traits);
  ASSERT_EQ(roles_of(shaped), "suatt");
  EXPECT_EQ(shaped.messages[4].content, "Error: broken\n\nand now?\n\n<context>\nnoon\n</context>");
}

TEST(TurnWriter, MakesIdsThatATemplateTakes) {
  EXPECT_EQ(template_call_id("toolu_1", ToolIds::kAny), "toolu_1");
  const std::string id = template_call_id("toolu_1", ToolIds::kNineCharacters);
  EXPECT_EQ(id.size(), 9u);
  EXPECT_TRUE(std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c); }));
  EXPECT_EQ(template_call_id("toolu_1", ToolIds::kNineCharacters), id);
  EXPECT_NE(template_call_id("toolu_2", ToolIds::kNineCharacters), id);
}

TEST(TurnWriter, WritesAResultWithoutItsCallAsText) {
  Conversation conversation{{}, {user("q")}, {tool_named("look")}};
  conversation.messages.push_back({Role::kUser, {result_of("nobody", "x")}});
  const ShapedConversation shaped = shape_conversation(conversation, native_traits());
  ASSERT_EQ(roles_of(shaped), "u");
  EXPECT_EQ(shaped.messages[0].content,
            "<tool_response name=\"nobody\">\nx\n</tool_response>\n\nq");
}

TEST(TurnWriter, CollectsResultsOutOfSeveralUserMessages) {
  Conversation conversation = two_calls();
  conversation.messages.pop_back();
  conversation.messages.push_back({Role::kUser, {result_of("c2", "two")}});
  conversation.messages.push_back({Role::kUser, {result_of("c1", "one")}});
  const ShapedConversation shaped = shape_conversation(conversation, native_traits());
  ASSERT_EQ(roles_of(shaped), "suatt");
  EXPECT_EQ(shaped.messages[3].content, "one");
  EXPECT_EQ(shaped.messages[4].content, "two");
}

TEST(TurnWriter, DoesNotContinueACall) {
  for (const TemplateTraits& traits : {TemplateTraits{}, native_traits()}) {
    Conversation conversation = two_calls();
    conversation.messages.pop_back();
    const ShapedConversation shaped = shape_conversation(conversation, traits);
    EXPECT_EQ(roles_of(shaped), "sua");
    EXPECT_FALSE(shaped.continue_last);
  }
}

TEST(TurnWriter, HidesToolsThatMayNotBeCalled) {
  Conversation conversation = two_calls();
  conversation.tool_choice.kind = ToolChoiceKind::kNone;
  EXPECT_EQ(shape_conversation(conversation, {}).messages[0].content, "s");
  EXPECT_TRUE(shape_conversation(conversation, native_traits()).tools.empty());
}

TEST(TurnWriter, LeavesDeferredToolsToTheResultsThatNameThem) {
  Conversation conversation{{{"s"}}, {user("q")}, {tool_named("search"), tool_named("late")}};
  conversation.tools[1].deferred = true;
  const std::vector<ShapedConversation> before{shape_conversation(conversation, {}),
                                               shape_conversation(conversation, native_traits())};
  conversation.messages.push_back({Role::kAssistant, {call_of("c", "search")}});
  conversation.messages.push_back(
      {Role::kUser,
       {ToolResultBlock{.tool_use_id = "c", .content = {ToolReferenceBlock{"late"}}}}});
  for (const TemplateTraits& traits : {TemplateTraits{}, native_traits()}) {
    const ShapedConversation after = shape_conversation(conversation, traits);
    const ShapedConversation& first = before[traits.native_tools == nullptr ? 0 : 1];
    EXPECT_EQ(after.messages[0].content, first.messages[0].content);
    EXPECT_EQ(after.tools.size(), first.tools.size());
    EXPECT_NE(after.messages.back().content.find(tool_line(conversation.tools[1])),
              std::string::npos);
  }
}

TEST(TurnWriter, PutsDocumentsInTheirPlace) {
  Conversation conversation{{}, {}};
  conversation.messages.push_back(
      {Role::kUser,
       {TextBlock{"a"}, DocumentBlock{.title = "T", .context = {}, .text = "d", .pdf = {}},
        TextBlock{"b"}}});
  EXPECT_EQ(shape_conversation(conversation, {}).messages[0].content,
            "a\n\n<document title=\"T\">\nd\n</document>\n\nb");
}

TEST(TurnWriter, PutsRulesForTheAnswerBehindToolsAndFactsBehindTheLastUserTurn) {
  Conversation conversation = two_calls();
  conversation.output.format = OutputFormat::kJson;
  conversation.volatile_context = "noon";
  conversation.messages.push_back(assistant("{"));
  const ShapedConversation shaped = shape_conversation(conversation, {});
  ASSERT_EQ(roles_of(shaped), "suaua");
  EXPECT_EQ(shaped.messages[0].content, "s\n\n" + tool_preamble(conversation.tools) + "\n\n" +
                                            output_instruction(conversation.output));
  EXPECT_TRUE(shaped.messages[3].content.ends_with("and now?\n\n<context>\nnoon\n</context>"));
  EXPECT_TRUE(shaped.continue_last);
}

TEST(TurnWriter, KeepsSystemEntriesInPlaceWhereTheTemplateShowsThemThere) {
  TemplateTraits traits;
  traits.system_entries = SystemEntries::kInPlace;
  const Conversation conversation{{{"s"}},
                                  {user("a"), system_entry("r"), assistant("b"), system_entry(""),
                                   user("c"), system_entry("t")}};
  const ShapedConversation shaped = shape_conversation(conversation, traits);
  EXPECT_EQ(roles_of(shaped), "susaus");
  EXPECT_EQ(shaped.messages[2].content, "r");
  EXPECT_EQ(shaped.messages[5].content, "t");
  // At the front it would become a part of the system prompt.
  EXPECT_EQ(roles_of(shape_conversation({{{"s"}}, {system_entry("r"), user("a")}}, traits)), "su");
}

TEST(TurnWriter, TurnsTheSwitchForThinkingOffUnlessAskedTo) {
  TemplateTraits traits;
  EXPECT_EQ(shape_conversation({{}, {user("a")}}, traits).thinking, std::nullopt);
  traits.thinking_switch = true;
  Conversation conversation{{}, {user("a")}, {tool_named("look")}};
  EXPECT_EQ(shape_conversation(conversation, traits).thinking, false);
  conversation.thinking = ThinkingMode::kEnabled;
  EXPECT_EQ(shape_conversation(conversation, traits).thinking, true);
  conversation.tool_choice.kind = ToolChoiceKind::kAny;
  EXPECT_EQ(shape_conversation(conversation, traits).thinking, false);
}

TEST(TurnWriter, NotesWhereTheCacheMarkLies) {
  Conversation conversation = two_calls();
  const auto mark = [&](CacheMark place) {
    conversation.cache_mark = place;
    return shape_conversation(conversation, {}).mark.value_or(ShapedMark{99, 0});
  };
  using Place = CacheMark::Place;
  const std::string front = shape_conversation(conversation, {}).messages[0].content;
  EXPECT_EQ(mark({Place::kSystem, 0, 0}).message, 0u);
  EXPECT_EQ(mark({Place::kSystem, 0, 0}).offset, front.size());
  EXPECT_EQ(mark({Place::kTools, 0, 0}).offset, front.size());
  EXPECT_EQ(mark({Place::kMessage, 0, 0}).message, 1u);
  EXPECT_EQ(mark({Place::kMessage, 0, 0}).offset, 1u);
  EXPECT_EQ(mark({Place::kMessage, 1, 1}).offset, 7u) << "behind the text, in front of the calls";
  const std::string last = shape_conversation(conversation, {}).messages[3].content;
  EXPECT_EQ(mark({Place::kMessage, 2, 0}).offset, last.size() - 10) << "the second result shown";
  EXPECT_EQ(mark({Place::kMessage, 2, 3}).offset, last.size());
}

TEST(CheckDocuments, NamesTheDocumentThatHasNoText) {
  Conversation conversation{{}, {user("a")}};
  EXPECT_TRUE(check_documents(conversation).ok());
  const DocumentBlock pdf{.title = {}, .context = {}, .text = {}, .pdf = "%PDF-"};
  conversation.messages.push_back({Role::kUser, {TextBlock{"b"}, pdf}});
  const Result<void> direct = check_documents(conversation);
  ASSERT_FALSE(direct.ok());
  EXPECT_EQ(direct.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(direct.error().field, "messages[1].content[1].source");
  conversation.messages[1].content = {
      ToolResultBlock{.tool_use_id = "t", .content = {TextBlock{"x"}, pdf}}};
  EXPECT_EQ(check_documents(conversation).error().field,
            "messages[1].content[0].content[1].source");
}

}  // namespace
}  // namespace zerohop
