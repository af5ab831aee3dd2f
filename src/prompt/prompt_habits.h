// Habits of clients that spoil the reuse of cached prefixes, and what is done about them before a
// conversation is rendered. Pure functions; any thread.
//
//   Billing header   Some agents put a line "x-anthropic-billing-header: …" in front of their
//                    system prompt that differs from request to request. It means nothing to a
//                    model.
//   Volatile text    "Current time: 12:03:11" in a system prompt makes every prompt a new one from
//                    there on. Text that fits one of the operator's patterns is moved behind
//                    everything that a later request may share (Conversation::volatile_context).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/request.h"

namespace zerohop {

struct PromptHabits {
  bool strip_billing_header = true;
  /// Literal text in which `*` or `…` stands for anything up to the next literal text on the same
  /// line, or to the line's end: "Current time: *". One without literal text fits nothing.
  std::vector<std::string> volatile_patterns;
};

/// What was done to one conversation.
struct HabitCounts {
  std::uint32_t billing_headers = 0;
  std::vector<std::uint32_t> moved;  ///< for each of volatile_patterns, in their order
};

/// Applies the habits to the system prompt: `system`, and the system entries in front of all turns.
/// A line of which nothing is left goes as a whole. What is moved keeps its order and follows the
/// volatile context that is there already.
HabitCounts apply_prompt_habits(const PromptHabits& habits, Conversation& conversation);

}  // namespace zerohop
