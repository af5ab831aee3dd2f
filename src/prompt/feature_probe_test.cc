#include "prompt/feature_probe.h"

#include <gtest/gtest.h>

#include <string>

#include "model/fake_text.h"
#include "prompt/prompt_test_model.h"
#include "prompt/template_probe.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

const std::vector<std::string> kSpecials{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};

TemplateTraits traits_of(const ChatTemplate& chat_template) {
  return probe_traits(chat_template, SpecialTextFinder(kSpecials));
}

// Hermes-like, with one habit out of the ordinary.
class OddTemplate final : public ChatTemplate {
 public:
  enum class Habit { kShoutsDescriptions, kNoResults, kStrayMarks };
  explicit OddTemplate(Habit habit) : habit_(habit) {}

  Result<std::string> render(const TemplateInput& input) const override {
    std::vector<TemplateMessage> messages(input.messages.begin(), input.messages.end());
    std::vector<TemplateTool> tools(input.tools.begin(), input.tools.end());
    for (TemplateTool& tool : tools) {
      if (habit_ != Habit::kShoutsDescriptions) continue;
      for (char& c : tool.description) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    for (TemplateMessage& message : messages) {
      if (habit_ == Habit::kNoResults && message.role == "tool") message.content.clear();
      if (habit_ == Habit::kStrayMarks && message.role == "assistant") {
        message.content = "<answer>" + message.reasoning + "<end>" + message.content;
        message.reasoning.clear();
      }
    }
    TemplateInput changed = input;
    changed.messages = messages;
    changed.tools = tools;
    return FakeChatTemplate({.tools = true}).render(changed);
  }
  bool from_model() const override { return true; }

 private:
  const Habit habit_;
};

TEST(FeatureProbe, FindsNothingInAPlainTemplate) {
  const TemplateTraits traits = traits_of(FakeChatTemplate());
  EXPECT_EQ(traits.native_tools, nullptr);
  EXPECT_FALSE(traits.takes_reasoning);
  EXPECT_FALSE(traits.thinking_switch);
  EXPECT_FALSE(traits.thinking.has_value());
  EXPECT_EQ(traits.system_entries, SystemEntries::kInPlace);
}

TEST(FeatureProbe, FindsTheFormOfToolCalls) {
  const TemplateTraits traits = traits_of(FakeChatTemplate({.tools = true}));
  ASSERT_NE(traits.native_tools, nullptr);
  EXPECT_EQ(traits.native_tools->id, default_tool_syntax().id);
  EXPECT_EQ(traits.tool_ids, ToolIds::kAny);
  EXPECT_EQ(traits.calls_of_a_turn, CallsOfATurn::kMany);
  EXPECT_EQ(traits.user_after_tool, UserAfterTool::kAllowed);
}

TEST(FeatureProbe, FindsTagsAndSwitchOfThinking) {
  const TemplateTraits traits = traits_of(FakeChatTemplate({.thinking = true}));
  EXPECT_TRUE(traits.takes_reasoning);
  EXPECT_TRUE(traits.thinking_switch);
  EXPECT_EQ(traits.thinking, (ThinkingTags{"<think>", "</think>"}));
}

TEST(FeatureProbe, DoesNotTakeATemplateThatMakesControlTextOfDescriptions) {
  EXPECT_EQ(traits_of(OddTemplate(OddTemplate::Habit::kShoutsDescriptions)).native_tools, nullptr);
}

TEST(FeatureProbe, DoesNotTakeATemplateThatDropsResults) {
  EXPECT_EQ(traits_of(OddTemplate(OddTemplate::Habit::kNoResults)).native_tools, nullptr);
}

TEST(FeatureProbe, TakesNoMarkOfOrdinaryAnswersForOneOfThoughts) {
  const TemplateTraits traits = traits_of(OddTemplate(OddTemplate::Habit::kStrayMarks));
  EXPECT_TRUE(traits.takes_reasoning);
  EXPECT_FALSE(traits.thinking.has_value());
}

TEST(FeatureProbe, FindsTagsOfBothKindsOfBrackets) {
  EXPECT_EQ(tags_around("a<think>\nHM\n</think>b", "HM"), (ThinkingTags{"<think>", "</think>"}));
  EXPECT_EQ(tags_around("[THINK]HM[/THINK]", "HM"), (ThinkingTags{"[THINK]", "[/THINK]"}));
  EXPECT_EQ(tags_around("so HM it is", "HM"), std::nullopt);
  EXPECT_EQ(tags_around("<think>HM", "HM"), std::nullopt);
  EXPECT_EQ(tags_around("nothing", "HM"), std::nullopt);
}

}  // namespace
}  // namespace zerohop
