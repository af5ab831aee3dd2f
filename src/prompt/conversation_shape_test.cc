#include "prompt/conversation_shape.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

using Turns = std::vector<std::pair<std::string, std::string>>;

const TemplateTraits kNoSystem{SystemPlace::kFirstUserTurn, FirstTurn::kAny};
const TemplateTraits kUserFirst{SystemPlace::kSystemMessage, FirstTurn::kUser};

Turns turns_of(const ShapedConversation& shaped) {
  Turns turns;
  for (const TemplateMessage& message : shaped.messages) {
    turns.emplace_back(message.role, message.content);
  }
  return turns;
}

ShapedConversation shape(std::vector<Message> messages, std::vector<TextBlock> system = {},
                         const TemplateTraits& traits = {}) {
  return shape_conversation({std::move(system), std::move(messages)}, traits);
}

Turns turns(std::vector<Message> messages, std::vector<TextBlock> system = {},
            const TemplateTraits& traits = {}) {
  return turns_of(shape(std::move(messages), std::move(system), traits));
}

TEST(ConversationShape, KeepsAPlainConversation) {
  EXPECT_EQ(turns({user("a"), assistant("b"), user("c")}, {{"s"}}),
            (Turns{{"system", "s"}, {"user", "a"}, {"assistant", "b"}, {"user", "c"}}));
}

TEST(ConversationShape, JoinsBlocksByABlankLineAndSkipsEmptyOnes) {
  EXPECT_EQ(turns({message_of(Role::kUser, {"", "a", "", "b", ""})}, {{"s"}, {""}, {"t"}}),
            (Turns{{"system", "s\n\nt"}, {"user", "a\n\nb"}}));
}

TEST(ConversationShape, MergesTurnsOfOneRole) {
  EXPECT_EQ(turns({user("a"), user("b"), assistant("c"), assistant("d"), user("e")}),
            (Turns{{"user", "a\n\nb"}, {"assistant", "c\n\nd"}, {"user", "e"}}));
}

TEST(ConversationShape, DoesNotDependOnHowTheClientGroupsItsText) {
  const Turns expected = turns({user("a"), user("b"), user("c")});
  EXPECT_EQ(turns({message_of(Role::kUser, {"a", "b", "c"})}), expected);
  EXPECT_EQ(turns({message_of(Role::kUser, {"a", "b"}), user("c")}), expected);
}

TEST(ConversationShape, KeepsAnEmptyTurnInTheMiddle) {
  EXPECT_EQ(turns({user("a"), assistant(""), user("b")}),
            (Turns{{"user", "a"}, {"assistant", ""}, {"user", "b"}}));
}

TEST(ConversationShape, LeavesOutAnEmptySystemPrompt) {
  EXPECT_EQ(turns({user("a")}, {{""}}), (Turns{{"user", "a"}}));
}

TEST(ConversationShape, TakesLeadingSystemEntriesAsTheSystemPrompt) {
  EXPECT_EQ(turns({system_entry("s"), system_entry("t"), user("a")}),
            (Turns{{"system", "s\n\nt"}, {"user", "a"}}));
}

TEST(ConversationShape, FoldsALeadingSystemEntryWhenThereIsASystemPrompt) {
  EXPECT_EQ(turns({system_entry("t"), user("a")}, {{"s"}}),
            (Turns{{"system", "s"}, {"user", "<system-reminder>\nt\n</system-reminder>\n\na"}}));
}

TEST(ConversationShape, FoldsASystemEntryAtTheEndIntoTheUserTurn) {
  const ShapedConversation shaped = shape({user("a"), system_entry("r")});
  EXPECT_EQ(turns_of(shaped), (Turns{{"user", "a\n\n<system-reminder>\nr\n</system-reminder>"}}));
  EXPECT_FALSE(shaped.continue_last);
}

TEST(ConversationShape, GivesEqualTextForASystemEntryAsStringOrBlocks) {
  EXPECT_EQ(turns({user("a"), message_of(Role::kSystem, {"r"})}),
            turns({user("a"), message_of(Role::kSystem, {"r", ""})}));
}

TEST(ConversationShape, NeverHoistsALaterSystemEntry) {
  const Turns before = turns({user("a"), assistant("b"), user("c")}, {{"s"}});
  const Turns after =
      turns({user("a"), assistant("b"), user("c"), assistant("d"), system_entry("r")}, {{"s"}});
  EXPECT_EQ(Turns(after.begin(), after.begin() + 4), before);
  EXPECT_EQ(after.back(), (std::pair<std::string, std::string>{
                              "user", "<system-reminder>\nr\n</system-reminder>"}));
}

