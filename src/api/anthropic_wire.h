// Pieces of the Messages API that the streamed and the whole reply share. Internal to api/.
// Pure functions that append to the caller's buffer; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/usage.h"

namespace zerohop {

/// What a reply says about itself before anything is generated.
struct ReplyHead {
  std::string message_id;  ///< `msg_…`, unique for ever: agents merge turns that share one
  std::string model;       ///< the name to echo; valid UTF-8
  std::string request_id;  ///< for the body of an error inside the stream; may be empty
};

/// Messages API, stop_reason.
std::string_view anthropic_stop_reason(FinishReason reason);

/// `{"input_tokens":…}`: the three input counters are disjoint and add up to the prompt. Nothing is
/// reported as written to the cache, since every prompt is kept without being asked to.
void append_anthropic_usage(const Usage& usage, std::string& out);

/// `"stop_reason":…,"stop_sequence":…,"stop_details":null`. The sequence is null unless it is the
/// reason.
void append_anthropic_stop(FinishReason reason, std::string_view stop_sequence, std::string& out);

/// `"id":…,"type":"message","role":"assistant","model":…`
void append_anthropic_head(const ReplyHead& head, std::string& out);

}  // namespace zerohop
