// The Anthropic dialect's calls: /v1/messages and count_tokens, without a socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/anthropic_reply_options.h"
#include "api/anthropic_wire.h"
#include "app/dialect_call.h"

namespace zerohop {

/// Where a reply says which schemas were not enforced.
enum class RelaxedNote : std::uint8_t {
  kHeader,   ///< of the response: PreparedCall::relaxed
  kMessage,  ///< there is no head: a member of the message itself
};

/// What the head of a request says about it.
struct MessagesHead {
  const WireProfile* profile = nullptr;  ///< chosen by the version, of the call's scope
  std::string request_id;
  std::optional<StreamProfile> stream_profile;  ///< the client's own choice
  std::string_view service_tier;  ///< static text, shown in place of the answer to the body's own
  RelaxedNote relaxed_note = RelaxedNote::kHeader;
  /// Set where the head names no version: the body may. Called on the worker of parse().
  std::function<void(const WireProfile&)> on_body_version;
};

std::unique_ptr<DialectCall> make_messages_call(CallScope scope, MessagesHead head);

/// The value of the header `anthropic-stream-profile`; nothing for anything unknown.
std::optional<StreamProfile> parse_stream_profile(std::string_view value);

/// On a worker, or on the I/O thread if the body is short.
Result<ChatRequest> parse_count_call(const CallScope& scope, const WireProfile& profile,
                                     std::string_view body);
/// On a worker, when the documents are text. Errors: those of a real call, but any length is
/// counted.
Result<std::uint32_t> count_prompt_tokens(const CallScope& scope, const ChatRequest& request);

/// The same from memory (Tier::recall_prompt); nothing where that is not enough. Any thread.
std::optional<std::uint32_t> recall_prompt_tokens(const CallScope& scope,
                                                  const ChatRequest& request);

}  // namespace zerohop
