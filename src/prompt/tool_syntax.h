// How models write tool calls: one data table, used to write calls of earlier turns into prompts
// and to read calls out of what a model generates (output_segmenter.h).
//
// The marks in a row are written as they stand. A reader takes them without the white space around
// them and lets white space inside a close be missing, because models are careless with it.
//
// Pure functions over constant data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

enum class ToolSyntaxKind : std::uint8_t {
  kJsonCall,   ///< OPEN {"name": NAME, "arguments": {…}} CLOSE
  kNamedJson,  ///< OPEN BEFORE_NAME NAME NAME_NOTE AFTER_NAME {…} ARGUMENTS_CLOSE CLOSE
  /// OPEN BEFORE_NAME NAME AFTER_NAME (PARAMETER_OPEN KEY PARAMETER_MIDDLE VALUE PARAMETER_CLOSE)*
  /// ARGUMENTS_CLOSE CLOSE. A VALUE is JSON, or a string as it is.
  kTagged,
};

struct ToolSyntax {
  std::string_view id{};  ///< for logs: "hermes", "mistral", …
  ToolSyntaxKind kind = ToolSyntaxKind::kJsonCall;
  std::string_view section_open{};   ///< around all calls of an answer; may be empty
  std::string_view section_close{};  ///< may be empty
  std::string_view open{};           ///< empty: a call is bare JSON at the beginning of the answer
  /// Another text with which models open a call, perhaps holding BEFORE_NAME; may be empty. Read,
  /// never written.
  std::string_view open_alternative{};
  std::string_view before_name{};  ///< of kNamedJson and kTagged; may be missing when read
  /// kNamedJson: written between NAME and AFTER_NAME (an index, a type). Read: what stands there.
  std::string_view name_note{};
  std::string_view after_name{};     ///< of kNamedJson and kTagged
  std::string_view name_key{};       ///< of kJsonCall
  std::string_view arguments_key{};  ///< of kJsonCall
  std::string_view parameter_open{};
  std::string_view parameter_middle{};
  std::string_view parameter_close{};
  std::string_view arguments_close{};  ///< may be empty
  std::string_view close{};            ///< may be empty: the JSON ends the call
  std::string_view separator{};        ///< between two calls when written
  bool array = false;  ///< kJsonCall: one array of calls stands between open and close
  /// Texts around the parts of an answer in this model's format that a client never sees
  /// (OutputPlan::framing), whether or not tools were offered. The empty ones count for nothing.
  std::array<std::string_view, 5> framing{};
};

/// All rows. The first is the default; a row stands behind those that are easier to tell.
std::span<const ToolSyntax> tool_syntax_table();

/// The form that models whose template knows no tools are told to use: "<tool_call>" and JSON.
const ToolSyntax& default_tool_syntax();

/// The row with this id; null when there is none.
const ToolSyntax* find_tool_syntax(std::string_view id);

/// What stands for itself in a rendered call.
struct ToolCallProbe {
  std::string_view name;
  std::string_view key;
  std::string_view value;
};

/// The row of the table in which `rendered` (a template's output for an assistant turn that calls
/// the tool `name` with {"KEY": "VALUE"}) shows the call; null when none fits. White space does not
/// count, nor does what else stands in the text.
const ToolSyntax* recognise_tool_syntax(std::string_view rendered, const ToolCallProbe& probe);

/// A call as it is written: `input` is a JSON object.
struct ToolCallText {
  std::string_view name;
  std::string_view input;
};

/// The text of one call: with its open and close, without the section's. `input` is a JSON object.
std::string write_tool_call(const ToolSyntax& syntax, std::string_view name,
                            std::string_view input);

/// The text of all calls of a turn, in their section or their array; empty without calls.
std::string write_tool_calls(const ToolSyntax& syntax, std::span<const ToolCallText> calls);

/// The beginning of an answer that must call a tool, up to where the name begins: for
/// OutputStart::kToolName.
std::string write_call_up_to_name(const ToolSyntax& syntax);

/// The same for the tool `name`, up to its arguments and, where these are JSON, behind their `{`:
/// for OutputStart::kToolArguments.
std::string write_call_up_to_arguments(const ToolSyntax& syntax, std::string_view name);

/// Why calls of a tool of this name cannot be written in the form so that a reader finds where the
/// name ends; empty: they can. In JSON any name can.
std::string name_problem(const ToolSyntax& syntax, std::string_view name);

/// The same for a parameter of kTagged.
bool can_name_parameter(const ToolSyntax& syntax, std::string_view name);

/// Of kTagged: PARAMETER_MIDDLE up to its first line break without white space around it, which
/// ends a KEY for a reader.
std::string_view key_end_mark(const ToolSyntax& syntax);

/// `text` without the white space around it: how a reader knows a mark.
std::string_view mark_core(std::string_view text);

}  // namespace zerohop
