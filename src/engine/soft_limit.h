// How long an answer should be while cells are scattered or scarce, for requests that allow it
// (Scheduling::soft_max_tokens). Pure functions.
//
//   share of the longest answer
//   1.00 ───────────────┐
//   0.87                 ╲
//   0.75                   ╲───────────────────
//        0            .35 .40 .446            1   fragmentation
//                     .87 .92 .966                cells promised
//
// Two reasons lead to the rung soft_max_tokens (pressure_ladder.h), so two measures shorten: each
// by the same line between the marks at which the rung is held by it and wanted for it, so that
// nothing jumps where the rung is left. The smaller share counts. Cells that are promised (held by
// running sequences or reserved for them) say how short room is; idle ones can go.
//
// The share is taken of the longest answer that there could be, the smaller of max_tokens and the
// room in the window: of max_tokens alone it would shorten nothing where the window is the limit.
#pragma once

#include <cstdint>

namespace zerohop {

struct SoftPressure {
  double fragmentation = 0;  ///< 0 to 1, as in EngineSnapshot
  double promised = 0;       ///< of all cells, those that running sequences hold or were promised
};

/// Between 0.75 and 1.
double soft_limit_share(const SoftPressure& pressure);

/// The output target of a request whose answer could have `longest` tokens; 0 only for 0.
std::uint32_t soft_max_tokens(std::uint32_t longest, const SoftPressure& pressure);

struct AnswerRoom {
  std::uint32_t cells_total = 0;
  std::uint32_t cells_active = 0;
  std::uint32_t cells_reserved = 0;
  std::uint32_t prompt_tokens = 0;  ///< that need cells of their own
  std::uint32_t max_tokens = 0;     ///< asked for
};

/// The longest answer that has room beside what runs now without anybody being parked; at most
/// max_tokens. 0: the prompt alone has none. Idle cells count as room, because they can go.
std::uint32_t recommended_max_tokens(const AnswerRoom& room);

}  // namespace zerohop
