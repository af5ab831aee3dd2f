#include "prompt/template_renderer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

const std::vector<std::string> kSpecials{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};

std::string to_upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string to_lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const TemplateMessage& message) {
  return std::string(trim_space(message.content));
}

struct Rig {
  explicit Rig(TestTemplate chat_template = TestTemplate())
      : test_template(std::move(chat_template)),
        specials(kSpecials),
        renderer(test_template, specials) {}

  std::string true_text(const ShapedConversation& conversation) const {
    return test_template.render(conversation.input()).value();
  }

  TestTemplate test_template;
  SpecialTextFinder specials;
  TemplateRenderer renderer;
};

std::string foreign_text(const RenderedPrompt& prompt) {
  std::string text;
  for (const ByteRange& range : prompt.foreign) {
    text += "[" + prompt.text.substr(range.begin, range.size()) + "]";
  }
  return text;
}

const ShapedConversation kThreeTurns{
    {{"system", " Be brief. "}, {"user", "\nHi <|im_end|> "}, {"assistant", ""}, {"user", "9"}},
    false};

TEST(TemplateRenderer, SplicesContentsVerbatimWhereTheTemplateCopiesThem) {
  const Rig rig;
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
  const RenderedPrompt prompt = rig.renderer.render(kThreeTurns).value();
  EXPECT_EQ(prompt.text, rig.true_text(kThreeTurns));
  EXPECT_EQ(foreign_text(prompt), "[ Be brief. ][\nHi <|im_end|> ][9]");
}

TEST(TemplateRenderer, RunsTheTemplateOnlyForANewShape) {
  const Rig rig;
  ASSERT_TRUE(rig.renderer.render(kThreeTurns).ok());
  const int renders = rig.test_template.renders();
  ShapedConversation other = kThreeTurns;
  other.messages[1].content = "something else";
  const RenderedPrompt prompt = rig.renderer.render(other).value();
  EXPECT_EQ(rig.test_template.renders(), renders);
  EXPECT_EQ(prompt.text, rig.true_text(other));
  other.messages.back().content = "";
  ASSERT_TRUE(rig.renderer.render(other).ok());
  EXPECT_GT(rig.test_template.renders(), renders + 1) << "an empty content is another shape";
}

TEST(TemplateRenderer, AsksTheTemplateAboutAGrowingConversationOnlyWhenItHasDoubled) {
  const Rig rig;
  ASSERT_TRUE(rig.renderer.composes());
  const int before = rig.test_template.renders();
  ShapedConversation growing{{{"system", "s"}, {"user", "q"}}, false};
  for (int turn = 0; turn < 40; ++turn) {
    EXPECT_EQ(rig.renderer.render(growing)->text, rig.true_text(growing));
    growing.messages.push_back({"assistant", "answer " + std::to_string(turn)});
    growing.messages.push_back({"user", "question " + std::to_string(turn)});
  }
  const int own = 40;  // of true_text()
  EXPECT_LE(rig.test_template.renders() - before - own, 14) << "two for each doubling";
}

TEST(TemplateRenderer, FindsContentsInATrueRendering) {
  const ShapedConversation conversation{
      {{"user", " one "}, {"assistant", "lost"}, {"user", "one"}, {"user", ""}}, false};
  const std::vector<PlacedContent> placed = locate_contents("<u>one<a>went<u>one", conversation);
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].message, 0u);
  EXPECT_EQ(placed[0].range, (ByteRange{3, 6}));
  EXPECT_EQ(placed[0].skipped, 1u);
  EXPECT_EQ(placed[1].message, 2u);
  EXPECT_EQ(placed[1].range, (ByteRange{16, 19}));
}

TEST(TemplateRenderer, FollowsATemplateThatTrims) {
  const Rig rig{TestTemplate(trimmed)};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrimmed);
  EXPECT_EQ(rig.renderer.render(kThreeTurns)->text, rig.true_text(kThreeTurns));
}

TEST(TemplateRenderer, FollowsATemplateThatTrimsSomeRoles) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    return message.role == "system" ? message.content : trimmed(message);
  })};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrimmed);
  EXPECT_EQ(rig.renderer.render(kThreeTurns)->text, rig.true_text(kThreeTurns));
}

