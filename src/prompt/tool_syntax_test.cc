#include "prompt/tool_syntax.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

constexpr ToolCallProbe kProbe{"zh_probe", "zh_key", "zh value"};

std::string id_of(const ToolSyntax* row) { return row == nullptr ? "none" : std::string(row->id); }

TEST(ToolSyntax, HasTheDefaultFirst) {
  EXPECT_EQ(write_tool_call(default_tool_syntax(), "f", "{\"a\":1}"),
            "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>");
}

TEST(ToolSyntax, WritesEachForm) {
  const std::string input = "{\"city\":\"Oslo\",\"days\":3}";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"llama-3", "{\"name\": \"f\", \"parameters\": {\"city\":\"Oslo\",\"days\":3}}"},
      {"llama-3.1-function", "<function=f>{\"city\":\"Oslo\",\"days\":3}</function>"},
      {"mistral", "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"city\":\"Oslo\",\"days\":3}}]"},
      {"mistral-v11", "[TOOL_CALLS]f[ARGS]{\"city\":\"Oslo\",\"days\":3}"},
      {"deepseek-v3",
       "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n"
       "{\"city\":\"Oslo\",\"days\":3}\n```<｜tool▁call▁end｜>"},
      {"deepseek-v3.1",
       "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"city\":\"Oslo\",\"days\":3}<｜tool▁call▁end｜>"},
      {"qwen3-coder",
       "<tool_call>\n<function=f>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n"
       "</parameter>\n</function>\n</tool_call>"},
      {"glm-4.5",
       "<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n"
       "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>"},
      {"harmony",
       "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
       "{\"city\":\"Oslo\",\"days\":3}<|call|>"},
      {"command-r",
       "<|START_ACTION|>[{\"tool_name\": \"f\", \"parameters\": "
       "{\"city\":\"Oslo\",\"days\":3}}]<|END_ACTION|>"},
      {"kimi-k2",
       "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
       "{\"city\":\"Oslo\",\"days\":3}<|tool_call_end|>"},
  };
  for (const auto& [id, text] : cases) {
    const ToolSyntax* row = find_tool_syntax(id);
    ASSERT_NE(row, nullptr) << id;
    EXPECT_EQ(write_tool_call(*row, "f", input), text);
  }
}

TEST(ToolSyntax, WritesSeveralCallsIntoOneSectionOrArray) {
  const std::vector<ToolCallText> calls = {{"f", "{}"}, {"g", "{\"a\":1}"}};
  EXPECT_EQ(write_tool_calls(default_tool_syntax(), calls),
            "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"g\", \"arguments\": {\"a\":1}}\n</tool_call>");
  EXPECT_EQ(write_tool_calls(*find_tool_syntax("mistral"), calls),
            "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, "
            "{\"name\": \"g\", \"arguments\": {\"a\":1}}]");
  EXPECT_EQ(write_tool_calls(*find_tool_syntax("deepseek-v3.1"), calls),
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
            "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{\"a\":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>");
  EXPECT_EQ(write_tool_calls(default_tool_syntax(), {}), "");
}

TEST(ToolSyntax, BeginsEachFormAsItWritesIt) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    const std::vector<ToolCallText> calls = {{"zh_f", "{\"a\":\"b\"}"}};
    const std::string whole = write_tool_calls(row, calls);
    const std::string name = write_call_up_to_name(row);
    const std::string arguments = write_call_up_to_arguments(row, "zh_f");
    EXPECT_TRUE(whole.starts_with(name)) << whole << "\n" << name;
    EXPECT_TRUE(whole.substr(name.size()).starts_with("zh_f")) << row.id;
    EXPECT_TRUE(whole.starts_with(arguments)) << whole << "\n" << arguments;
    EXPECT_EQ(arguments.ends_with('{'), row.kind != ToolSyntaxKind::kTagged) << row.id;
  }
}

TEST(ToolSyntax, IsRecognisedInWhatItWrote) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    const std::vector<ToolCallText> calls = {{kProbe.name, "{\"zh_key\": \"zh value\"}"}};
    const std::string text =
        "<|im_start|>assistant\n" + write_tool_calls(row, calls) + "<|im_end|>";
    const ToolSyntax* found = recognise_tool_syntax(text, kProbe);
    ASSERT_NE(found, nullptr) << row.id;
    // Only a close mark tells Granite from Phi; their rows read each other's calls.
    if (row.id == "granite") continue;
    EXPECT_EQ(found->id, row.id);
  }
}

TEST(ToolSyntax, IsRecognisedAsTemplatesRenderIt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // A preamble describes the tool and the form in the words of another one.
      {"<|im_start|>system\n<tools>{\"type\": \"function\", \"function\": {\"name\": \"zh_probe\", "
       "\"parameters\": {\"type\": \"object\"}}}</tools> <tool_call>\n{\"name\": <function-name>, "
       "\"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n<|im_start|>assistant\n"
       "<tool_call>\n{\"name\": \"zh_probe\", \"arguments\": {\"zh_key\": \"zh value\"}}\n"
       "</tool_call><|im_end|>",
       "hermes"},
      {"<|start|>assistant to=functions.zh_probe<|channel|>commentary json<|message|>"
       "{\"zh_key\": \"zh value\"}<|call|>",
       "harmony"},
      {"[TOOL_CALLS]zh_probe[CALL_ID]abcdefghi[ARGS]{\"zh_key\": \"zh value\"}</s>", "mistral-v11"},
      {"[TOOL_CALLS][{\"name\": \"zh_probe\", \"arguments\": {\"zh_key\": \"zh value\"}, "
       "\"id\": \"abcdefghi\"}]</s>",
       "mistral"},
      {"<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"zh_probe\", "
       "\"parameters\": {\"zh_key\": \"zh value\"}}\n]<|END_ACTION|>",
       "command-r"},
      {"<tool_call>\n{\"name\": \"zh_probe\", \"arguments\": \"{\\\"zh_key\\\": \\\"zh "
       "value\\\"}\"}\n"
       "</tool_call>",
       "hermes"},
      {"<|start_header_id|>assistant<|end_header_id|>\n\n{\"name\": \"zh_probe\", "
       "\"parameters\": {\"zh_key\": \"zh value\"}}<|eot_id|>",
       "llama-3"},
  };
  for (const auto& [text, id] : cases) EXPECT_EQ(id_of(recognise_tool_syntax(text, kProbe)), id);
}

TEST(ToolSyntax, IsNotRecognisedWhereNoCallStands) {
  for (const char* text : {"", "<|im_start|>assistant\n<|im_end|>", "zh_probe zh_key zh value",
                           "<tool_call>\n{\"name\": \"other\", \"arguments\": {\"zh_key\": \"zh "
                           "value\"}}\n</tool_call>",
                           "{\"name\": \"zh_probe\", \"parameters\": {\"type\": \"object\"}}"}) {
    EXPECT_EQ(recognise_tool_syntax(text, kProbe), nullptr) << text;
  }
}

}  // namespace
}  // namespace zerohop
