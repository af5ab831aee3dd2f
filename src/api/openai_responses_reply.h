// OpenAI responses dialect, outward, whole: typed events → one response object.
//
// One object per request, used by one thread at a time. Answers have one choice.
// Source: Responses API, the response object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/openai_responses_wire.h"
#include "api/reply.h"

namespace zerohop {

class OpenAiResponsesReply final : public WholeReply {
 public:
  explicit OpenAiResponsesReply(OpenAiResponsesReplyOptions options);

  void add(std::uint32_t choice, const Event& event) override;
  bool complete() const override { return finished_.has_value() || failure_.has_value(); }
  const Error* failure() const override { return failure_ ? &*failure_ : nullptr; }
  std::string body() const override;

 private:
  void finish(const Finished& finished);

  // Constant.
  const OpenAiResponsesReplyOptions options_;

  ResponseItems items_;
  std::optional<Finished> finished_;
  std::optional<Error> failure_;
};

}  // namespace zerohop
