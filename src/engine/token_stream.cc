#include "engine/token_stream.h"

#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

template <class Delta, std::string Delta::*kText>
bool merged_as(Event& last, const Event& next) {
  auto* left = std::get_if<Delta>(&last);
  const auto* right = std::get_if<Delta>(&next);
  if (left == nullptr || right == nullptr) return false;
  left->*kText += right->*kText;
  return true;
}

// Puts `next` at the end of `last` where that says the same.
bool merged(Event& last, const Event& next) {
  return merged_as<TextDelta, &TextDelta::text>(last, next) ||
         merged_as<ThinkingDelta, &ThinkingDelta::text>(last, next) ||
         merged_as<ToolCallDelta, &ToolCallDelta::json>(last, next);
}

// What an unread event counts for.
std::size_t bytes_of(const Event& event) {
  return std::visit(
      Overloaded{[](const TextDelta& delta) { return delta.text.size(); },
                 [](const ThinkingDelta& delta) { return delta.text.size(); },
                 [](const ToolCallDelta& delta) { return delta.json.size(); },
                 [](const ToolCallStarted& call) { return call.id.size() + call.name.size(); },
                 [](const TokenLogprobs& token) {
                   return (1 + token.likeliest.size()) * sizeof(TokenChance);
                 },
                 [](const auto&) { return std::size_t{0}; }},
      event);
}

}  // namespace

bool TokenStream::read(std::vector<Event>& out) {
  bool was_full = false;
  bool finished = false;
  {
    const std::scoped_lock lock(mutex_);
    was_full = bytes_ >= bytes_max_;
    finished = finished_;
    for (Event& event : events_) out.push_back(std::move(event));
    events_.clear();
    bytes_ = 0;
  }
  // The engine saw the full stream under the same lock, so a ring is never missed.
  if (was_full && !finished) ring_engine_();
  return finished;
}

void TokenStream::cancel() {
  if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  ring_engine_();
}

void TokenStream::push(Event event) {
  const std::scoped_lock lock(mutex_);
  ZH_CHECK(!finished_);
  finished_ = is_terminal(event);
  bytes_ += bytes_of(event);
  if (events_.empty() || !merged(events_.back(), event)) events_.push_back(std::move(event));
}

bool TokenStream::has_room() const {
  const std::scoped_lock lock(mutex_);
  return bytes_ < bytes_max_;
}

}  // namespace zerohop
