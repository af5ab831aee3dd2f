// Anthropic dialect, outward, whole: typed events → one JSON body.
//
// One object per request, used by one thread at a time.
// Source: Messages API, response.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/anthropic_wire.h"
#include "api/reply.h"
#include "core/error.h"
#include "core/event.h"

namespace zerohop {

/// Gathers the events of a request that did not ask for a stream. Blocks are those that a stream of
/// the same events would have.
class AnthropicReply final : public WholeReply {
 public:
  explicit AnthropicReply(ReplyHead head, AnthropicReplyOptions options = {});

  /// `choice` is 0: the protocol has one.
  void add(std::uint32_t choice, const Event& event) override;
  bool complete() const override { return finished_.has_value() || failure_.has_value(); }
  const Error* failure() const override { return failure_ ? &*failure_ : nullptr; }
  /// The Message object.
  std::string body() const override;

 private:
  enum class Kind : std::uint8_t { kText, kThinking, kToolUse };
  struct Block {
    Kind kind = Kind::kText;
    std::string text;  // of a call: the JSON of its input
    std::string id;    // of a call
    std::string name;  // of a call
  };

  void add_text(Kind kind, const std::string& text);
  void append_content(std::string& body) const;
  void append_block(std::size_t index, std::string& body) const;

  const ReplyHead head_;
  const AnthropicReplyOptions options_;
  std::vector<Block> blocks_;
  CacheMiss miss_;
  std::optional<Finished> finished_;
  std::optional<Error> failure_;
};

/// The reply of count_tokens.
std::string count_tokens_body(std::uint32_t prompt_tokens);

}  // namespace zerohop
