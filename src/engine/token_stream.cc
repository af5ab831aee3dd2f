#include "engine/token_stream.h"

#include <utility>

#include "base/check.h"

namespace zerohop {

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
  if (const auto* delta = std::get_if<TextDelta>(&event)) {
    bytes_ += delta->text.size();
    if (!events_.empty()) {
      if (auto* last = std::get_if<TextDelta>(&events_.back())) {
        last->text += delta->text;
        return;
      }
    }
  }
  events_.push_back(std::move(event));
}

bool TokenStream::has_room() const {
  const std::scoped_lock lock(mutex_);
  return bytes_ < bytes_max_;
}

}  // namespace zerohop
