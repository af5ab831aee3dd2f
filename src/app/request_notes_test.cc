#include "app/request_notes.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

const std::vector<std::string> kAll{"channel", "tool"};

Conversation with_results() {
  Conversation conversation;
  const auto turn = [&conversation](Role role, std::vector<ContentBlock> content) {
    conversation.messages.push_back({role, std::move(content)});
  };
  turn(Role::kAssistant, {ToolUseBlock{"a", "search", "{}"}});
  turn(Role::kUser, {ToolResultBlock{"a", {}, false}});
  turn(Role::kAssistant, {ToolUseBlock{"b", "search", "{}"}, ToolUseBlock{"c", "clock", "{}"}});
  turn(Role::kUser, {ToolResultBlock{"b", {}, true}, ToolResultBlock{"c", {}, false},
                     ToolResultBlock{"unknown", {}, false}});
  return conversation;
}

TEST(NoteBody, TakesAllowedLabelsOnlyAndRedactsTheirValues) {
  RequestNotes notes;
  const RequestLabels labels{{"channel", "by jo@example.org"}, {"secret", "x"}};
  note_body(notes, {"{}", "m", &labels, nullptr}, kAll);
  EXPECT_EQ(notes.labels, (RequestLabels{{"channel", "by [email]"}}));
  EXPECT_EQ(notes.model, "m");
  EXPECT_NE(notes.fingerprint, 0u);
}

TEST(NoteBody, CountsToolResultsOfTheLastMessage) {
  RequestNotes notes;
  const Conversation conversation = with_results();
  note_body(notes, {"{}", "", nullptr, &conversation}, kAll);
  ASSERT_EQ(notes.tool_results.size(), 2u);
  EXPECT_EQ(notes.tool_results[0].tool, "search");
  EXPECT_FALSE(notes.tool_results[0].ok);
  EXPECT_EQ(notes.tool_results[1].tool, "clock");
  EXPECT_TRUE(notes.tool_results[1].ok);
}

TEST(NoteBody, LooksAtNoToolsUnlessAsked) {
  RequestNotes notes;
  const Conversation conversation = with_results();
  note_body(notes, {"{}", "", nullptr, &conversation}, std::vector<std::string>{"channel"});
  EXPECT_TRUE(notes.tool_results.empty());
}

TEST(NoteBody, GivesEqualBodiesEqualFingerprints) {
  RequestNotes one;
  RequestNotes two;
  RequestNotes three;
  note_body(one, {"{\"a\":1}", "", nullptr, nullptr}, {});
  note_body(two, {"{\"a\":1}", "", nullptr, nullptr}, {});
  note_body(three, {"{\"a\":2}", "", nullptr, nullptr}, {});
  EXPECT_EQ(one.fingerprint, two.fingerprint);
  EXPECT_NE(one.fingerprint, three.fingerprint);
}

}  // namespace
}  // namespace zerohop
