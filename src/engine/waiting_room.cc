#include "engine/waiting_room.h"

#include <utility>

namespace zerohop {

Sequence& WaitingRoom::admit(SequencePtr sequence, std::optional<TimePoint> start_by) {
  ZH_CHECK(!sequence->has_slot() && !sequence->aside);
  QueuedWork work;
  work.id = sequence->work();
  work.tenant = sequence->request.scheduling.tenant;
  work.weight = sequence->request.scheduling.tenant_weight;
  work.priority = sequence->priority();
  work.own_pool = sequence->request.scheduling.own_pool;
  work.uncached_tokens = sequence->uncached;
  work.arrived_at = sequence->request.submitted_at;
  work.start_by = start_by;
  queue_.push(work);
  if (sequence->phase == Phase::kParked) ++parked_;
  SequencePtr& place = waiting_[work.id];
  place = std::move(sequence);
  return *place;
}

Sequence* WaitingRoom::find(std::optional<WorkId> id) const {
  if (!id) return nullptr;
  const auto found = waiting_.find(*id);
  ZH_CHECK(found != waiting_.end());
  return found->second.get();
}

SequencePtr WaitingRoom::take(Sequence& sequence) {
  const auto found = waiting_.find(sequence.work());
  ZH_CHECK(found != waiting_.end());
  if (sequence.aside) take_back(sequence);
  if (sequence.phase == Phase::kParked) --parked_;
  SequencePtr taken = std::move(found->second);
  waiting_.erase(found);
  return taken;
}

SequencePtr WaitingRoom::start(Sequence& sequence, TimePoint now) {
  SequencePtr taken = take(sequence);
  queue_.start(taken->work(), now);
  return taken;
}

SequencePtr WaitingRoom::leave(Sequence& sequence) {
  SequencePtr taken = take(sequence);
  ZH_CHECK(queue_.erase(taken->work()));
  return taken;
}

void WaitingRoom::stand_aside(Sequence& sequence) {
  ZH_CHECK(sequence.aside.has_value());
  queue_.hold(sequence.work());
  ++aside_;
}

void WaitingRoom::take_back(Sequence& sequence) {
  sequence.aside.reset();
  --aside_;
  queue_.unhold(sequence.work());
}

const Sequence* WaitingRoom::oldest_new() const {
  for (const auto& [id, sequence] : waiting_) {
    if (!sequence->started() && !sequence->warm) return sequence.get();
  }
  return nullptr;
}

void WaitingRoom::check_integrity() const {
  ZH_CHECK(queue_.waiting() == waiting_.size());
  std::size_t aside = 0;
  std::size_t parked = 0;
  for (const auto& [id, sequence] : waiting_) {
    sequence->check();
    ZH_CHECK(id == sequence->work() && !sequence->has_slot());
    if (sequence->aside) ++aside;
    if (sequence->phase == Phase::kParked) ++parked;
  }
  ZH_CHECK(aside == aside_ && parked == parked_);
}

}  // namespace zerohop
