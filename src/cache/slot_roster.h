// Which slots are empty, parked or running, as lists that need no search: the lowest empty one, all
// parked ones, all running ones. Orders of the lists mean nothing.
//
// Owned by the prefix cache; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/token.h"

namespace zerohop {

enum class SlotState : std::uint8_t { kEmpty, kParked, kRunning };

class SlotRoster {
 public:
  explicit SlotRoster(std::uint32_t slots);

  SlotState state(SlotId slot) const { return entries_[index(slot)].state; }
  void set(SlotId slot, SlotState state);

  /// Invalid after set().
  const std::vector<SlotId>& parked() const { return parked_; }
  const std::vector<SlotId>& running() const { return running_; }
  std::optional<SlotId> lowest_empty() const;

  void check_integrity() const;

 private:
  struct Entry {
    SlotState state = SlotState::kEmpty;
    std::size_t place = 0;  // in its list
  };

  static std::size_t index(SlotId slot) { return static_cast<std::size_t>(slot.value); }
  std::vector<SlotId>* list_of(SlotState state);

  std::vector<Entry> entries_;
  std::vector<SlotId> parked_;
  std::vector<SlotId> running_;
  std::vector<std::uint64_t> empty_;  // a bit for each slot
};

}  // namespace zerohop
