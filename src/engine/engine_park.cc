// Places that are given away: who has to go, and what becomes of it. See engine_loop.h and
// park_policy.h.

#include <algorithm>
#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {

// Somebody gives its cells away, in the end `sequence` itself.
void EngineLoop::make_room(Sequence& sequence) {
  const std::vector<ParkCandidate> candidates = park_candidates();
  if (const std::optional<ParkChoice> choice = park_for_cells(candidates)) {
    park(*running_[choice->index], choice->reason);
    return;
  }
  // It is alone, and a window always fits; what is in the way is pinned.
  executor_.carry_out(cache_.drop_idle());
  if (!reserve(sequence)) park(sequence, ParkReason::kCells);
}

std::vector<ParkCandidate> EngineLoop::park_candidates() const {
  std::vector<ParkCandidate> candidates;
  candidates.reserve(running_.size());
  for (const SequencePtr& sequence : running_) {
    const Scheduling& scheduling = sequence->request.scheduling;
    candidates.push_back({scheduling.priority, scheduling.tenant, queue_.counter(sequence->work()),
                          sequence->request.submitted_at, sequence->started_at,
                          sequence->lagging_since});
  }
  return candidates;
}

// Makes a place for one that waits and was served less. False: nobody has to go for it.
bool EngineLoop::park_for(const Sequence& waiter) {
  if (running_.empty()) return false;
  const ParkWaiter who{waiter.priority(), waiter.request.scheduling.tenant,
                       queue_.counter(waiter.work())};
  const std::optional<ParkChoice> choice =
      park_for_fairness(park_candidates(), who, options_.parking, now_);
  if (!choice) return false;
  Sequence& victim = *running_[choice->index];
  if (queue_.next_without(victim.work(), now_) != waiter.work()) return false;
  park(victim, choice->reason);
  return true;
}

// While somebody waits, one whose reader has had no room for so long goes. False: nobody.
bool EngineLoop::park_slow_reader(Duration paused_max) {
  if (waiting_.size() == waiting_.aside()) return false;
  const bool lagging = std::any_of(running_.begin(), running_.end(),
                                   [](const SequencePtr& s) { return s->lagging_since; });
  if (!lagging) return false;
  const auto choice = zerohop::park_slow_reader(park_candidates(), paused_max, now_);
  if (!choice) return false;
  park(*running_[choice->index], choice->reason);
  return true;
}

// It keeps everything but its slot, and goes on later.
void EngineLoop::park(Sequence& sequence, ParkReason reason) {
  switch (reason) {
    case ParkReason::kCells: ++state_.parks_for_cells; break;
    case ParkReason::kFairness: ++state_.parks_for_fairness; break;
    case ParkReason::kSlowReader: ++state_.parks_for_readers; break;
  }
  release_slot(sequence, Keep::kParked);
  leave_running(sequence);
}

// A sequence without a slot that is not at its end goes back to where it came from.
void EngineLoop::leave_running(Sequence& sequence) {
  const auto found =
      std::find_if(running_.begin(), running_.end(),
                   [&sequence](const SequencePtr& s) { return s.get() == &sequence; });
  ZH_CHECK(found != running_.end());
  SequencePtr owner = std::move(*found);
  running_.erase(found);
  owner->phase = Phase::kParked;
  owner->drafter.reset();  // made anew in less time than its memory is worth meanwhile
  owner->uncached = uncached_tokens(*owner);
  Sequence& parked = waiting_.admit(std::move(owner));
  if (!parked.lagging_since) return;
  parked.aside = Aside{};  // until its reader has room
  waiting_.stand_aside(parked);
}

// Kept cells stay for the next turn of the same conversation.
void EngineLoop::release_slot(Sequence& sequence, Keep keep) {
  vacate(sequence, keep);
  queue_.stopped(sequence.work());
}

void EngineLoop::vacate(Sequence& sequence, Keep keep) {
  ZH_CHECK(sequence.has_slot());
  drop_draft(sequence);
  executor_.carry_out(cache_.release(sequence.slot, keep, now_));
  sequence.slot = SlotId(-1);
  sequence.computed = 0;
  sequence.promised_cells = 0;
}

}  // namespace zerohop
