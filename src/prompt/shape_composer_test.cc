#include "prompt/shape_composer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

ShapedConversation of_shape(std::string_view letters) {
  ShapedConversation conversation;
  for (const char letter : letters) {
    if (letter == '+') {
      conversation.continue_last = true;
      break;
    }
    const char* role = letter == 's' ? "system" : letter == 'u' ? "user" : "assistant";
    conversation.messages.push_back({role, "x"});
  }
  return conversation;
}

// Writes something of its own making about the place of each message.
class TemplateOfPlaces final : public ChatTemplate {
 public:
  using Mark = std::string (*)(std::size_t index, std::size_t count);
  explicit TemplateOfPlaces(Mark mark) : mark_(mark) {}
  Result<std::string> render(const TemplateInput& input) const override {
    std::string text;
    for (std::size_t i = 0; i < input.messages.size(); ++i) {
      text += "<" + input.messages[i].role + mark_(i, input.messages.size()) + ">" +
              input.messages[i].content;
    }
    return text;
  }
  bool from_model() const override { return true; }

 private:
  Mark mark_;
};

TEST(ShapeComposer, GivesWhatTheTemplateGivesWithoutRunningIt) {
  const TestTemplate chat_template;
  const ShapeComposer composer(chat_template, {}, std::nullopt);
  ASSERT_TRUE(composer.knows_anything());
  const int renders = chat_template.renders();
  for (const std::string_view letters :
       {"su", "u", "suauauauauauauau", "uauauaua+", "suausauasus", "suaua+"}) {
    const auto composed = composer.compose(letters);
    ASSERT_TRUE(composed.has_value()) << letters;
    EXPECT_EQ(chat_template.renders(), renders);
    const ShapedConversation conversation = of_shape(letters);
    EXPECT_EQ(splice_contents(*composed, conversation, {}, nullptr),
              TestTemplate().render(conversation.input()).value())
        << letters;
  }
}

TEST(ShapeComposer, LeavesShapesThatItHasNotLearnedToTheTemplate) {
  const ShapeComposer composer(TestTemplate(), {}, std::nullopt);
  for (const std::string_view letters : {"", "sU", "suAu", "sut", "uuuau", "sa", "s"}) {
    EXPECT_FALSE(composer.compose(letters).has_value()) << letters;
  }
}

TEST(ShapeComposer, KnowsNothingOfATemplateThatCounts) {
  const auto number = [](std::size_t index, std::size_t) { return std::to_string(index); };
  EXPECT_FALSE(ShapeComposer(TemplateOfPlaces(number), {}, std::nullopt).knows_anything());
  const auto size = [](std::size_t, std::size_t count) { return std::to_string(count); };
  EXPECT_FALSE(ShapeComposer(TemplateOfPlaces(size), {}, std::nullopt).knows_anything());
  const auto late = [](std::size_t index, std::size_t) -> std::string {
    return index > 8 ? "late" : "";
  };
  EXPECT_FALSE(ShapeComposer(TemplateOfPlaces(late), {}, std::nullopt).knows_anything());
}

TEST(ShapeComposer, KnowsATemplateThatTreatsTheFrontInItsOwnWay) {
  const auto first = [](std::size_t index, std::size_t) -> std::string {
    return index == 0 ? " first" : "";
  };
  const ShapeComposer composer(TemplateOfPlaces(first), {}, std::nullopt);
  ASSERT_TRUE(composer.knows_anything());
  EXPECT_EQ(composer.compose("suau")->text, "<system first><user><assistant><user>");
}

TEST(ShapeComposer, KnowsNothingOfATemplateThatDropsOrMovesContents) {
  const TestTemplate drops([](const TemplateMessage& message) {
    return message.role == "assistant" ? std::string("gone") : message.content;
  });
  EXPECT_FALSE(ShapeComposer(drops, {}, std::nullopt).knows_anything());
}

}  // namespace
}  // namespace zerohop
