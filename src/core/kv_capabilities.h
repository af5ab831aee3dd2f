// What one KV layout can do. The cache plans with these numbers and never asks which layout it is.
#pragma once

#include <cstdint>

#include "core/token.h"

namespace zerohop {

struct KvCapabilities {
  std::uint32_t slots = 1;       ///< sequence ids that may hold cells
  std::uint32_t sequences = 1;   ///< of these, how many may be computed at once
  std::uint32_t slot_cells = 0;  ///< most cells that one sequence may use
  std::uint32_t cells = 0;       ///< all cells; less than slots × slot_cells when they are pooled
  bool pooled = false;           ///< cells are shared between sequences (unified layout)
  bool can_share_range = false;  ///< copy() of a partial range works and shares cells
  bool can_cut_tail = true;      ///< remove() of a tail leaves a usable sequence
  bool can_copy_whole = true;    ///< copy() of a whole slot to an empty one works
  bool can_save_range = false;   ///< save() and restore() of a part of a slot work
  std::uint64_t bytes_per_cell = 0;  ///< of a saved state, about
  bool dense_slots_matter = false;   ///< running ids with holes are slower (stream layout)
};

/// What the highest cell of a pool that is in use holds. Attention looks over all cells up to it.
struct TopCell {
  SlotId slot;
  std::int32_t position = 0;
};

}  // namespace zerohop
