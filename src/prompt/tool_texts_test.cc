#include "prompt/tool_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constrain/json_text.h"
#include "prompt/prompt_test_model.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

TEST(ToolTexts, WriteAToolAsOneLineOfJson) {
  ToolDefinition tool = tool_named("look", "Says \"it\".\nTwo lines.");
  EXPECT_EQ(tool_line(tool),
            R"({"name": "look", "description": "Says \"it\".\nTwo lines.", "parameters": )"
            R"({"type":"object","properties":{"city":{"type":"string"}}}})");
  EXPECT_TRUE(is_json(tool_line(tool)));
  tool.description.clear();
  EXPECT_EQ(tool_line(tool).find("description"), std::string::npos);
}

TEST(ToolTexts, TellTheModelItsToolsAndTheFormOfACall) {
  const std::vector<ToolDefinition> tools{tool_named("look"), tool_named("go")};
  const std::string text = tool_preamble(tools);
  EXPECT_LT(text.find(tool_line(tools[0]) + "\n" + tool_line(tools[1]) + "\n"),
            text.find(default_tool_syntax().open));
  EXPECT_NE(text.find("<tool_response name="), std::string::npos);
}

TEST(ToolTexts, LeaveDeferredToolsOutOfThePreamble) {
  std::vector<ToolDefinition> tools{tool_named("look"), tool_named("hidden")};
  tools[1].deferred = true;
  EXPECT_EQ(tool_preamble(tools), tool_preamble(std::vector<ToolDefinition>{tools[0]}));
  tools[0].deferred = true;
  const std::string none = tool_preamble(tools);
  EXPECT_EQ(none.find("\"look\""), std::string::npos);
  EXPECT_NE(none.find(default_tool_syntax().open), std::string::npos);
}

TEST(ToolTexts, ShowTheToolAndTheErrorOfAResponse) {
  EXPECT_EQ(tool_response({"look", "sunny"}),
            "<tool_response name=\"look\">\nsunny\n</tool_response>");
  EXPECT_EQ(tool_response({"a\"b\nc", "x", true}),
            "<tool_response name=\"a&quot;b c\" error=\"true\">\nx\n</tool_response>");
}

TEST(ToolTexts, JoinThePartsOfAResultAndResolveReferences) {
  const std::vector<ToolDefinition> tools{tool_named("look")};
  const ToolResultBlock result{
      .tool_use_id = "t",
      .content = {TextBlock{"found"}, ToolReferenceBlock{"look"}, ToolReferenceBlock{"gone"},
                  DocumentBlock{.title = "T", .context = {}, .text = "page", .pdf = {}}}};
  EXPECT_EQ(result_text(result, tools),
            "found\n\nThis tool is available now:\n" + tool_line(tools[0]) +
                "\n\nThis tool is available now:\ngone\n\n<document title=\"T\">\npage\n"
                "</document>");
}

TEST(ToolTexts, WriteADocumentWithWhatIsKnownOfIt) {
  EXPECT_EQ(document_text({.title = "A \"B\"", .context = "from me", .text = "x", .pdf = {}}),
            "<document title=\"A &quot;B&quot;\" context=\"from me\">\nx\n</document>");
  EXPECT_EQ(document_text({.title = {}, .context = {}, .text = "x", .pdf = {}}),
            "<document>\nx\n</document>");
}

TEST(ToolTexts, SayHowTheAnswerMustLook) {
  EXPECT_EQ(output_instruction({}), "");
  EXPECT_NE(output_instruction({OutputFormat::kJson, {}}), "");
  const std::string schema = R"({"type":"object"})";
  EXPECT_TRUE(output_instruction({OutputFormat::kJsonSchema, schema}).ends_with(schema));
}

}  // namespace
}  // namespace zerohop
