// What the engine says about a request, in the order
//
//   Started  (TextDelta | ThinkingDelta | ToolCallStarted ToolCallDelta* | TokenLogprobs)*
//   (Finished | Failed)
//
// or, before anything was computed, Failed alone. A ToolCallDelta belongs to the last
// ToolCallStarted; the deltas of one call, joined, are one JSON object, also where the model was
// cut off or wrote something else. Another kind of delta ends the call.
//
// Events know no dialect and no JSON; api/ turns them into bytes. Plain values; any thread.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "core/cache_miss.h"
#include "core/error.h"
#include "core/token.h"
#include "core/usage.h"

namespace zerohop {

/// The prefix has been looked up and pinned; prompt counts are final.
struct Started {
  Usage usage;
  Duration queue_time{};  ///< from submission to the slot
  CacheMiss miss = {};    ///< why not more of the prompt was found
  /// The answer will be at most this long, fewer tokens than was asked for: cells are scarce and
  /// the request allowed it. 0: not so.
  std::uint32_t soft_max_tokens = 0;
  /// What was expected when it came: from submission to the first token. 0: nothing was known.
  Duration first_token_expected{};
};

/// Whole UTF-8 characters, never empty.
struct TextDelta {
  std::string text;
};

/// Part of what the model thinks before it answers. Whole UTF-8 characters, never empty.
struct ThinkingDelta {
  std::string text;
};

/// The model begins to call a tool.
struct ToolCallStarted {
  std::string id;    ///< never used before by this process
  std::string name;  ///< not empty; what the model wrote, perhaps no tool of the request
};

/// Part of the JSON text of a call's arguments. Whole UTF-8 characters, never empty.
struct ToolCallDelta {
  std::string json;
};

/// How likely a token was, before temperature and limits were applied.
struct TokenChance {
  Token token = 0;
  std::string bytes;  ///< raw bytes, perhaps half a character; empty for control tokens
  float logprob = 0;  ///< natural logarithm, ≤ 0
};

/// One accepted token, for requests that asked for it. Comes in front of the text that it led to.
struct TokenLogprobs {
  TokenChance chosen;
  std::vector<TokenChance> likeliest;  ///< as many as were asked for, likeliest first
};

struct Finished {
  FinishReason reason = FinishReason::kEndOfTurn;
  std::string stop_sequence;  ///< the one that matched; empty otherwise
  Usage usage;
};

struct Failed {
  Error error;
};

using Event = std::variant<Started, TextDelta, ThinkingDelta, ToolCallStarted, ToolCallDelta,
                           TokenLogprobs, Finished, Failed>;

inline bool is_terminal(const Event& event) {
  return std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
}

/// For std::visit with one lambda for each alternative.
template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // Clang 14 does not deduce aggregates

}  // namespace zerohop
