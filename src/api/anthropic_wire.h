// Pieces of the Messages API that the streamed and the whole reply share. Internal to api/.
// Pure functions that append to the caller's buffer; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/anthropic_reply_options.h"
#include "core/cache_miss.h"
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

/// The reason to report: a turn that came to its own end with tool calls in it ended for these, and
/// agents stop where it says otherwise.
FinishReason reason_with_calls(FinishReason reason, bool has_calls);

/// `{"input_tokens":…}`: the three input counters are disjoint and add up to the prompt. With
/// `service_tier` where the request named one.
void append_anthropic_usage(const Usage& usage, const AnthropicReplyOptions& options,
                            std::string& out);

/// `"stop_reason":…,"stop_sequence":…,"stop_details":null`. The sequence is null unless it is the
/// reason.
void append_anthropic_stop(FinishReason reason, std::string_view stop_sequence, std::string& out);

/// `"id":…,"type":"message","role":"assistant","model":…`
void append_anthropic_head(const ReplyHead& head, std::string& out);

/// `,"context_management":{"applied_edits":[]}` when the request asked for edits, else nothing.
void append_context_management(const AnthropicReplyOptions& options, std::string& out);

/// `,"diagnostics":{…}` when the request has the field, else nothing. Of the causes of a miss those
/// of the protocol are told; what they do not cover is told so that nothing of other tenants shows:
///
///   system_changed, tools_changed, messages_changed   with cache_missed_input_tokens
///   model_changed                                     likewise
///   cold, other_tenant                                previous_message_not_found
///   evicted                                           unavailable
///   none                                              null
///
/// Beside it stand members of our own, where there is something to say: warnings, prompt_tokens,
/// tool_conflicts.
void append_diagnostics(const AnthropicReplyOptions& options, const CacheMiss& miss,
                        std::string& out);

/// `{"type":"tool_use","id":…,"name":…,"input":INPUT,"caller":{"type":"direct"}}`, with
/// `toolset_name` for a member of a toolset. `input` is JSON.
struct ToolUseFace {
  std::string_view id;
  std::string_view name;  ///< as the model calls it
  std::string_view input;
};
void append_tool_use(const ToolUseFace& call, const AnthropicReplyOptions& options,
                     std::string& out);

/// The signature of a thinking block: opaque, the same for the same block, and in the alphabet of
/// base64. It proves nothing, because nothing here is checked by it when it comes back; but clients
/// refuse to send a block back that has none.
std::string thinking_signature(std::string_view message_id, std::uint32_t block);

}  // namespace zerohop
