// Which of the prompts that are being computed goes on first: the one of the higher class, then of
// the tenant that was served least, then the one whose deadline is nearest to be missed, then the
// shortest. FairQueue charges a prompt when it starts, so the counters do not change while it is
// computed, and the order is stable: prompts are finished one after the other instead of all late.
//
// A long prompt could wait for ever behind a stream of short ones from tenants that were served
// less. Of those that do not come first the one that has been in prefill longest is aged, when that
// is `ageing` or more: the planner gives it a part of each step (batch_planner.h). One at a time,
// the oldest, so that each comes to its end however many there are.
//
// Pure; one function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "core/tenant.h"

namespace zerohop {

struct PrefillCandidate {
  PriorityClass priority = PriorityClass::kStandard;
  TenantId tenant;
  double counter = 0;                            ///< FairQueue::counter()
  std::uint32_t pending = 0;                     ///< tokens to compute before its first token
  TimePoint started_at{};                        ///< of its prefill (or when it went on)
  std::optional<TimePoint> first_token_by = {};  ///< its deadline
};

struct PrefillRank {
  std::uint32_t rank = 0;  ///< 0 goes first
  bool aged = false;
};

struct PrefillOrderOptions {
  Duration ageing{std::chrono::seconds(2)};
  Duration row{};  ///< about what a row of a prompt takes, for deadlines
};

/// One rank for each candidate, in the same order.
std::vector<PrefillRank> rank_prefills(std::span<const PrefillCandidate> candidates,
                                       const PrefillOrderOptions& options, TimePoint now);

}  // namespace zerohop
