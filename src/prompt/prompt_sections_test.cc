// Where the parts of a prompt end, in tokens.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "model/fake_model.h"
#include "prompt/prompt_stage.h"
#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

struct Rig {
  explicit Rig(FakeTemplateSkills skills = {})
      : model(make_fake_model({.template_skills = skills})), stage(*model) {}

  PreparedPrompt prepare(const Conversation& conversation) const {
    return stage.prepare(conversation).value();
  }
  /// The prompt's text up to token `end`.
  std::string head(const PreparedPrompt& prompt, std::uint32_t end) const {
    return visible_text(model->tokenizer(), TokenSpan(prompt.tokens).first(end));
  }

  std::unique_ptr<Model> model;
  PromptStage stage;
};

TEST(PromptSections, EndTheSystemPromptBehindItsText) {
  const Rig rig;
  const PreparedPrompt prompt = rig.prepare({{{"You help."}}, {user("question")}});
  EXPECT_TRUE(rig.head(prompt, prompt.sections.system_end).ends_with("You help."));
  EXPECT_EQ(prompt.sections.tools_end, 0u);
}

TEST(PromptSections, AreNotThereWithoutTheirParts) {
  const Rig rig;
  const PreparedPrompt prompt = rig.prepare({{}, {user("question")}});
  EXPECT_EQ(prompt.sections.system_end, 0u);
  EXPECT_EQ(prompt.sections.tools_end, 0u);
}

TEST(PromptSections, EndToolsInFrontOfTheFirstTurn) {
  for (const bool native : {false, true}) {
    const Rig rig({.tools = native});
    const PreparedPrompt prompt =
        rig.prepare({{{"You help."}}, {user("question")}, {tool_named("look"), tool_named("go")}});
    const PromptSections& sections = prompt.sections;
    EXPECT_TRUE(rig.head(prompt, sections.system_end).ends_with("You help."));
    ASSERT_GT(sections.tools_end, sections.system_end);
    const std::string front = rig.head(prompt, sections.tools_end);
    EXPECT_NE(front.find("\"go\""), std::string::npos);
    EXPECT_EQ(front.find("question"), std::string::npos);
  }
}

TEST(PromptSections, StayTheSameWhenTheConversationGrows) {
  const Rig rig;
  Conversation conversation{{{"You help."}}, {user("one")}, {tool_named("look")}};
  const PromptSections before = rig.prepare(conversation).sections;
  conversation.messages.push_back(assistant("two"));
  conversation.messages.push_back(user("three"));
  const PromptSections after = rig.prepare(conversation).sections;
  EXPECT_EQ(after.system_end, before.system_end);
  EXPECT_EQ(after.tools_end, before.tools_end);
}

}  // namespace
}  // namespace zerohop
