#include "api/anthropic_blocks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/anthropic_documents.h"
#include "api/anthropic_tool_results.h"
#include "api/json_reader.h"
#include "api/json_value_writer.h"

namespace zerohop {
namespace {

using Parsed = std::optional<ContentBlock>;

Error wrong_role(const JsonPlace& block, std::string_view type, std::string_view roles) {
  const auto place = block.find("type");
  return place->error(std::string(type) + " content is allowed in " + std::string(roles) +
                      " messages only");
}

Result<Parsed> parse_text(const JsonPlace& block, const BlockRules& rules) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, block.require("text"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (!text.empty()) return Parsed(TextBlock{std::string(text)});
  if (rules.options.strict()) return place.error("must not be empty");
  return Parsed();
}

// Signatures are not looked at: a conversation may have begun on another server.
Result<Parsed> parse_thinking(const JsonPlace& block, const BlockRules& rules) {
  if (rules.role != Role::kAssistant) return wrong_role(block, "thinking", "assistant");
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, block.require("thinking"));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (rules.options.strict()) ZH_RETURN_IF_ERROR(block.require("signature"));
  if (text.empty()) return Parsed();  // it was shown to the client without its text
  return Parsed(ThinkingBlock{std::string(text)});
}

Result<std::string> required_name(const JsonPlace& block, std::string_view key) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, block.require(key));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  return std::string(text);
}

// The JSON object that a client wrote as text, as the other dialect has it.
Result<std::string> input_of_text(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return std::string("{}");
  const auto document = parse_json(text);
  if (!document.ok() || !document->root().is_object()) return place.expected("an object");
  return json_text(document->root());
}

Result<std::string> parse_input(const JsonPlace& block, const ParseOptions& options) {
  const auto place = block.find("input");
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(block.require("input"));
    return std::string("{}");
  }
  if (place->is_string() && !options.strict()) return input_of_text(*place);
  ZH_RETURN_IF_ERROR(place->expect_object());
  return json_text(place->value());
}

Result<Parsed> parse_tool_use(const JsonPlace& block, const BlockRules& rules) {
  if (rules.role != Role::kAssistant) {
    return wrong_role(block, block.text_or_empty("type"), "assistant");
  }
  ToolUseBlock use;
  ZH_ASSIGN_OR_RETURN(use.id, required_name(block, "id"));
  ZH_ASSIGN_OR_RETURN(const std::string name, required_name(block, "name"));
  use.name = rules.tools.model_name(block.text_or_empty("toolset_name"), name);
  ZH_ASSIGN_OR_RETURN(use.input, parse_input(block, rules.options));
  return Parsed(std::move(use));
}

Result<Parsed> parse_result(const JsonPlace& block, const BlockRules& rules) {
  if (rules.role == Role::kAssistant && rules.options.strict()) {
    return wrong_role(block, "tool_result", "user");
  }
  ZH_ASSIGN_OR_RETURN(ToolResultBlock result, parse_tool_result(block, rules.options));
  return Parsed(std::move(result));
}

Result<Parsed> parse_foreign_result(const JsonPlace& block, const BlockRules& rules) {
  ZH_ASSIGN_OR_RETURN(ToolResultBlock result, parse_server_result(block, rules.options));
  return Parsed(std::move(result));
}

Result<Parsed> refuse_image(const JsonPlace& block, const BlockRules&) {
  const auto place = block.find("type");
  return place->error(
      "image content is not supported: this model has no vision and reads text only");
}

Result<Parsed> parse_document_block(const JsonPlace& block, const BlockRules& rules) {
  if (rules.role != Role::kUser) return wrong_role(block, "document", "user");
  ZH_ASSIGN_OR_RETURN(DocumentBlock document, parse_document(block, rules.options));
  return Parsed(std::move(document));
}

Result<Parsed> parse_search_result(const JsonPlace& block, const BlockRules&) {
  ZH_ASSIGN_OR_RETURN(std::string text, search_result_text(block));
  return Parsed(TextBlock{std::move(text)});
}

Result<Parsed> parse_upload(const JsonPlace& block, const BlockRules&) {
  ZH_ASSIGN_OR_RETURN(const std::string file, required_name(block, "file_id"));
  return Parsed(TextBlock{"[uploaded file " + file + "; not available on this server]"});
}

// The summary of what came before. Null content: that compaction failed, and says nothing.
Result<Parsed> parse_compaction(const JsonPlace& block, const BlockRules&) {
  const auto place = block.find("content");
  if (!place) return Parsed();
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
  if (text.empty()) return Parsed();
  return Parsed(TextBlock{std::string(text)});
}

Result<Parsed> drop(const JsonPlace&, const BlockRules&) { return Parsed(); }

Result<Parsed> drop_of_assistant(const JsonPlace& block, const BlockRules& rules) {
  if (rules.role == Role::kAssistant) return Parsed();
  return wrong_role(block, block.text_or_empty("type"), "assistant");
}

struct BlockReader {
  std::string_view type;
  Result<Parsed> (*read)(const JsonPlace& block, const BlockRules& rules);
};
constexpr std::array<BlockReader, 14> kReaders{{
    {"text", parse_text},
    {"image", refuse_image},
    {"document", parse_document_block},
    {"search_result", parse_search_result},
    {"thinking", parse_thinking},
    {"redacted_thinking", drop_of_assistant},
    {"tool_use", parse_tool_use},
    {"server_tool_use", parse_tool_use},
    {"mcp_tool_use", parse_tool_use},
    {"tool_result", parse_result},
    {"container_upload", parse_upload},
    {"compaction", parse_compaction},
    // Which model answered, and which tools a server offered: nothing that the model should read.
    {"fallback", drop},
    {"mcp_tool_listing", drop},
}};

}  // namespace

Result<std::string_view> block_type(const JsonPlace& block) {
  ZH_RETURN_IF_ERROR(block.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, block.require("type"));
  return place.string();
}

Result<Parsed> parse_anthropic_block(const JsonPlace& block, const BlockRules& rules) {
  ZH_ASSIGN_OR_RETURN(const std::string_view type, block_type(block));
  const auto place = block.find("type");
  if (is_server_result(type) && rules.role != Role::kSystem) {
    return parse_foreign_result(block, rules);
  }
  const auto* reader = std::ranges::find(kReaders, type, &BlockReader::type);
  if (reader == kReaders.end()) {
    if (type == "tool_reference" || type == "browser_state") {
      return place->error(std::string(type) + " content is allowed in tool results only");
    }
    if (is_tool_change(type)) return wrong_role(block, type, "system");
    return place->expected("a known content type");
  }
  if (rules.role == Role::kSystem && type != "text") {
    return place->error(std::string(type) + " content is not allowed in system prompts");
  }
  return reader->read(block, rules);
}

}  // namespace zerohop
