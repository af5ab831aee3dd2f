#include "prompt/prompt_habits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

const std::string kHeader = "x-anthropic-billing-header: cc_version=2.1.332.abc; cch=12ab;";

PromptHabits patterns(std::vector<std::string> list) {
  return {.strip_billing_header = true, .volatile_patterns = std::move(list)};
}

TEST(PromptHabits, StripTheBillingLineInFrontOfTheSystemPrompt) {
  Conversation conversation{{{kHeader}, {"Be brief."}}, {user("a")}};
  EXPECT_EQ(apply_prompt_habits({}, conversation).billing_headers, 1u);
  EXPECT_EQ(conversation.system[0].text, "");
  EXPECT_EQ(conversation.system[1].text, "Be brief.");

  Conversation one_block{{{kHeader + "\n\nBe brief."}}, {user("a")}};
  EXPECT_EQ(apply_prompt_habits({}, one_block).billing_headers, 1u);
  EXPECT_EQ(one_block.system[0].text, "Be brief.");

  Conversation as_entry{{}, {system_entry(kHeader + "\r\nBe brief."), user("a")}};
  EXPECT_EQ(apply_prompt_habits({}, as_entry).billing_headers, 1u);
  EXPECT_EQ(std::get<TextBlock>(as_entry.messages[0].content[0]).text, "Be brief.");
}

TEST(PromptHabits, LeaveTheBillingLineWhereItIsWantedOrSomewhereElse) {
  const Conversation original{{{"Be brief."}, {kHeader}}, {user(kHeader)}};
  Conversation conversation = original;
  EXPECT_EQ(apply_prompt_habits({}, conversation).billing_headers, 0u);
  EXPECT_EQ(conversation.system[1].text, kHeader);
  Conversation wanted{{{kHeader}}, {user("a")}};
  EXPECT_EQ(apply_prompt_habits({.strip_billing_header = false}, wanted).billing_headers, 0u);
  EXPECT_EQ(wanted.system[0].text, kHeader);
}

TEST(PromptHabits, MoveWhatFitsAPatternBehindEverything) {
  Conversation conversation{{{"Be brief.\nCurrent time: 12:03:11\nBe kind. Today is Monday."}},
                            {user("Current time: none")}};
  const HabitCounts counts =
      apply_prompt_habits(patterns({"Current time: *", "Today is *."}), conversation);
  EXPECT_EQ(conversation.system[0].text, "Be brief.\nBe kind. ");
  EXPECT_EQ(conversation.volatile_context, "Current time: 12:03:11\nToday is Monday.");
  EXPECT_EQ(counts.moved, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(std::get<TextBlock>(conversation.messages[0].content[0]).text, "Current time: none");
}

TEST(PromptHabits, MakeSystemPromptsEqualThatDifferInVolatileTextOnly) {
  const PromptHabits habits = patterns({"Current time: \xe2\x80\xa6"});
  Conversation one{{{"a\nCurrent time: 1\n\nb"}}, {user("q")}};
  Conversation two{{{"a\nCurrent time: 22:22\n\nb"}}, {user("q")}};
  apply_prompt_habits(habits, one);
  apply_prompt_habits(habits, two);
  EXPECT_EQ(one.system[0].text, "a\n\nb");
  EXPECT_EQ(one.system[0].text, two.system[0].text);
}

TEST(PromptHabits, FollowTheContextThatIsThereAlready) {
  Conversation conversation{{{"Time: 1"}}, {user("q")}};
  conversation.volatile_context = "in Rome";
  apply_prompt_habits(patterns({"Time: *"}), conversation);
  EXPECT_EQ(conversation.volatile_context, "in Rome\nTime: 1");
}

TEST(PromptHabits, KeepAMatchOnOneLine) {
  Conversation conversation{{{"from a\nto b"}}, {user("q")}};
  EXPECT_EQ(apply_prompt_habits(patterns({"from * to *"}), conversation).moved[0], 0u);
  EXPECT_EQ(conversation.system[0].text, "from a\nto b");
}

TEST(PromptHabits, TakeEveryMatchAndNeverMatchNothing) {
  Conversation conversation{{{"id=1 id=2\nid=3"}}, {user("q")}};
  const HabitCounts counts = apply_prompt_habits(patterns({"*", "", "id=", "**"}), conversation);
  EXPECT_EQ(counts.moved, (std::vector<std::uint32_t>{0, 0, 3, 0}));
  EXPECT_EQ(conversation.system[0].text, "1 2\n3");
}

TEST(PromptHabits, LeaveTextWithoutAMatchByteForByte) {
  const std::string text = "a\r\n\n  b\n";
  Conversation conversation{{{text}}, {user("q")}};
  apply_prompt_habits(patterns({"zzz*"}), conversation);
  EXPECT_EQ(conversation.system[0].text, text);
  EXPECT_EQ(conversation.volatile_context, "");
}

}  // namespace
}  // namespace zerohop
