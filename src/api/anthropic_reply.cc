#include "api/anthropic_reply.h"

#include <utility>
#include <variant>

#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {

AnthropicReply::AnthropicReply(ReplyHead head) : head_(std::move(head)) {}

void AnthropicReply::add(const Event& event) {
  ZH_CHECK(!complete());
  if (const auto* delta = std::get_if<TextDelta>(&event)) text_.append(delta->text);
  if (const auto* finished = std::get_if<Finished>(&event)) finished_ = *finished;
  if (const auto* failed = std::get_if<Failed>(&event)) failure_ = failed->error;
}

std::string AnthropicReply::body() const {
  ZH_CHECK(finished_.has_value());
  constexpr std::size_t kFrameBytes = 512;
  std::string body;
  body.reserve(text_.size() + text_.size() / 16 + kFrameBytes);
  body.push_back('{');
  append_anthropic_head(head_, body);
  body.append(R"(,"content":[)");
  if (!text_.empty()) {
    body.append(R"({"type":"text","text":)");
    append_json_string(text_, body);
    body.push_back('}');
  }
  body.append("],");
  append_anthropic_stop(finished_->reason, finished_->stop_sequence, body);
  body.append(R"(,"usage":)");
  append_anthropic_usage(finished_->usage, body);
  body.push_back('}');
  return body;
}

std::string count_tokens_body(std::uint32_t prompt_tokens) {
  std::string body = R"({"input_tokens":)";
  append_json_integer(prompt_tokens, body);
  body.push_back('}');
  return body;
}

}  // namespace zerohop
