#include "prompt/parameter_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prompt/output_planner.h"
#include "prompt/prompt_test_model.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

std::vector<ToolDefinition> tools(const std::vector<std::pair<std::string, std::string>>& all) {
  std::vector<ToolDefinition> made;
  for (const auto& [name, schema] : all) {
    ToolDefinition tool;
    tool.name = name;
    tool.input_schema = schema;
    made.push_back(std::move(tool));
  }
  return made;
}

class Maker {
 public:
  explicit Maker(std::size_t bytes_max) : cache_(bytes_max) {}

  Result<ParameterCache::Offered> get(const std::vector<ToolDefinition>& of) {
    return cache_.get(of, [&]() -> Result<ParameterCache::Offered> {
      ++made;
      auto offered = std::make_shared<OfferedTools>();
      for (const ToolDefinition& tool : of) {
        if (tool.name == "odd") return invalid_request("tools", "no such name");
        offered->push_back({tool.name, parameter_kinds(tool.input_schema)});
      }
      return std::shared_ptr<const OfferedTools>(std::move(offered));
    });
  }
  std::size_t kept() const { return cache_.size(); }

  int made = 0;

 private:
  ParameterCache cache_;
};

TEST(ParameterCache, ReadsTheSameToolsOnce) {
  Maker maker(1'000);
  const auto both = tools({{"a", R"({"properties":{"x":{"type":"string"}}})"}, {"b", "{}"}});
  const auto first = maker.get(both);
  const auto again = maker.get(both);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(maker.made, 1);
  EXPECT_EQ((**again)[0].parameters.of("x"), ParameterKind::kString);
}

TEST(ParameterCache, TellsToolsApart) {
  Maker maker(1'000);
  for (const auto& set :
       {tools({{"a", "{}"}, {"b", "{}"}}), tools({{"b", "{}"}, {"a", "{}"}}), tools({{"a", "{}"}}),
        tools({{"a", "true"}}), tools({}), tools({{"a2 {}", ""}}), tools({{"a", "2 {}"}})}) {
    const auto offered = maker.get(set);
    ASSERT_TRUE(offered.ok());
    EXPECT_EQ((*offered)->size(), set.size());
  }
  EXPECT_EQ(maker.made, 7);
}

TEST(ParameterCache, KeepsNoError) {
  Maker maker(1'000);
  EXPECT_FALSE(maker.get(tools({{"odd", "{}"}})).ok());
  EXPECT_FALSE(maker.get(tools({{"odd", "{}"}})).ok());
  EXPECT_EQ(maker.made, 2);
  EXPECT_EQ(maker.kept(), 0u);
}

TEST(ParameterCache, DropsWhatWasNotUsedForLongest) {
  const std::string schema = "{" + std::string(30, ' ') + "}";  // a key has 37 bytes
  Maker maker(80);
  const auto a = tools({{"a", schema}});
  const auto b = tools({{"b", schema}});
  const auto c = tools({{"c", schema}});
  for (const auto& set : {a, b, a, c, a}) ASSERT_TRUE(maker.get(set).ok());
  EXPECT_EQ(maker.made, 3);
  EXPECT_EQ(maker.kept(), 2u);
  ASSERT_TRUE(maker.get(b).ok());
  EXPECT_EQ(maker.made, 4);
  // What is larger than everything allowed is made each time.
  const auto large = tools({{"d", std::string(100, ' ')}});
  ASSERT_TRUE(maker.get(large).ok());
  EXPECT_EQ(maker.kept(), 2u);
}

// Turn by turn the same tools: their schemas are read once.
TEST(ParameterCache, ServesThePlansOfAConversation) {
  const SeamTokenizer model_tokenizer;
  const GuardedTokenizer tokenizer(model_tokenizer);
  for (const ToolSyntax& syntax : tool_syntax_table()) {
    if (syntax.kind != ToolSyntaxKind::kTagged) continue;
    const TemplateTraits traits{.native_tools = &syntax};
    const OutputPlanner planner(traits, tokenizer);
    Conversation conversation;
    conversation.tools = tools({{"look", R"({"properties":{"x":{"type":"integer"}}})"}});
    const auto offered = [&] {
      RenderedPrompt prompt;
      const auto plan = planner.plan(conversation, {}, prompt);
      EXPECT_TRUE(plan.ok());
      return plan.ok() ? plan->offered : nullptr;
    };
    const auto first = offered();
    ASSERT_NE(first, nullptr) << syntax.id;
    EXPECT_EQ(first->front().parameters.of("x"), ParameterKind::kJson);
    EXPECT_EQ(offered(), first) << syntax.id;
    conversation.tools.front().input_schema = "{}";
    const auto other = offered();
    EXPECT_NE(other, first) << syntax.id;
    EXPECT_EQ(other->front().parameters.of("x"), ParameterKind::kOpen);
  }
}

}  // namespace
}  // namespace zerohop
