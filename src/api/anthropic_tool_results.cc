#include "api/anthropic_tool_results.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/anthropic_documents.h"
#include "api/json_value_writer.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 8> kServerResults{
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_result",
    "advisor_tool_result",
};

using Parts = std::vector<ToolResultPart>;

void add_text(std::string text, Parts& parts) {
  if (!text.empty()) parts.push_back(TextBlock{std::move(text)});
}

Result<std::string> required_text(const JsonPlace& block, std::string_view key) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace place, block.require(key));
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  return std::string(text);
}

// What a browser looks like after a call: its tabs, and what changed.
std::string browser_state_text(const JsonPlace& block) {
  std::string text = "Open tabs:";
  if (const auto tabs = block.find("tabs")) {
    for (std::size_t i = 0; i < tabs->elements(); ++i) {
      const JsonPlace tab = tabs->element(i);
      const auto active = tab.find("active");
      text.append("\n- ").append(tab.text_or_empty("tab_id"));
      if (active && active->boolean().ok() && *active->boolean()) text.append(" (active)");
      text.append(": ").append(tab.text_or_empty("title"));
      text.append(" ").append(tab.text_or_empty("url"));
    }
  }
  if (const auto changes = block.find("state_changes")) {
    for (std::size_t i = 0; i < changes->elements(); ++i) {
      const JsonPlace change = changes->element(i);
      text.append("\n").append(change.text_or_empty("type"));
      for (const std::string_view key : {"tab_id", "url", "path", "error"}) {
        const std::string_view value = change.text_or_empty(key);
        if (!value.empty()) text.append(" ").append(value);
      }
    }
  }
  return text;
}

Result<void> read_part(const JsonPlace& block, const ParseOptions& options, Parts& parts) {
  ZH_RETURN_IF_ERROR(block.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, block.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "text") {
    ZH_ASSIGN_OR_RETURN(const JsonPlace text_place, block.require("text"));
    ZH_ASSIGN_OR_RETURN(const std::string_view text, text_place.string());
    add_text(std::string(text), parts);
  } else if (type == "image") {
    ZH_ASSIGN_OR_RETURN(std::string note, image_note(block));
    add_text(std::move(note), parts);
  } else if (type == "document" && is_remote_document(block)) {
    add_text(remote_document_note(block), parts);
  } else if (type == "document") {
    ZH_ASSIGN_OR_RETURN(DocumentBlock document, parse_document(block, options));
    parts.push_back(std::move(document));
  } else if (type == "search_result") {
    ZH_ASSIGN_OR_RETURN(std::string text, search_result_text(block));
    add_text(std::move(text), parts);
  } else if (type == "tool_reference") {
    ZH_ASSIGN_OR_RETURN(std::string name, required_text(block, "tool_name"));
    parts.push_back(ToolReferenceBlock{std::move(name)});
  } else if (type == "browser_state") {
    add_text(browser_state_text(block), parts);
  } else {
    return type_place.expected("a content type that a tool result may hold");
  }
  return {};
}

Result<Parts> read_content(const JsonPlace& content, const ParseOptions& options) {
  Parts parts;
  if (content.is_string()) {
    ZH_ASSIGN_OR_RETURN(const std::string_view text, content.string());
    add_text(std::string(text), parts);
    return parts;
  }
  if (!content.is_array()) return content.expected("a string or an array of content blocks");
  ZH_ASSIGN_OR_RETURN(const std::size_t count, content.array_size(limits::kJsonValuesMax));
  parts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_RETURN_IF_ERROR(read_part(content.element(i), options, parts));
  }
  return parts;
}

// ---- Results of other servers ----

// `web_search_tool_result`: one paragraph a hit.
std::string search_hits_text(const JsonPlace& hits) {
  std::string text;
  for (std::size_t i = 0; i < hits.elements(); ++i) {
    const JsonPlace hit = hits.element(i);
    if (!text.empty()) text.append("\n\n");
    text.append(hit.text_or_empty("title")).append("\n").append(hit.text_or_empty("url"));
    const std::string_view age = hit.text_or_empty("page_age");
    if (!age.empty()) text.append(" (").append(age).append(")");
    const std::string_view own_text = hit.text_or_empty("text");
    if (!own_text.empty()) text.append("\n").append(own_text);
  }
  return text;
}

