#include "model/cell_mirror.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

CellMirror::CellMirror(std::uint32_t cells, std::uint32_t slots)
    : holders_(cells),
      free_((cells + kWordBits - 1) / kWordBits, ~std::uint64_t{0}),
      slots_(slots) {
  // Bits behind the last cell are never free.
  if (cells % kWordBits != 0) free_.back() = (std::uint64_t{1} << cells % kWordBits) - 1;
}

std::size_t CellMirror::index_of(SlotId slot) const {
  ZH_CHECK(slot.value >= 0 && static_cast<std::size_t>(slot.value) < slots_.size());
  return static_cast<std::size_t>(slot.value);
}

CellMirror::Cell CellMirror::begin_search(std::uint32_t rows) const {
  return head_ > used_ + std::uint64_t{2} * rows ? 0 : head_;
}

// The first free cell from `start` on, around the end; there must be one.
CellMirror::Cell CellMirror::next_free(Cell start) const {
  std::size_t word = start / kWordBits;
  if (word >= free_.size()) word = start = 0;
  std::uint64_t bits = free_[word] & (~std::uint64_t{0} << start % kWordBits);
  while (bits == 0) {
    word = word + 1 == free_.size() ? 0 : word + 1;
    bits = free_[word];
  }
  return static_cast<Cell>(word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
}

CellMirror::Cell CellMirror::take_from(Cell start) {
  const Cell cell = next_free(start);
  free_[cell / kWordBits] &= ~(std::uint64_t{1} << cell % kWordBits);
  holders_[cell] = 1;
  ++used_;
  top_ = std::max(top_, cell + 1);
  return cell;
}

bool CellMirror::append(std::span<const BatchRow> rows) {
  if (rows.size() > free()) return false;
  Cell at = begin_search(static_cast<std::uint32_t>(rows.size()));
  for (const BatchRow& row : rows) {
    const Cell cell = take_from(at);
    slots_[index_of(row.slot)].push_back(cell);
    at = cell + 1;
  }
  if (!rows.empty()) head_ = at;
  return true;
}

bool CellMirror::append(SlotId slot) {
  BatchRow row;
  row.slot = slot;
  return append({&row, 1});
}

void CellMirror::lower_top() {
  while (top_ > 0) {
    const std::uint32_t word = (top_ - 1) / kWordBits;
    const std::uint32_t bits = (top_ - 1) % kWordBits + 1;  // of this word, those below top_
    const std::uint64_t mask =
        bits == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const std::uint64_t in_use = ~free_[word] & mask;
    if (in_use != 0) {
      top_ = word * kWordBits + static_cast<std::uint32_t>(std::bit_width(in_use));
      return;
    }
    top_ = word * kWordBits;
  }
}

void CellMirror::cut(SlotId slot, std::int32_t from) {
  std::vector<Cell>& held = slots_[index_of(slot)];
  const auto keep = static_cast<std::size_t>(std::max(from, 0));
  Cell lowest = cells();
  while (held.size() > keep) {
    const Cell cell = held.back();
    held.pop_back();
    ZH_DCHECK(holders_[cell] > 0);
    if (--holders_[cell] > 0) continue;
    free_[cell / kWordBits] |= std::uint64_t{1} << cell % kWordBits;
    --used_;
    lowest = std::min(lowest, cell);
  }
  if (lowest == cells()) return;
  if (lowest < head_) head_ = lowest;
  lower_top();
}

void CellMirror::share(SlotId from, SlotId to, PositionRange range) {
  const std::size_t source = index_of(from);
  const std::size_t target = index_of(to);
  ZH_CHECK(source != target && range.begin >= 0 && length(to) == range.begin &&
           range.end <= length(from));
  for (std::int32_t position = range.begin; position < range.end; ++position) {
    const Cell cell = slots_[source][static_cast<std::size_t>(position)];
    ++holders_[cell];
    slots_[target].push_back(cell);
  }
}

bool CellMirror::restore(SlotId slot, std::span<const std::int32_t> positions,
                         PositionRange range) {
  std::vector<Cell>& held = slots_[index_of(slot)];
  ZH_CHECK(static_cast<std::int32_t>(held.size()) == range.begin);
  if (positions.size() > free()) return false;
  if (positions.empty()) return true;
  taken_.clear();
  Cell at = begin_search(static_cast<std::uint32_t>(positions.size()));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    taken_.push_back(take_from(at));
    at = taken_.back() + 1;
  }
  head_ = at;
  held.resize(static_cast<std::size_t>(std::max(range.end, range.begin)), cells());
  Cell lowest = cells();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Cell cell = taken_[i];
    if (positions[i] >= range.begin && positions[i] < range.end) {
      held[static_cast<std::size_t>(positions[i])] = cell;
      continue;
    }
    holders_[cell] = 0;
    free_[cell / kWordBits] |= std::uint64_t{1} << cell % kWordBits;
    --used_;
    lowest = std::min(lowest, cell);
  }
  // Every position of the range came in, or a state with holes was let through.
  for (std::int32_t position = range.begin; position < range.end; ++position) {
    ZH_CHECK(held[static_cast<std::size_t>(position)] != cells());
  }
  if (lowest < head_) head_ = lowest;
  lower_top();
  return true;
}

std::optional<TopCell> CellMirror::top_cell() const {
  if (top_ == 0 || holders_[top_ - 1] != 1) return std::nullopt;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const std::vector<Cell>& held = slots_[slot];
    const auto found = std::find(held.begin(), held.end(), top_ - 1);
    if (found == held.end()) continue;
    return TopCell{SlotId(static_cast<std::int32_t>(slot)),
                   static_cast<std::int32_t>(found - held.begin())};
  }
  return std::nullopt;
}

void CellMirror::check_integrity() const {
  std::vector<std::uint32_t> holders(holders_.size());
  for (const std::vector<Cell>& slot : slots_) {
    for (const Cell cell : slot) ++holders[cell];
  }
  ZH_CHECK(holders == holders_);
  std::uint32_t used = 0;
  std::uint32_t top = 0;
  for (Cell cell = 0; cell < cells(); ++cell) {
    const bool is_free = (free_[cell / kWordBits] >> cell % kWordBits & 1) != 0;
    ZH_CHECK(is_free == (holders_[cell] == 0));
    if (is_free) continue;
    ++used;
    top = cell + 1;
  }
  ZH_CHECK(used == used_ && top == top_ && head_ <= cells());
}

}  // namespace zerohop
