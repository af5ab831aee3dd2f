#include "cache/slot_roster.h"

#include <bit>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::size_t kBits = 64;

}  // namespace

SlotRoster::SlotRoster(std::uint32_t slots) : entries_(slots), empty_((slots + kBits - 1) / kBits) {
  for (std::size_t i = 0; i < slots; ++i) empty_[i / kBits] |= std::uint64_t{1} << (i % kBits);
}

std::vector<SlotId>* SlotRoster::list_of(SlotState state) {
  if (state == SlotState::kEmpty) return nullptr;
  return state == SlotState::kParked ? &parked_ : &running_;
}

void SlotRoster::set(SlotId slot, SlotState state) {
  Entry& entry = entries_[index(slot)];
  if (entry.state == state) return;
  if (std::vector<SlotId>* list = list_of(entry.state)) {
    const SlotId last = list->back();
    (*list)[entry.place] = last;
    entries_[index(last)].place = entry.place;
    list->pop_back();
  }
  entry.state = state;
  const std::uint64_t bit = std::uint64_t{1} << (index(slot) % kBits);
  std::vector<SlotId>* list = list_of(state);
  if (list == nullptr) {
    empty_[index(slot) / kBits] |= bit;
    return;
  }
  empty_[index(slot) / kBits] &= ~bit;
  entry.place = list->size();
  list->push_back(slot);
}

std::optional<SlotId> SlotRoster::lowest_empty() const {
  for (std::size_t word = 0; word < empty_.size(); ++word) {
    if (empty_[word] == 0) continue;
    const auto bit = static_cast<std::size_t>(std::countr_zero(empty_[word]));
    return SlotId(static_cast<std::int32_t>(word * kBits + bit));
  }
  return std::nullopt;
}

void SlotRoster::check_integrity() const {
  std::size_t parked = 0;
  std::size_t running = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const bool empty = (empty_[i / kBits] >> (i % kBits)) % 2 != 0;
    ZH_CHECK(empty == (entry.state == SlotState::kEmpty));
    if (empty) continue;
    const bool is_parked = entry.state == SlotState::kParked;
    const std::vector<SlotId>& list = is_parked ? parked_ : running_;
    ZH_CHECK(entry.place < list.size() && index(list[entry.place]) == i);
    ++(is_parked ? parked : running);
  }
  ZH_CHECK(parked == parked_.size() && running == running_.size());
}

}  // namespace zerohop
