// Which cells the slots hold, each shared cell once.
//
// A slot's cells are a row of segments, each a run of positions that was computed (or restored)
// together. Sharing a prefix adds a reference to its segments; the sum of the segments is what the
// model really holds, whatever the tree says: two slots that computed the same tokens side by side
// hold them twice here.
//
//   slot 0   |  s0: 0–999 (2 refs)  | s1: 1000–1499 |
//   slot 3   |  s0                  | s2: 1000–1020 |        cells: 1,000 + 500 + 21
//
// Where the layout copies instead of sharing, no segment ever has two references.
//
// Owned by the prefix cache; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// The first `length` cells of `slot`.
struct SlotHead {
  SlotId slot;
  std::int32_t length = 0;
};

class CellLedger {
 public:
  enum class Copies : std::uint8_t { kShare, kDuplicate };
  CellLedger(std::uint32_t slots, Copies copies);

  std::int32_t held(SlotId slot) const { return at(slot).held; }
  bool is_running(SlotId slot) const { return at(slot).running; }
  std::uint64_t cells_held() const { return cells_held_; }
  /// Held by at least one running slot.
  std::uint64_t cells_active() const { return cells_active_; }

  /// `count` cells more at the end of `slot`.
  void append(SlotId slot, std::int32_t count);
  /// The empty `to` gets the first cells of another slot.
  void share(const SlotHead& from, SlotId to);
  /// Only the first cells of a slot stay.
  void truncate(const SlotHead& kept);
  void set_running(SlotId slot, bool running);

  /// Distinct cells within `heads` that no running slot holds.
  std::uint64_t idle_cells(std::span<const SlotHead> heads) const;

  void check_integrity() const;

 private:
  struct Segment {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::uint32_t references = 0;  // slots; 0: unused entry
    std::uint32_t running = 0;     // of these
    mutable std::uint64_t seen = 0;
    mutable std::int32_t counted = 0;  // cells, in the count `seen`

    std::int32_t size() const { return end - begin; }
  };
  struct Slot {
    bool running = false;
    std::int32_t held = 0;
    std::vector<std::uint32_t> segments;
  };

  const Slot& at(SlotId slot) const { return slots_[static_cast<std::size_t>(slot.value)]; }
  Slot& at(SlotId slot) { return slots_[static_cast<std::size_t>(slot.value)]; }
  std::uint32_t unused_segment();
  std::uint32_t new_segment(std::int32_t begin, std::int32_t end, const Slot& first);
  void add_reference(std::uint32_t segment, const Slot& slot);
  void drop_reference(std::uint32_t segment, const Slot& slot);
  void split(std::uint32_t segment, std::int32_t position);

  const Copies copies_;
  std::vector<Slot> slots_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> free_segments_;
  std::uint64_t cells_held_ = 0;
  std::uint64_t cells_active_ = 0;
  mutable std::uint64_t count_ = 0;
};

}  // namespace zerohop
