#include "prompt/live_values.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using Texts = std::vector<std::string>;

Conversation orders() {
  Conversation conversation;
  ToolDefinition tool;
  tool.name = "cancel";
  tool.live_arguments = true;
  tool.input_schema =
      R"({"type":"object","properties":{"order_id":{"type":"string"},"count":{"type":"integer"},)"
      R"("reason":{"enum":["late","broken"]}}})";
  conversation.tools.push_back(tool);
  return conversation;
}

void user_says(Conversation& conversation, std::string text) {
  conversation.messages.push_back({Role::kUser, {TextBlock{std::move(text)}}});
}

Texts values(const Conversation& conversation, std::string_view argument) {
  for (const SoftRule& rule : live_values(conversation).rules) {
    if (rule.argument == argument) return rule.values;
  }
  return {};
}

TEST(LiveValues, AreFoundInTextsOfTheUser) {
  Conversation conversation = orders();
  user_says(conversation, "Cancel order_id: A-17, please. Order ID \"B-2\"! The count=3 of them.");
  EXPECT_EQ(values(conversation, "order_id"), (Texts{"\"A-17\"", "\"B-2\""}));
  EXPECT_EQ(values(conversation, "count"), Texts{"3"});
  EXPECT_EQ(values(conversation, "reason"), Texts{});
}

TEST(LiveValues, AreFavouredAsMuchAsTheirToolAsks) {
  Conversation conversation = orders();
  user_says(conversation, "Cancel order_id: A-17, please.");
  ASSERT_EQ(live_values(conversation).rules.size(), 1u);
  EXPECT_EQ(live_values(conversation).rules[0].bias, 2.5f);
  for (ToolDefinition& tool : conversation.tools) tool.live_bias = 7;
  EXPECT_EQ(live_values(conversation).rules[0].bias, 7.0f);
}

TEST(LiveValues, AreNoWordsThatHappenToFollowAName) {
  Conversation conversation = orders();
  user_says(conversation, "What is an order_id good for? border_id: X1; my count: many");
  EXPECT_TRUE(live_values(conversation).rules.empty());
}

TEST(LiveValues, AreFoundInCallsAndResults) {
  Conversation conversation = orders();
  ToolUseBlock call;
  call.name = "cancel";
  call.input = R"({"order_id":"C-1"})";
  conversation.messages.push_back({Role::kAssistant, {call}});
  ToolResultBlock result;
  result.content.emplace_back(TextBlock{R"({"list":[{"order_id":"D-4","count":2}]})"});
  conversation.messages.push_back({Role::kUser, {result}});
  EXPECT_EQ(values(conversation, "order_id"), (Texts{"\"D-4\"", "\"C-1\""}));
  EXPECT_EQ(values(conversation, "count"), Texts{"2"});
}

TEST(LiveValues, ThatAnEnumDoesNotHaveAreConflicts) {
  Conversation conversation = orders();
  user_says(conversation, "reason: late, or reason: ugly");
  EXPECT_EQ(values(conversation, "reason"), Texts{"\"late\""});
  const LiveValues live = live_values(conversation);
  ASSERT_EQ(live.conflicts.size(), 1u);
  EXPECT_EQ(live.conflicts[0].tool, "cancel");
  EXPECT_EQ(live.conflicts[0].argument, "reason");
  EXPECT_EQ(live.conflicts[0].value, "\"ugly\"");
}

// Two tools with an argument of the same name: what one was called with is neither likely for the
// other nor a conflict with its enum; what the user says is for both.
TEST(LiveValues, OfOneToolsCallsAreNoValuesOfAnother) {
  Conversation conversation = orders();
  ToolDefinition rate = conversation.tools[0];
  rate.name = "rate";
  rate.input_schema =
      R"({"type":"object","properties":{"order_id":{"type":"string"},"reason":{"enum":["good"]}}})";
  conversation.tools.push_back(rate);
  ToolUseBlock call;
  call.name = "cancel";
  call.input = R"({"order_id":"C-1","reason":"late"})";
  conversation.messages.push_back({Role::kAssistant, {call}});
  LiveValues live = live_values(conversation);
  for (const SoftRule& rule : live.rules) EXPECT_EQ(rule.tool, "cancel") << rule.argument;
  EXPECT_EQ(live.rules.size(), 2u);
  EXPECT_TRUE(live.conflicts.empty());
  user_says(conversation, "order_id: U-1");
  live = live_values(conversation);
  ASSERT_EQ(live.rules.size(), 3u);
  EXPECT_EQ(live.rules[2].tool, "rate");
  EXPECT_EQ(live.rules[2].values, Texts{"\"U-1\""});
}

TEST(LiveValues, AreOnlyLookedForWhereAToolAsks) {
  Conversation conversation = orders();
  conversation.tools[0].live_arguments = false;
  user_says(conversation, "order_id: A-17");
  EXPECT_TRUE(live_values(conversation).rules.empty());
}

TEST(LiveValues, AreFew) {
  Conversation conversation = orders();
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "order_id: N" + std::to_string(i) + "\n";
  user_says(conversation, text);
  EXPECT_EQ(values(conversation, "order_id").size(), kLiveValuesMax);
}

}  // namespace
}  // namespace zerohop