TEST(ConversationShape, GivesASystemEntryBetweenAssistantTurnsATurnOfItsOwn) {
  EXPECT_EQ(turns({user("a"), assistant("b"), system_entry("r"), assistant("c")}),
            (Turns{{"user", "a"},
                   {"assistant", "b"},
                   {"user", "<system-reminder>\nr\n</system-reminder>"},
                   {"assistant", "c"}}));
}

TEST(ConversationShape, GeneratesATurnAfterAnEmptySystemEntryToo) {
  const ShapedConversation shaped = shape({user("a"), assistant("b"), system_entry("")});
  EXPECT_EQ(turns_of(shaped), (Turns{{"user", "a"}, {"assistant", "b"}, {"user", ""}}));
  EXPECT_FALSE(shaped.continue_last);
}

TEST(ConversationShape, ContinuesALastAssistantTurnWithoutItsTrailingSpace) {
  const ShapedConversation shaped = shape({user("a"), assistant("  The answer: \n")});
  EXPECT_EQ(turns_of(shaped), (Turns{{"user", "a"}, {"assistant", "  The answer:"}}));
  EXPECT_TRUE(shaped.continue_last);
}

TEST(ConversationShape, TakesAnEmptyPrefillAsNone) {
  for (const char* prefill : {"", " \n\t"}) {
    const ShapedConversation shaped = shape({user("a"), assistant(prefill)});
    EXPECT_EQ(turns_of(shaped), (Turns{{"user", "a"}}));
    EXPECT_FALSE(shaped.continue_last);
  }
}

TEST(ConversationShape, KeepsTrailingSpaceOfEarlierAssistantTurns) {
  EXPECT_EQ(turns({user("a"), assistant("b "), user("c")})[1].second, "b ");
}

TEST(ConversationShape, LetsAnAssistantOpenWhereTheTemplateCan) {
  EXPECT_EQ(turns({assistant("b"), user("a")}), (Turns{{"assistant", "b"}, {"user", "a"}}));
  EXPECT_EQ(turns({assistant("b"), user("a")}, {}, kUserFirst),
            (Turns{{"user", ""}, {"assistant", "b"}, {"user", "a"}}));
  EXPECT_EQ(turns({user("a")}, {}, kUserFirst), (Turns{{"user", "a"}}));
}

TEST(ConversationShape, PutsTheSystemPromptIntoTheFirstUserTurnWhereItMust) {
  EXPECT_EQ(turns({user("a")}, {{"s"}}, kNoSystem), (Turns{{"user", "s\n\na"}}));
  EXPECT_EQ(turns({assistant("b"), user("a")}, {{"s"}}, kNoSystem),
            (Turns{{"user", "s"}, {"assistant", "b"}, {"user", "a"}}));
}

TEST(ConversationShape, IsNeverEmpty) {
  EXPECT_EQ(turns({assistant("")}), (Turns{{"user", ""}}));
  EXPECT_EQ(turns({system_entry("")}), (Turns{{"user", ""}}));
  EXPECT_EQ(turns({system_entry("s")}), (Turns{{"system", "s"}}));
}

TEST(TrimSpace, TakesTheBytesOfIsspaceOnly) {
  EXPECT_EQ(trim_space(" \t\n\v\f\ra b\r\n"), "a b");
  EXPECT_EQ(trim_space("\xc2\xa0x\xc2\xa0"), "\xc2\xa0x\xc2\xa0");
  EXPECT_EQ(trim_space(" \n"), "");
  EXPECT_EQ(trim_space_left("  a "), "a ");
  EXPECT_EQ(trim_space_right("  a "), "  a");
}

TEST(ShapeConversation, FillsInTheDefaultSystemPromptOnlyWhereThereIsNone) {
  Conversation conversation;
  conversation.messages.push_back(Message{Role::kUser, {TextBlock{"hi"}}});
  const auto with_default = shape_conversation(conversation, {}, "be kind");
  ASSERT_EQ(with_default.messages.size(), 2u);
  EXPECT_EQ(with_default.messages[0].role, "system");
  EXPECT_EQ(with_default.messages[0].content, "be kind");
  EXPECT_EQ(shape_conversation(conversation, {}).messages.size(), 1u);
  conversation.system.push_back(TextBlock{"be strict"});
  EXPECT_EQ(shape_conversation(conversation, {}, "be kind").messages[0].content, "be strict");
}

}  // namespace
}  // namespace zerohop