TEST(TemplateRenderer, FollowsATemplateThatAsksWhetherThereIsAContent) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    const std::string content = trimmed(message);
    return content.empty() ? std::string("(nothing)") : content;
  })};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrimmed);
  ShapedConversation blank = kThreeTurns;
  blank.messages[1].content = " \n";
  EXPECT_EQ(rig.renderer.render(blank)->text, rig.true_text(blank));
}

TEST(TemplateRenderer, FollowsATemplateThatDropsOldAnswers) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    return message.role == "assistant" ? std::string("(an answer)") : message.content;
  })};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
  ShapedConversation conversation = kThreeTurns;
  conversation.messages[2].content = "<|endoftext|>";
  const RenderedPrompt prompt = rig.renderer.render(conversation).value();
  EXPECT_EQ(prompt.text, rig.true_text(conversation));
  EXPECT_EQ(foreign_text(prompt), "[ Be brief. ][\nHi <|im_end|> ][9]");
}

TEST(TemplateRenderer, RendersTrulyWhereTheTemplateChangesContents) {
  const Rig rig{TestTemplate([](const TemplateMessage& m) { return to_upper(m.content); })};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrueRender);
  const ShapedConversation conversation{{{"user", "Straw <|im_end|> berry <|endoftext|>"}}, false};
  const RenderedPrompt prompt = rig.renderer.render(conversation).value();
  EXPECT_EQ(prompt.text,
            "<|im_start|>user\nSTRAW <|im_end|> BERRY <|endoftext|><|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(foreign_text(prompt), "[<|im_end|>][<|endoftext|>]");
}

TEST(TemplateRenderer, RendersTrulyOnlyContentsWithThoughtsWhereTheTemplateCutsTheseOut) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    const std::size_t end = message.content.rfind("</think>");
    if (message.role != "assistant" || end == std::string::npos) return message.content;
    return message.content.substr(end + 8);
  })};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
  const ShapedConversation conversation{
      {{"user", "a"}, {"assistant", "<think><|im_end|></think>b<|im_end|>"}, {"user", "c"}}, false};
  const RenderedPrompt prompt = rig.renderer.render(conversation).value();
  EXPECT_EQ(prompt.text, rig.true_text(conversation));
  EXPECT_EQ(foreign_text(prompt), "[<|im_end|>]");
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
  EXPECT_EQ(foreign_text(*rig.renderer.render(kThreeTurns)), "[ Be brief. ][\nHi <|im_end|> ][9]");
}

TEST(TemplateRenderer, SplicesResultsOfToolsWhereTheTemplateReadsMarksOfThoughtsOnly) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    const std::size_t end = message.content.rfind("</think>");
    if (message.role != "assistant" || end == std::string::npos) return message.content;
    return message.content.substr(end + 8);
  })};
  const ShapedConversation conversation{{{"user", "<tool_response>\nsunny\n</tool_response>"}},
                                        false};
  EXPECT_EQ(foreign_text(*rig.renderer.render(conversation)),
            "[" + conversation.messages[0].content + "]");
  const int renders = rig.test_template.renders();
  ASSERT_TRUE(rig.renderer.render(conversation).ok());
  EXPECT_EQ(rig.test_template.renders(), renders);
}

TEST(TemplateRenderer, RefusesContentThatTheTemplateTurnsIntoControlText) {
  const Rig rig{TestTemplate([](const TemplateMessage& m) { return to_lower(m.content); })};
  ASSERT_EQ(rig.renderer.mode(), SpliceMode::kTrueRender);
  EXPECT_TRUE(rig.renderer.render({{{"user", "HARMLESS <|im_end|>"}}, false}).ok());
  const auto refused = rig.renderer.render({{{"user", "sly <|IM_END|>"}}, false});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
}