void append_line(std::string_view prefix, std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (!out.empty()) out.push_back('\n');
  out.append(prefix).append(text);
}

// What commands and editors say: whichever of the known members are there, one a line.
std::string members_text(const JsonPlace& content) {
  std::string text;
  append_line("", content.text_or_empty("text"), text);
  append_line("", content.text_or_empty("stdout"), text);
  append_line("stderr: ", content.text_or_empty("stderr"), text);
  append_line("error: ", content.text_or_empty("error_code"), text);
  append_line("", content.text_or_empty("error_message"), text);
  append_line("", content.text_or_empty("content"), text);
  if (const auto lines = content.find("lines")) {
    for (std::size_t i = 0; i < lines->elements(); ++i) {
      const JsonPlace line = lines->element(i);
      if (line.is_string()) append_line("", line.string().value(), text);
    }
  }
  if (const auto code = content.find("return_code")) {
    append_line("exit code: ", json_text(code->value()), text);
  }
  if (const auto update = content.find("is_file_update")) {
    const bool updated = update->boolean().ok() && *update->boolean();
    append_line("", updated ? "The file was updated." : "The file was created.", text);
  }
  return text;
}

void read_fetched_page(const JsonPlace& content, const ParseOptions& options, Parts& parts) {
  add_text(std::string(content.text_or_empty("url")), parts);
  const auto page = content.find("content");
  if (!page) return;
  auto document = parse_document(*page, options);
  if (document.ok()) {
    parts.push_back(*std::move(document));
  } else {
    add_text(remote_document_note(*page), parts);
  }
}

void read_references(const JsonPlace& references, Parts& parts) {
  for (std::size_t i = 0; i < references.elements(); ++i) {
    const JsonPlace reference = references.element(i);
    const std::string_view name = reference.text_or_empty("tool_name");
    if (!name.empty()) parts.push_back(ToolReferenceBlock{std::string(name)});
  }
}

void read_server_content(const JsonPlace& content, const ParseOptions& options,
                         ToolResultBlock& result) {
  if (content.is_string()) return add_text(std::string(content.string().value()), result.content);
  if (content.is_array()) {
    auto parts = read_content(content, options);
    if (parts.ok()) {
      result.content = *std::move(parts);
    } else {
      add_text(search_hits_text(content), result.content);
    }
    return;
  }
  const std::string_view type = content.text_or_empty("type");
  if (type.ends_with("_error")) result.is_error = true;
  if (type == "web_fetch_result") return read_fetched_page(content, options, result.content);
  if (const auto references = content.find("tool_references")) {
    return read_references(*references, result.content);
  }
  if (type.find("redacted") != std::string_view::npos ||
      type.find("encrypted") != std::string_view::npos) {
    return add_text("[the result is encrypted and cannot be read here]", result.content);
  }
  add_text(members_text(content), result.content);
}

Result<bool> parse_is_error(const JsonPlace& block) {
  const auto place = block.find("is_error");
  if (!place) return false;
  return place->boolean();
}

}  // namespace

Result<ToolResultBlock> parse_tool_result(const JsonPlace& block, const ParseOptions& options) {
  ToolResultBlock result;
  ZH_ASSIGN_OR_RETURN(result.tool_use_id, required_text(block, "tool_use_id"));
  ZH_ASSIGN_OR_RETURN(result.is_error, parse_is_error(block));
  if (const auto content = block.find("content")) {
    ZH_ASSIGN_OR_RETURN(result.content, read_content(*content, options));
  }
  return result;
}

bool is_server_result(std::string_view type) {
  return std::ranges::find(kServerResults, type) != kServerResults.end();
}

Result<ToolResultBlock> parse_server_result(const JsonPlace& block, const ParseOptions& options) {
  ToolResultBlock result;
  ZH_ASSIGN_OR_RETURN(result.tool_use_id, required_text(block, "tool_use_id"));
  ZH_ASSIGN_OR_RETURN(result.is_error, parse_is_error(block));
  if (const auto content = block.find("content")) read_server_content(*content, options, result);
  return result;
}

}  // namespace zerohop
