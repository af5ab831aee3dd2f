// What the engine says about a request, in the order
//
//   Started  TextDelta*  (Finished | Failed)      or, before anything was computed,      Failed
//
// Events know no dialect and no JSON; api/ turns them into bytes. Plain values; any thread.
#pragma once

#include <string>
#include <variant>

#include "base/clock.h"
#include "core/error.h"
#include "core/usage.h"

namespace zerohop {

/// The prefix has been looked up and pinned; prompt counts are final.
struct Started {
  Usage usage;
  Duration queue_time{};  ///< from submission to the slot
};

/// Whole UTF-8 characters, never empty.
struct TextDelta {
  std::string text;
};

struct Finished {
  FinishReason reason = FinishReason::kEndOfTurn;
  std::string stop_sequence;  ///< the one that matched; empty otherwise
  Usage usage;
};

struct Failed {
  Error error;
};

using Event = std::variant<Started, TextDelta, Finished, Failed>;

inline bool is_terminal(const Event& event) {
  return std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
}

}  // namespace zerohop
