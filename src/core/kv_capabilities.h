// What one KV layout can do. The cache plans with these numbers and never asks which layout it is.
#pragma once

#include <cstdint>

namespace zerohop {

struct KvCapabilities {
  std::uint32_t slots = 1;       ///< sequence ids that may hold cells
  std::uint32_t slot_cells = 0;  ///< most cells that one sequence may use
  std::uint32_t cells = 0;       ///< all cells; less than slots × slot_cells when they are pooled
  bool pooled = false;           ///< cells are shared between sequences (unified layout)
  bool can_share_range = false;  ///< copy() of a partial range works and shares cells
  bool can_cut_tail = true;      ///< remove() of a tail leaves a usable sequence
  bool dense_slots_matter = false;  ///< running ids with holes are slower (stream layout)
};

}  // namespace zerohop
