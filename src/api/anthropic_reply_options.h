// What a request, or the headers beside it, ask of the form of its answer. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

enum class ThinkingDisplay : std::uint8_t {
  kShown,
  kOmitted,  ///< thinking blocks come without their text
};

/// Header `anthropic-stream-profile`, or the key's configuration.
enum class StreamProfile : std::uint8_t {
  kFull,    ///< every event of the protocol
  kFolded,  ///< message_start, content_block_delta and message_stop only
};

/// What is sent during silence, once the answer has begun.
enum class Heartbeat : std::uint8_t {
  kPing,
  kEmptyDelta,  ///< a text delta of no length, where a text block is open: for clients that
                ///< watch deltas only
};

/// The tokens of a prompt by what they are; they add up to the prompt.
struct PromptTokens {
  std::uint32_t system = 0;
  std::uint32_t tools = 0;
  std::uint32_t messages = 0;
  std::uint32_t markup = 0;  ///< what the chat template adds: marks of turns, names of roles
};

/// What a request asks to be told about itself (`diagnostics`).
struct DiagnosticsWish {
  bool any = false;  ///< the request has `diagnostics`
  /// It names an earlier message and asks why the cache missed. Messages are not kept by their ids:
  /// the answer is about the likeliest earlier prompt that is remembered (core/cache_miss.h).
  bool cache_miss = false;
  bool prompt_breakdown = false;  ///< our own: billing by system, tools and messages
};

/// A value that the conversation names for an argument and the tool's schema does not allow.
struct ToolConflictNote {
  std::string tool;
  std::string argument;
  std::string value;  ///< one JSON value
};

/// A tool that stands for one member of a toolset.
struct ToolsetCall {
  std::string model_name;  ///< what the model calls it; unique in a request
  std::string member;      ///< its name on the wire
  std::string toolset;     ///< its `toolset_name` on the wire
};

struct AnthropicReplyOptions {
  ThinkingDisplay thinking = ThinkingDisplay::kShown;
  StreamProfile profile = StreamProfile::kFull;
  Heartbeat heartbeat = Heartbeat::kPing;
  /// The request asked for edits of its context; the reply says that none was made.
  bool context_management = false;
  DiagnosticsWish diagnostics;
  std::optional<PromptTokens> prompt_tokens;  ///< set by the caller where they were asked for
  /// A stop sequence with which the prompt ends: the model may go on as if it had just begun to
  /// stop. Empty: none. Set by the caller where there are diagnostics.
  std::string prompt_ends_with_stop;
  std::vector<ToolConflictNote> tool_conflicts;  ///< set by the caller; shown with diagnostics
  /// What of the client's schemas is not enforced, for replies that have no head of their own to
  /// say so (message batches); empty: nothing. Our own member of the message.
  std::string constraint_relaxed;
  std::string_view service_tier;  ///< how it is served; static text; empty: not shown
  std::vector<ToolsetCall> toolset_calls;
};

}  // namespace zerohop
