#include "prompt/tool_texts.h"

#include <algorithm>

#include "constrain/json_text.h"
#include "core/event.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

constexpr std::string_view kBlankLine = "\n\n";

// Short, because small models forget long instructions; the example is the one thing they copy.
constexpr std::string_view kToolsHead = "# Tools\n\nYou can call these tools:\n";
constexpr std::string_view kNoToolsHead = "# Tools\n\nTools become available as you work.\n";
constexpr std::string_view kCallHead =
    "\nTo call a tool, write exactly this, with the tool's name and its arguments as JSON:\n";
constexpr std::string_view kCallTail =
    "\nRepeat the block for each further call, then stop. The results come back in the next "
    "message, between <tool_response name=\"NAME\"> and </tool_response>. Without need for a tool, "
    "answer in plain text.";
constexpr std::string_view kReferenceHead = "This tool is available now:\n";

constexpr std::string_view kJsonRule = "Answer with one JSON object and nothing else.";
constexpr std::string_view kSchemaRule =
    "Answer with JSON that matches this JSON schema, and nothing else:\n";

void append_attribute(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text.append(" ").append(name).append("=\"");
  for (const char character : value) {
    if (character == '"') {
      text.append("&quot;");
    } else {
      text.push_back(character == '\n' || character == '\r' ? ' ' : character);
    }
  }
  text.push_back('"');
}

std::string reference_text(const std::string& name, std::span<const ToolDefinition> tools) {
  const auto found = std::find_if(tools.begin(), tools.end(),
                                  [&](const ToolDefinition& tool) { return tool.name == name; });
  return std::string(kReferenceHead) + (found == tools.end() ? name : tool_line(*found));
}

}  // namespace

void append_block(std::string& text, std::string_view block) {
  if (block.empty()) return;
  if (!text.empty()) text.append(kBlankLine);
  text.append(block);
}

std::string tool_line(const ToolDefinition& tool) {
  std::string line = "{\"name\": " + json_quoted(tool.name);
  if (!tool.description.empty()) {
    line.append(", \"description\": ").append(json_quoted(tool.description));
  }
  line.append(", \"parameters\": ").append(tool.input_schema);
  return line.append("}");
}

std::string tool_preamble(std::span<const ToolDefinition> tools) {
  std::string lines;
  for (const ToolDefinition& tool : tools) {
    if (!tool.deferred) lines.append(tool_line(tool)).append("\n");
  }
  std::string text(lines.empty() ? kNoToolsHead : kToolsHead);
  text.append(lines).append(kCallHead);
  text.append(write_tool_call(default_tool_syntax(), "NAME", R"({"PARAMETER": "VALUE"})"));
  return text.append(kCallTail);
}

std::string tool_response(const ToolResponse& response) {
  std::string text = "<tool_response";
  append_attribute(text, "name", response.name);
  if (response.is_error) append_attribute(text, "error", "true");
  return text.append(">\n").append(response.text).append("\n</tool_response>");
}

std::string result_text(const ToolResultBlock& result, std::span<const ToolDefinition> tools) {
  std::string text;
  for (const ToolResultPart& part : result.content) {
    std::visit(Overloaded{
                   [&](const TextBlock& block) { append_block(text, block.text); },
                   [&](const DocumentBlock& block) { append_block(text, document_text(block)); },
                   [&](const ToolReferenceBlock& block) {
                     append_block(text, reference_text(block.tool_name, tools));
                   },
               },
               part);
  }
  return text;
}

std::string document_text(const DocumentBlock& document) {
  std::string text = "<document";
  append_attribute(text, "title", document.title);
  append_attribute(text, "context", document.context);
  return text.append(">\n").append(document.text).append("\n</document>");
}

std::string output_instruction(const OutputRules& rules) {
  switch (rules.format) {
    case OutputFormat::kText: return {};
    case OutputFormat::kJson: return std::string(kJsonRule);
    case OutputFormat::kJsonSchema: return std::string(kSchemaRule) + rules.schema;
    default: return {};
  }
}

std::string context_text(std::string_view facts) {
  return std::string("<context>\n").append(facts).append("\n</context>");
}

}  // namespace zerohop
