// How many tokens of each proposal (drafter.h) are computed in a step beside the tokens that are
// known: as many as make the step bring most tokens a second, if that is a gain worth the doubt.
//
// A step with k more rows takes longer, by what the cost model has learned of steps of that size,
// and brings as many more tokens as the proposals are worth:
//
//   rate(k) = (answers in the step + gains of the best k rows) / predicted time with k rows more
//
// The best rows are taken first. Where a row costs a third of a step, one answer alone gains by
// proposals that are taken half of the time; eight answers fill the machine by themselves and gain
// little even by good ones. From DraftLoad::answers_max answers on there are none: rows that are
// rejected would be felt by everybody.
//
// Measured steps decide, so the rule holds on any machine: where more rows cost next to nothing
// drafts are long, where every row costs the same there are none.
//
// A pure function of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost_model.h"

namespace zerohop {

struct DraftOffer {
  std::span<const double> gains;  ///< Drafter::gains()
  std::uint64_t cells = 0;        ///< that the first of these rows looks back at
};

struct DraftLoad {
  StepSize step;               ///< without drafts
  std::uint32_t answers = 0;   ///< that get a token from it
  std::uint32_t rows_max = 0;  ///< of all drafts together
  Duration time_max{};         ///< that the step may take
  /// With that many answers or more there are no drafts.
  std::uint32_t answers_max = 0;
};

/// Whether a draft has to pay.
enum class DraftRule : std::uint8_t {
  kWherePays,
  kAlways,  ///< as much of each proposal as fits
};

/// Tokens of each offer, in the same order.
std::vector<std::uint32_t> plan_drafts(std::span<const DraftOffer> offers, const DraftLoad& load,
                                       const CostModel& cost, DraftRule rule);

}  // namespace zerohop
