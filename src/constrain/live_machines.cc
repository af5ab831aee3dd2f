#include "constrain/live_machines.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace zerohop {

LiveMachines::LiveMachines(MaskCache& masks, Options options) : masks_(masks), options_(options) {}

std::shared_ptr<LiveMachine> LiveMachines::follow(const CompiledConstraint& constraint) {
  if (const auto found = by_id_.find(constraint.id); found != by_id_.end()) {
    take_up(found->second);
    return found->second->machine;
  }
  auto machine = std::make_shared<LiveMachine>(constraint.machine->renew(), constraint.id,
                                               options_.machine_bytes_max);
  followed_.push_front({.id = constraint.id, .machine = machine});
  by_id_.emplace(constraint.id, followed_.begin());
  tidy();
  return machine;
}

// To the front of those that are followed.
void LiveMachines::take_up(Entries::iterator entry) {
  if (entry->idle) {
    idle_bytes_ -= entry->bytes;
    followed_bytes_ += entry->bytes;
    entry->idle = false;
    followed_.splice(followed_.begin(), idle_, entry);
  } else {
    followed_.splice(followed_.begin(), followed_, entry);
  }
}

void LiveMachines::tidy() {
  look_at_followed();
  while (idle_.size() > options_.idle_max || idle_bytes_ > options_.idle_bytes_max) {
    drop_last_idle();
  }
}

// From the one that was asked for least recently on, so that of several that have become idle since
// the last look it is the first to go.
void LiveMachines::look_at_followed() {
  followed_bytes_ = 0;
  for (auto next = followed_.end(); next != followed_.begin();) {
    const auto entry = std::prev(next);
    entry->bytes = entry->machine->machine().memory_bytes();
    if (entry->has_users()) {
      followed_bytes_ += entry->bytes;
      next = entry;
      continue;
    }
    idle_bytes_ += entry->bytes;
    entry->idle = true;
    idle_.splice(idle_.begin(), followed_, entry);
  }
}

void LiveMachines::drop_last_idle() {
  ZH_CHECK(!idle_.empty());
  const Entry& entry = idle_.back();
  idle_bytes_ -= entry.bytes;
  masks_.forget(entry.machine->cache_id());
  by_id_.erase(entry.id);
  idle_.pop_back();
}

std::size_t LiveMachines::in_use() const {
  return static_cast<std::size_t>(std::count_if(followed_.begin(), followed_.end(),
                                                [](const Entry& e) { return e.has_users(); }));
}

}  // namespace zerohop
