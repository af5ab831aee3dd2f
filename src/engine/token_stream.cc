#include "engine/token_stream.h"

#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

// Of a stream that is read at its end: what waits, times included, stays small however long the
// answer becomes. Somebody is woken for it once in so many tokens.
constexpr std::size_t kUnreadMax = 256;

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

template <class Take>
bool TokenStream::take_all(const Take& take) {
  bool was_full = false;
  bool finished = false;
  {
    const std::scoped_lock lock(mutex_);
    was_full = bytes_ >= bytes_max_;
    finished = finished_;
    for (TimedEvent& event : events_) take(std::move(event));
    events_.clear();
    bytes_ = unread_ = 0;
  }
  // The engine saw the full stream under the same lock, so a ring is never missed.
  if (was_full && !finished) ring_engine_();
  return finished;
}

bool TokenStream::read(std::vector<TimedEvent>& out) {
  return take_all([&out](TimedEvent&& event) { out.push_back(std::move(event)); });
}

bool TokenStream::read(std::vector<Event>& out) {
  return take_all([&out](TimedEvent&& event) { out.push_back(std::move(event.event)); });
}

void TokenStream::set_deadline(std::optional<TimePoint> deadline) {
  deadline_ = deadline ? deadline->time_since_epoch() : kNever;
  ring_engine_();  // it may sleep until the old one
}

std::optional<TimePoint> TokenStream::deadline(std::optional<TimePoint> asked) const {
  const Duration set = deadline_;
  if (set == kAsAsked) return asked;
  if (set == kNever) return std::nullopt;
  return TimePoint(set);
}

void TokenStream::cancel() {
  if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  ring_engine_();
}

bool TokenStream::push(Event event) {
  const std::scoped_lock lock(mutex_);
  ZH_CHECK(!finished_);
  finished_ = is_terminal(event);
  bytes_ += bytes_of(event);
  ++unread_;
  append(std::move(event));
  if (stamps_ == nullptr || finished_) return true;
  return bytes_ >= bytes_max_ / 2 || unread_ >= kUnreadMax;
}

void TokenStream::append(Event event) {
  if (events_.empty() || !merged(events_.back().event, event)) {
    events_.push_back({std::move(event)});
  }
  if (stamps_ != nullptr) events_.back().came_at.push_back(stamps_->now());
}

bool TokenStream::has_room() const {
  const std::scoped_lock lock(mutex_);
  return bytes_ < bytes_max_;
}

}  // namespace zerohop
