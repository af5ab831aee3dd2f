#include "engine/shed_door.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

void ShedDoor::came(TenantId tenant) {
  const std::scoped_lock lock(mutex_);
  ++waiting_[tenant];
  ++all_;
}

void ShedDoor::went(TenantId tenant) {
  const std::scoped_lock lock(mutex_);
  const auto found = waiting_.find(tenant);
  ZH_CHECK(found != waiting_.end());
  if (--found->second == 0) waiting_.erase(found);
  --all_;
}

void ShedDoor::set(PressureCause cause, Duration wait) {
  wait_ = wait.count();
  cause_ = cause;
}

PressureCause ShedDoor::refuses(TenantId tenant) const {
  const PressureCause cause = cause_;
  if (cause == PressureCause::kNone) return cause;
  const double part = part_in_front(tenant);
  if (part >= 1) return cause;
  const Duration wait = from_seconds(to_seconds(Duration(wait_.load())) * part);
  return wait <= wait_max_ ? PressureCause::kNone : cause;
}

double ShedDoor::part_in_front(TenantId tenant) const {
  const std::scoped_lock lock(mutex_);
  if (all_ == 0) return 1;
  const auto own = waiting_.find(tenant);
  const std::size_t most = (own == waiting_.end() ? 0 : own->second) + 1;
  std::size_t in_front = 0;
  for (const auto& [other, count] : waiting_) in_front += std::min(count, most);
  return static_cast<double>(in_front) / static_cast<double>(all_);
}

}  // namespace zerohop
