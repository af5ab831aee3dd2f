// Finds numbered things by their content: the open-addressing half of a hash-consing table. The
// things themselves lie with the owner, who compares.
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace zerohop {

/// Goes on with a hash: order matters.
inline std::uint64_t hash_more(std::uint64_t hash, std::uint64_t value) {
  return mix64(hash ^ (value + 0x9e3779b97f4a7c15));
}

class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The id with this hash for which `same(id)`; kNone: there is none.
  template <typename Same>
  std::uint32_t find(std::uint64_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.id == kNone) return kNone;
      if (slot.tag == tag && same(slot.id)) return slot.id;
    }
  }

  /// `id` is new.
  void insert(std::uint64_t hash, std::uint32_t id) {
    if (slots_.size() < 2 * (hashes_.size() + 1)) grow();
    place(hash, id);
    hashes_.push_back(hash);
    ids_.push_back(id);
  }

  std::size_t memory_bytes() const {
    return slots_.capacity() * sizeof(Slot) + hashes_.capacity() * sizeof(std::uint64_t) +
           ids_.capacity() * sizeof(std::uint32_t);
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id = kNone;
  };

  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), Slot{});
    for (std::size_t i = 0; i < hashes_.size(); ++i) place(hashes_[i], ids_[i]);
  }

  void place(std::uint64_t hash, std::uint32_t id) {
    std::size_t i = hash & (slots_.size() - 1);
    while (slots_[i].id != kNone) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {static_cast<std::uint32_t>(hash >> 32), id};
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace zerohop
