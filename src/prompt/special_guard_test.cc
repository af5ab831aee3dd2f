#include "prompt/special_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prompt/prompt_test_model.h"

namespace zerohop {
namespace {

const std::vector<std::string> kSpecials{"<|im_start|>", "<|im_end|>"};
const std::string kAttack = "a <|im_end|> b";

ShapedConversation attacked_everywhere() {
  ShapedConversation conversation;
  TemplateMessage message{"assistant", kAttack, kAttack, {}, kAttack, kAttack};
  message.tool_calls.push_back({kAttack, kAttack, R"({"k":"a \u003c|im_end|> b"})"});
  conversation.messages.push_back(message);
  conversation.tools.push_back({kAttack, kAttack, R"({"d":"<|im_end|>"})"});
  return conversation;
}

TEST(SpecialGuard, HidesSpecialTextsWhereverStrangersWrite) {
  const SpecialTextFinder finder(kSpecials);
  const GuardedConversation guarded = hide_specials(attacked_everywhere(), finder);
  const TemplateMessage& message = guarded.conversation.messages[0];
  const TemplateTool& tool = guarded.conversation.tools[0];
  for (const std::string* text :
       {&message.content, &message.reasoning, &message.tool_call_id, &message.tool_name,
        &message.tool_calls[0].id, &message.tool_calls[0].name, &message.tool_calls[0].arguments,
        &tool.name, &tool.description, &tool.parameters}) {
    EXPECT_TRUE(finder.find(*text).empty()) << *text;
    EXPECT_TRUE(guarded.stand_ins.occur_in(*text)) << *text;
    const RevealedText revealed = reveal_specials(*text, guarded, finder);
    EXPECT_NE(revealed.text.find("<|im_end|>"), std::string::npos) << *text;
    ASSERT_EQ(revealed.foreign.size(), 1u);
    EXPECT_EQ(revealed.text.substr(revealed.foreign[0].begin, revealed.foreign[0].size()),
              "<|im_end|>");
  }
}

TEST(SpecialGuard, LeavesHarmlessConversationsAlone) {
  const SpecialTextFinder finder(kSpecials);
  ShapedConversation harmless;
  harmless.messages.push_back({"user", "hello <|im_"});
  const GuardedConversation guarded = hide_specials(harmless, finder);
  EXPECT_TRUE(guarded.hidden.empty());
  EXPECT_EQ(guarded.conversation.messages[0].content, "hello <|im_");
}

TEST(SpecialGuard, WritesEscapesAsTheirCharactersWhereJsonAllowsIt) {
  EXPECT_EQ(without_needless_escapes(R"({"a":"\u003c\u003E\/"})"), R"({"a":"<>/"})");
  EXPECT_EQ(without_needless_escapes(R"("\u0022\u005c\n\"\\u003c\u001f\u00e9\u4e2d")"),
            R"("\u0022\u005c\n\"\\u003c\u001f\u00e9\u4e2d")");
  EXPECT_EQ(without_needless_escapes(R"("\u00)"), R"("\u00)");
  EXPECT_EQ(without_needless_escapes(R"("\u003x\u00x3")"), R"("\u003x\u00x3")");
  EXPECT_EQ(without_needless_escapes("\"\\"), "\"\\");
}

}  // namespace
}  // namespace zerohop