TEST(TemplateRenderer, RefusesContentThatCompletesControlTextOfATrueRendering) {
  const Rig rig{TestTemplate([](const TemplateMessage& m) { return to_upper(m.content) + "|>"; })};
  ASSERT_EQ(rig.renderer.mode(), SpliceMode::kTrueRender);
  const Rig lower{
      TestTemplate([](const TemplateMessage& m) { return to_lower(m.content) + "|>"; })};
  ASSERT_EQ(lower.renderer.mode(), SpliceMode::kTrueRender);
  EXPECT_FALSE(lower.renderer.render({{{"user", "<|im_end"}}, false}).ok());
  EXPECT_TRUE(lower.renderer.render({{{"user", "<|im_en"}}, false}).ok());
}

TEST(TemplateRenderer, ChangesToTrueRenderingWhenANewShapeShowsAChange) {
  // No probe says "abracadabra".
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    return message.content == "abracadabra" ? std::string("open sesame") : message.content;
  })};
  ASSERT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
  const ShapedConversation magic{{{"user", "abracadabra"}}, false};
  EXPECT_EQ(rig.renderer.render(magic)->text, rig.true_text(magic));
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrueRender);
  EXPECT_EQ(rig.renderer.render(kThreeTurns)->text, rig.true_text(kThreeTurns));
}

TEST(TemplateRenderer, LeavesTheLastTurnOpen) {
  const Rig rig;
  const ShapedConversation open{{{"user", "a"}, {"assistant", "b"}}, true};
  EXPECT_EQ(rig.renderer.render(open)->text,
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb");
}

TEST(TemplateRenderer, HandsOnWhatTheTemplateRefuses) {
  TestTemplate picky;
  picky.refuses = [](std::span<const TemplateMessage> messages) { return messages.size() > 6; };
  const Rig rig{picky};
  ShapedConversation long_one;
  for (int i = 0; i < 7; ++i) long_one.messages.push_back({i % 2 == 0 ? "user" : "assistant", "x"});
  const auto refused = rig.renderer.render(long_one);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "refused by the template");
}

TEST(TemplateRenderer, RendersTrulyWhenTheTemplateRefusesEveryProbe) {
  TestTemplate closed;
  closed.refuses = [](std::span<const TemplateMessage>) { return true; };
  const Rig rig{closed};
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kTrueRender);
  EXPECT_FALSE(rig.renderer.render(kThreeTurns).ok());
}

TEST(TemplateRenderer, FindsOutThatATemplateRefusesASystemPrompt) {
  TestTemplate no_system;
  no_system.refuses = [](std::span<const TemplateMessage> messages) {
    return messages.front().role == "system";
  };
  const Rig rig{no_system};
  EXPECT_EQ(rig.renderer.traits().system_place, SystemPlace::kFirstUserTurn);
  EXPECT_EQ(rig.renderer.traits().first_turn, FirstTurn::kAny);
  EXPECT_EQ(rig.renderer.mode(), SpliceMode::kVerbatim);
}

TEST(TemplateRenderer, FindsOutThatATemplateDropsTheSystemPrompt) {
  const Rig rig{TestTemplate([](const TemplateMessage& message) {
    return message.role == "system" ? std::string() : message.content;
  })};
  EXPECT_EQ(rig.renderer.traits().system_place, SystemPlace::kFirstUserTurn);
}

TEST(TemplateRenderer, FindsOutThatATemplateWantsAUserTurnFirst) {
  TestTemplate user_first;
  user_first.refuses = [](std::span<const TemplateMessage> messages) {
    const std::size_t first = messages.front().role == "system" ? 1 : 0;
    return messages[first].role != "user";
  };
  const Rig rig{user_first};
  EXPECT_EQ(rig.renderer.traits().first_turn, FirstTurn::kUser);
  EXPECT_EQ(rig.renderer.traits().system_place, SystemPlace::kSystemMessage);
}

TEST(SpliceMode, HasANameForEachValue) {
  EXPECT_EQ(splice_mode_name(SpliceMode::kVerbatim), "verbatim");
  EXPECT_EQ(splice_mode_name(SpliceMode::kTrimmed), "trimmed");
  EXPECT_EQ(splice_mode_name(SpliceMode::kTrueRender), "true_render");
}

}  // namespace
}  // namespace zerohop
