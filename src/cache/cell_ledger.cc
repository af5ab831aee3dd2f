#include "cache/cell_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {
namespace {

std::uint64_t cells(std::int32_t count) { return static_cast<std::uint64_t>(count); }

}  // namespace

CellLedger::CellLedger(std::uint32_t slots, Copies copies) : copies_(copies), slots_(slots) {}

std::uint32_t CellLedger::unused_segment() {
  if (free_segments_.empty()) {
    segments_.emplace_back();
    return static_cast<std::uint32_t>(segments_.size() - 1);
  }
  const std::uint32_t id = free_segments_.back();
  free_segments_.pop_back();
  return id;
}

std::uint32_t CellLedger::new_segment(std::int32_t begin, std::int32_t end, const Slot& first) {
  const std::uint32_t id = unused_segment();
  Segment& segment = segments_[id];
  segment = Segment{};
  segment.begin = begin;
  segment.end = end;
  cells_held_ += cells(segment.size());
  add_reference(id, first);
  return id;
}

void CellLedger::add_reference(std::uint32_t id, const Slot& slot) {
  Segment& segment = segments_[id];
  ++segment.references;
  if (slot.running && ++segment.running == 1) cells_active_ += cells(segment.size());
}

void CellLedger::drop_reference(std::uint32_t id, const Slot& slot) {
  Segment& segment = segments_[id];
  ZH_DCHECK(segment.references > 0);
  if (slot.running && --segment.running == 0) cells_active_ -= cells(segment.size());
  if (--segment.references > 0) return;
  cells_held_ -= cells(segment.size());
  free_segments_.push_back(id);
}

// Rare (where prefixes part), so all slots are looked at rather than each segment knowing its own.
void CellLedger::split(std::uint32_t id, std::int32_t position) {
  const std::uint32_t tail = unused_segment();
  segments_[tail] = segments_[id];
  segments_[tail].begin = position;
  segments_[id].end = position;
  for (Slot& slot : slots_) {
    const auto found = std::find(slot.segments.begin(), slot.segments.end(), id);
    if (found != slot.segments.end()) slot.segments.insert(found + 1, tail);
  }
}

void CellLedger::append(SlotId id, std::int32_t count) {
  ZH_DCHECK(count >= 0);
  Slot& slot = at(id);
  if (count == 0) return;
  if (!slot.segments.empty() && segments_[slot.segments.back()].references == 1) {
    segments_[slot.segments.back()].end += count;
    cells_held_ += cells(count);
    if (slot.running) cells_active_ += cells(count);
  } else {
    slot.segments.push_back(new_segment(slot.held, slot.held + count, slot));
  }
  slot.held += count;
}

void CellLedger::share(const SlotHead& from, SlotId to_id) {
  Slot& to = at(to_id);
  ZH_CHECK(to.held == 0 && from.length <= at(from.slot).held && from.slot != to_id);
  if (copies_ == Copies::kDuplicate) {
    append(to_id, from.length);
    return;
  }
  for (std::size_t i = 0; i < at(from.slot).segments.size(); ++i) {
    const std::uint32_t id = at(from.slot).segments[i];
    if (segments_[id].begin >= from.length) break;
    if (segments_[id].end > from.length) split(id, from.length);
    to.segments.push_back(id);
    add_reference(id, to);
  }
  to.held = from.length;
}

void CellLedger::truncate(const SlotHead& kept) {
  Slot& slot = at(kept.slot);
  ZH_CHECK(kept.length >= 0 && kept.length <= slot.held);
  while (!slot.segments.empty()) {
    const std::uint32_t id = slot.segments.back();
    if (segments_[id].end <= kept.length) break;
    if (segments_[id].begin < kept.length) {
      if (segments_[id].references == 1) {
        const std::uint64_t freed = cells(segments_[id].end - kept.length);
        cells_held_ -= freed;
        if (slot.running) cells_active_ -= freed;
        segments_[id].end = kept.length;
        break;
      }
      split(id, kept.length);
      continue;
    }
    slot.segments.pop_back();
    drop_reference(id, slot);
  }
  slot.held = kept.length;
}

void CellLedger::set_running(SlotId id, bool running) {
  Slot& slot = at(id);
  if (slot.running == running) return;
  slot.running = running;
  for (const std::uint32_t segment_id : slot.segments) {
    Segment& segment = segments_[segment_id];
    if (running && ++segment.running == 1) cells_active_ += cells(segment.size());
    if (!running && --segment.running == 0) cells_active_ -= cells(segment.size());
  }
}

std::uint64_t CellLedger::idle_cells(std::span<const SlotHead> heads) const {
  ++count_;
  std::uint64_t sum = 0;
  for (const SlotHead& head : heads) {
    for (const std::uint32_t id : at(head.slot).segments) {
      const Segment& segment = segments_[id];
      if (segment.begin >= head.length) break;
      if (segment.running > 0) continue;
      if (segment.seen != count_) {
        segment.seen = count_;
        segment.counted = 0;
      }
      // Heads always cover a segment from its beginning, so the longest cover is the union.
      const std::int32_t covered = std::min(segment.end, head.length) - segment.begin;
      if (covered <= segment.counted) continue;
      sum += cells(covered - segment.counted);
      segment.counted = covered;
    }
  }
  return sum;
}

void CellLedger::check_integrity() const {
  std::vector<std::uint32_t> references(segments_.size());
  std::vector<std::uint32_t> running(segments_.size());
  for (const Slot& slot : slots_) {
    std::int32_t end = 0;
    for (const std::uint32_t id : slot.segments) {
      ZH_CHECK(segments_[id].begin == end && segments_[id].end > end);
      end = segments_[id].end;
      ++references[id];
      if (slot.running) ++running[id];
    }
    ZH_CHECK(end == slot.held);
  }
  std::uint64_t held = 0;
  std::uint64_t active = 0;
  std::size_t unused = 0;
  for (std::size_t id = 0; id < segments_.size(); ++id) {
    ZH_CHECK(segments_[id].references == references[id]);
    if (references[id] == 0) {
      ++unused;
      continue;
    }
    ZH_CHECK(segments_[id].running == running[id]);
    ZH_CHECK(copies_ == Copies::kShare || references[id] == 1);
    held += cells(segments_[id].size());
    if (running[id] > 0) active += cells(segments_[id].size());
  }
  ZH_CHECK(unused == free_segments_.size());
  ZH_CHECK(held == cells_held_ && active == cells_active_);
}

}  // namespace zerohop
