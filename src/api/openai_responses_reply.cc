#include "api/openai_responses_reply.h"

#include <utility>
#include <variant>

#include "base/check.h"

namespace zerohop {

OpenAiResponsesReply::OpenAiResponsesReply(OpenAiResponsesReplyOptions options)
    : options_(std::move(options)), items_(options_.head.id) {}

void OpenAiResponsesReply::add(std::uint32_t choice, const Event& event) {
  ZH_CHECK(choice == 0 && !complete());
  if (const auto* failed = std::get_if<Failed>(&event)) {
    failure_ = failed->error;
    return;
  }
  if (const auto* finished = std::get_if<Finished>(&event)) return finish(*finished);
  if (std::holds_alternative<Started>(event) || std::holds_alternative<TokenLogprobs>(event)) {
    return;
  }
  if (!items_.continues(event)) {
    if (items_.any_open()) items_.close(ResponseItemStatus::kCompleted);
    items_.open(event);
  }
  items_.add(event);
}

void OpenAiResponsesReply::finish(const Finished& finished) {
  finished_ = finished;
  if (!items_.any_open()) return;
  const bool whole = response_status(ResponseState{.finished = &finished}) == "completed";
  items_.close(whole ? ResponseItemStatus::kCompleted : ResponseItemStatus::kIncomplete);
}

std::string OpenAiResponsesReply::body() const {
  ZH_CHECK(finished_.has_value());
  std::string body;
  append_response(options_, ResponseState{.items = &items_.all(), .finished = &*finished_}, body);
  return body;
}

}  // namespace zerohop
