// How to read what the model writes after a prompt. Made with the prompt, because only the prompt
// stage knows in which form the model was told to call tools and where the prompt left off.
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/content.h"
#include "core/token.h"
#include "prompt/parameter_kinds.h"

namespace zerohop {

struct ToolSyntax;  // prompt/tool_syntax.h

/// The texts around the model's thinking, such as "<think>" and "</think>".
struct ThinkingTags {
  std::string open;
  std::string close;
  friend bool operator==(const ThinkingTags&, const ThinkingTags&) = default;
};

/// What a reader of calls has to know of a tool.
struct OfferedTool {
  std::string name;
  ParameterKinds parameters;  ///< where values stand in tags (ToolSyntaxKind::kTagged)
};
using OfferedTools = std::vector<OfferedTool>;

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
  /// Null: not known; then a name is what looks like one, and a value what it can be.
  std::shared_ptr<const OfferedTools> offered;
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
