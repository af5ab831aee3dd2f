// What is in the saved state of a sequence, as libllama writes it.
//
// Layout of release 0.5.0 (llama_state_seq_get_data; llama_kv_cache::state_write and
// llama_memory_recurrent::state_write), all numbers as the machine has them:
//
//   u32 magic, i32 sequence id
//   once for each cache (two for sliding windows: all layers without, then all layers with one):
//     u32 streams; for each: u32 cells, and unless that is 0
//       for each cell, in ascending order of cells: i32 position, u32 1, [12 bytes more], i32 id
//       u32 V is transposed, u32 layers
//       for each layer: i32 type, u64 bytes of a row, rows of K
//       for each layer (none for models that keep V inside K):
//         i32 type, u64 bytes of a row, rows of V; transposed: i32 type, u32 bytes of a number,
//         u32 rows, rows of one number for each cell
//   for models with a running state: u32 cells, for each: i32 position, u32 0;
//     u32 0, u32 layers; as often as needed: i32 type, u64 bytes of a row, rows
//
// The library trusts these bytes. It refuses another number of streams or layers, other types and
// row sizes, and a state that is cut off; but it believes a number of cells before it looks for
// them (and allocates for as many), takes a negative position into cells that no call can free
// again, and takes the same position twice, which attention then counts twice. So a state that did
// not come straight from the library is parsed first.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/token.h"

namespace zerohop {

/// Bytes that stay, and behind them numbers in F16.
struct StateRun {
  std::uint64_t plain_bytes = 0;
  std::uint64_t f16_numbers = 0;
};

enum class StatePartKind : std::uint8_t {
  kPlain,    ///< of the state as a whole
  kCount,    ///< u32, how many cells follow
  kCells,    ///< positions and ids
  kRows,     ///< keys or values, one row a cell
  kColumns,  ///< values, one number of each cell in a row
};

/// A piece of a saved state.
struct StatePart {
  StatePartKind kind = StatePartKind::kPlain;
  bool windowed = false;         ///< of the second cache
  std::uint32_t unit_bytes = 0;  ///< of one cell: its entry, its row, its number in a column
  std::uint64_t bytes = 0;
};

struct StateLayout {
  /// Of the first cache, in ascending order of cells. Empty for models without cells.
  std::vector<std::int32_t> positions;
  std::vector<StateRun> runs;    ///< together the whole state
  std::vector<StatePart> parts;  ///< likewise
  bool has_running_state = false;
};

/// Nothing when the bytes are not a saved state of one sequence, or of a kind unknown here.
std::optional<StateLayout> parse_state(std::span<const std::byte> state);

/// The state of one cell as if it were of `cells`: its keys and values over and over, at the
/// positions from 0 on; in layers with a sliding window only the last `window_cells` of them. Only
/// good for measuring how long attention takes. Empty when `one` is not the state of one cell, or
/// is of a model with a running state.
struct StretchTo {
  std::uint32_t cells = 1;
  std::uint32_t window_cells = 1;
};
std::vector<std::byte> stretch_state(std::span<const std::byte> one, StretchTo to);

/// Whether every position of `range` is there exactly once, and no other.
bool holds_exactly(const StateLayout& layout, PositionRange range);

}  // namespace zerohop
