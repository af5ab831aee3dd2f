#include "constrain/live_machines.h"

#include <algorithm>
#include <iterator>

namespace zerohop {

LiveMachines::LiveMachines(MaskCache& masks, Options options) : masks_(masks), options_(options) {}

std::shared_ptr<LiveMachine> LiveMachines::follow(const CompiledConstraint& constraint) {
  if (const auto found = by_id_.find(constraint.id); found != by_id_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return found->second->machine;
  }
  auto machine = std::make_shared<LiveMachine>(constraint.machine->renew(), constraint.id,
                                               options_.machine_bytes_max);
  order_.push_front({constraint.id, machine});
  by_id_.emplace(constraint.id, order_.begin());
  tidy();
  return machine;
}

void LiveMachines::tidy() {
  std::size_t idle = 0;
  std::size_t idle_bytes = 0;
  memory_bytes_ = 0;
  for (const Entry& entry : order_) {
    const std::size_t bytes = entry.bytes();
    memory_bytes_ += bytes;
    if (!entry.idle()) continue;
    ++idle;
    idle_bytes += bytes;
  }
  for (auto entry = order_.end(); entry != order_.begin();) {
    if (idle <= options_.idle_max && idle_bytes <= options_.idle_bytes_max) return;
    --entry;
    if (!entry->idle()) continue;
    --idle;
    idle_bytes -= entry->bytes();
    memory_bytes_ -= entry->bytes();
    masks_.forget(entry->machine->cache_id());
    by_id_.erase(entry->id);
    entry = order_.erase(entry);
  }
}

std::size_t LiveMachines::in_use() const {
  return static_cast<std::size_t>(
      std::count_if(order_.begin(), order_.end(), [](const Entry& e) { return !e.idle(); }));
}

}  // namespace zerohop
