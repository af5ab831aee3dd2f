// Anthropic dialect, outward, whole: typed events → one JSON body.
//
// One object per request, used by one thread at a time.
// Source: Messages API, response.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/anthropic_wire.h"
#include "core/error.h"
#include "core/event.h"

namespace zerohop {

/// Gathers the events of a request that did not ask for a stream.
class AnthropicReply {
 public:
  explicit AnthropicReply(ReplyHead head);

  /// Events come in the order of core/event.h; one after Finished or Failed is a bug and crashes.
  void add(const Event& event);

  /// Finished or Failed has come.
  bool complete() const { return finished_.has_value() || failure_.has_value(); }
  /// The error to answer with in place of body(); null when there is none. An unfinished answer is
  /// never passed off as a whole one.
  const Error* failure() const { return failure_ ? &*failure_ : nullptr; }
  /// The Message object. complete(), and no failure().
  std::string body() const;

 private:
  ReplyHead head_;
  std::string text_;
  std::optional<Finished> finished_;
  std::optional<Error> failure_;
};

/// The reply of count_tokens.
std::string count_tokens_body(std::uint32_t prompt_tokens);

}  // namespace zerohop
