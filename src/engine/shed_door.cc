#include "engine/shed_door.h"

namespace zerohop {

void ShedDoor::set(PressureCause cause, Duration wait) {
  wait_ = wait.count();
  cause_ = cause;
}

PressureCause ShedDoor::refuses(TenantId tenant, PriorityClass priority) const {
  const PressureCause cause = cause_;
  if (cause == PressureCause::kNone) return cause;
  const double part = books_.part_in_front(tenant, priority);
  if (part >= 1) return cause;
  const Duration wait = from_seconds(to_seconds(Duration(wait_.load())) * part);
  return wait <= wait_max() ? PressureCause::kNone : cause;
}

}  // namespace zerohop
