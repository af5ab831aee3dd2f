// How long an answer should be while cells are scattered or scarce, for requests that allow it
// (Scheduling::soft_max_tokens). Pure functions.
//
//   share of max_tokens
//   1.00 ───────────────┐
//   0.87                 ╲
//   0.75                   ╲───────────────────
//        0            .35 .40 .446            1   fragmentation
#pragma once

#include <cstdint>

namespace zerohop {

/// Between 0.75 and 1. `fragmentation` from 0 to 1, as in EngineSnapshot.
double soft_limit_share(double fragmentation);

/// The output target of a request that asked for `max_tokens`; 0 only for 0.
std::uint32_t soft_max_tokens(std::uint32_t max_tokens, double fragmentation);

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
