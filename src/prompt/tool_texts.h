// The texts that the prompt stage itself writes: how tools, their results, documents, rules for the
// answer and passing facts look to a model whose template has no form of its own for them.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/content.h"

namespace zerohop {

/// A tool as one line of JSON: {"name": …, "description": …, "parameters": …}.
std::string tool_line(const ToolDefinition& tool);

/// What a model is told that has tools, in the form of default_tool_syntax(): the tools (deferred
/// ones left out), how to call one, how results come back. Depends on the tools alone, so that
/// nothing else can change the front of a prompt.
std::string tool_preamble(std::span<const ToolDefinition> tools);

/// What a tool gave back, as user text.
struct ToolResponse {
  std::string_view name;  ///< of the tool; its call's id where the name is unknown
  std::string_view text;
  bool is_error = false;
};
std::string tool_response(const ToolResponse& response);

/// The text of a result's parts, joined by blank lines. A reference becomes the definition of its
/// tool out of `tools`.
std::string result_text(const ToolResultBlock& result, std::span<const ToolDefinition> tools);

/// A document in the place where it stands.
std::string document_text(const DocumentBlock& document);

/// What the model is told about the form of its answer; empty for plain text.
std::string output_instruction(const OutputRules& rules);

/// Facts of this one request.
std::string context_text(std::string_view facts);

/// Appends `block` behind a blank line; nothing when it is empty.
void append_block(std::string& text, std::string_view block);

}  // namespace zerohop
