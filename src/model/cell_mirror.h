// Which cell of a pool holds which position of which slot: the library's own books, kept a second
// time.
//
// libllama does not tell where in the pool a token went. But how far attention has to look is
// decided by the highest cell that holds anything, so whoever wants to know what a fragmented pool
// costs needs the cells. The library's allocation is deterministic and simple, so it is followed
// here: every call that changes cells in the library has its twin.
//
//   - Rows go, in the order of the batch, to the first free cells from a moving head on, wrapping
//     around once. The head then stands behind the last of them.
//   - If the head is farther from the start than "cells in use + 2 × rows", it is taken to be 0:
//     there must be holes below.
//   - Freeing a cell below the head moves the head down to it.
//
//   cells  |A A A . . A B B B . . . . . .|     . free     A, B slots
//                                ^ head        scanned: 9 (and padded), used: 7
//
// Source: llama_kv_cache::find_slot, apply_ubatch, seq_rm, seq_cp and state_read_meta of libllama
// 0.5.0. A test does the same random things here and there and compares
// (llama_cell_mirror_test.cc). Cost beside a decode: 5 ns a row.
//
// A slot holds positions [0, length), as every slot of a context without holes does. The owner of
// the context owns its mirror; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/token.h"
#include "model/model.h"

namespace zerohop {

class CellMirror {
 public:
  using Cell = std::uint32_t;

  CellMirror() = default;  ///< no cells, no slots
  CellMirror(std::uint32_t cells, std::uint32_t slots);

  /// One cell for each row, at the end of its slot. False when there are too few; nothing changed.
  bool append(std::span<const BatchRow> rows);
  /// The same for one row of `slot`.
  bool append(SlotId slot);

  /// Frees what `slot` holds from position `from` on.
  void cut(SlotId slot, std::int32_t from);

  /// `to`, which holds [0, range.begin), gets `range` of `from`: the same cells.
  void share(SlotId from, SlotId to, PositionRange range);

  /// A saved state comes in: a cell for each of `positions`, in that order; those in `range`, which
  /// begins where `slot` ends, become the slot's, the others are freed again. False when there are
  /// too few cells; nothing changed.
  bool restore(SlotId slot, std::span<const std::int32_t> positions, PositionRange range);

  std::uint32_t cells() const { return static_cast<std::uint32_t>(holders_.size()); }
  std::uint32_t used() const { return used_; }  ///< each shared cell once
  std::uint32_t free() const { return cells() - used_; }
  /// Highest used cell + 1.
  std::uint32_t top() const { return top_; }
  std::int32_t length(SlotId slot) const {
    return static_cast<std::int32_t>(slots_[index_of(slot)].size());
  }
  /// The cell of each position of `slot`, from 0. Valid until the next change.
  std::span<const Cell> held(SlotId slot) const { return slots_[index_of(slot)]; }
  /// Who holds the highest used cell; nothing where there is none, or several slots share it. Looks
  /// at every cell.
  std::optional<TopCell> top_cell() const;
  /// Slots that hold `cell`.
  std::uint32_t holders(Cell cell) const { return holders_[cell]; }

  /// The books balance; crashes where they do not. Looks at every cell.
  void check_integrity() const;

 private:
  std::size_t index_of(SlotId slot) const;
  Cell begin_search(std::uint32_t rows) const;
  Cell take_from(Cell start);
  Cell next_free(Cell start) const;
  void lower_top();

  std::vector<std::uint32_t> holders_;    // by cell
  std::vector<std::uint64_t> free_;       // a bit a cell
  std::vector<std::vector<Cell>> slots_;  // by slot, then by position
  std::uint32_t used_ = 0;
  std::uint32_t top_ = 0;
  Cell head_ = 0;
  std::vector<Cell> taken_;  // scratch of restore()
};

}  // namespace zerohop
