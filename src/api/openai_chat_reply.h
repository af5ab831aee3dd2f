// OpenAI chat dialect, outward, whole: typed events → one chat.completion.
//
// One object per request, used by one thread at a time.
// Source: Chat Completions API, the chat completion object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/openai_wire.h"
#include "api/reply.h"

namespace zerohop {

/// Gathers the events of a request that did not ask for a stream.
class OpenAiChatReply final : public WholeReply {
 public:
  /// `choices` ≥ 1.
  OpenAiChatReply(OpenAiReplyHead head, OpenAiReplyOptions options, std::uint32_t choices);

  void add(std::uint32_t choice, const Event& event) override;
  bool complete() const override { return failure_.has_value() || open_choices_ == 0; }
  const Error* failure() const override { return failure_ ? &*failure_ : nullptr; }
  std::string body() const override;

 private:
  struct Call {
    ToolCallStarted head;
    std::string arguments;
  };
  struct Choice {
    std::string text;
    std::string thinking;
    std::vector<Call> calls;
    std::string logprobs;  // entries, separated by commas
    std::optional<Finished> finished;
  };

  void append_choice(std::size_t index, std::string& out) const;
  void append_message(const Choice& choice, std::string& out) const;
  void append_calls(const Choice& choice, std::string& out) const;

  // Constant.
  const OpenAiReplyHead head_;
  const OpenAiReplyOptions options_;

  std::vector<Choice> choices_;
  std::size_t open_choices_;
  std::optional<Error> failure_;
};

}  // namespace zerohop
