// How to read what the model writes after a prompt. Made with the prompt, because only the prompt
// stage knows in which form the model was told to call tools and where the prompt left off.
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/content.h"
#include "core/token.h"

namespace zerohop {

struct ToolSyntax;  // prompt/tool_syntax.h

/// The texts around the model's thinking, such as "<think>" and "</think>".
struct ThinkingTags {
  std::string open;
  std::string close;
  friend bool operator==(const ThinkingTags&, const ThinkingTags&) = default;
};

/// The parameters of a tool whose values are strings, whatever they look like.
struct StringParameters {
  std::string tool;
  std::vector<std::string> names;
};

/// What the first generated token continues.
enum class OutputStart : std::uint8_t {
  kText,
  kThinking,       ///< the prompt ends behind the opening tag
  kToolName,       ///< the prompt ends where the name of a tool begins (some tool must be called)
  kToolArguments,  ///< the prompt ends behind the `{` of the arguments of `forced_tool`
};

struct OutputPlan {
  /// The form of tool calls; null when no tools were offered: then nothing is one.
  const ToolSyntax* tool_syntax = nullptr;
  bool parallel_tool_calls = true;  ///< false: the answer ends with its first call
  bool call_ends_turn = false;      ///< the close of a call is a token that ends the answer
  std::optional<ThinkingTags> thinking;
  OutputStart start = OutputStart::kText;
  std::string forced_tool;  ///< of kToolArguments
  /// Of the tools offered, where values are written as they are (ToolSyntaxKind::kTagged).
  std::vector<StringParameters> string_parameters;
  /// Texts around the parts of an answer that are the format's, not the model's words: dropped.
  std::vector<std::string> framing;
  OutputRules rules;
  /// The output is the continuation of this text of the client's, which it does not get again. The
  /// JSON of `rules` begins in it.
  std::string prefill;
  /// Control tokens whose text matters to the reader of the output (a table of the model gives them
  /// no bytes): marks of tool calls and of thinking.
  std::vector<std::pair<Token, std::string>> marker_tokens;
};

}  // namespace zerohop
