// What a chat template can take; found out by trial when the model is loaded (template_probe.h).
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "prompt/output_plan.h"

namespace zerohop {

/// Where the system prompt goes.
enum class SystemPlace : std::uint8_t { kSystemMessage, kFirstUserTurn };
/// Whether the template needs a user turn in front of the first assistant turn.
enum class FirstTurn : std::uint8_t { kAny, kUser };
/// How a system entry in the middle of a conversation is shown.
enum class SystemEntries : std::uint8_t { kFolded, kInPlace };
/// What the template takes as the id of a tool call.
enum class ToolIds : std::uint8_t { kAny, kNineCharacters };
/// How many calls one assistant turn may make.
enum class CallsOfATurn : std::uint8_t { kMany, kOne };
/// Whether a user turn may follow a tool's result.
enum class UserAfterTool : std::uint8_t { kAllowed, kRefused };

struct TemplateTraits {
  SystemPlace system_place = SystemPlace::kSystemMessage;
  FirstTurn first_turn = FirstTurn::kAny;
  SystemEntries system_entries = SystemEntries::kFolded;

  /// The form of tool calls that the template itself writes; null when it knows no tools: then they
  /// are text (tool_texts.h).
  const ToolSyntax* native_tools = nullptr;
  ToolIds tool_ids = ToolIds::kAny;
  CallsOfATurn calls_of_a_turn = CallsOfATurn::kMany;
  UserAfterTool user_after_tool = UserAfterTool::kAllowed;

  bool takes_reasoning = false;  ///< shows what an assistant thought, somewhere at least
  bool thinking_switch = false;  ///< prompts differ with thinking on and off
  std::optional<ThinkingTags> thinking = {};
};

}  // namespace zerohop
