// What a request, or the headers beside it, ask of the form of its answer. Plain values.
#pragma once

#include <cstdint>
#include <string>
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
  std::vector<ToolsetCall> toolset_calls;
};

}  // namespace zerohop
