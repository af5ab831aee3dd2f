#include "engine/draft_planner.h"

#include <algorithm>
#include <cstddef>

namespace zerohop {
namespace {

// A step with drafts has to promise that much more than one without: predictions of steps are off
// by 5 %, and the chances are guesses.
constexpr double kGainMin = 1.06;

struct Row {
  double gain = 0;
  std::uint64_t cells = 0;
  std::size_t offer = 0;
};

// Of all offers, the rows that are likeliest to be accepted first; those of one offer in order.
std::vector<Row> best_rows(std::span<const DraftOffer> offers) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    std::uint64_t cells = offers[i].cells;
    for (const double gain : offers[i].gains) rows.push_back({gain, cells++, i});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.gain > b.gain; });
  return rows;
}

// In turns, so that the room is shared whatever the proposals are worth.
std::vector<std::uint32_t> take_all(std::span<const DraftOffer> offers, std::uint32_t rows_max) {
  std::vector<std::uint32_t> drafts(offers.size(), 0);
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t i = 0; i < offers.size() && rows_max > 0; ++i) {
      if (drafts[i] == offers[i].gains.size()) continue;
      ++drafts[i];
      --rows_max;
      more = true;
    }
  }
  return drafts;
}

}  // namespace

std::vector<std::uint32_t> plan_drafts(std::span<const DraftOffer> offers, const DraftLoad& load,
                                       const CostModel& cost, DraftRule rule) {
  if (rule == DraftRule::kAlways) return take_all(offers, load.rows_max);
  std::vector<std::uint32_t> drafts(offers.size(), 0);
  if (load.answers == 0 || load.answers >= load.answers_max) return drafts;
  std::vector<Row> rows = best_rows(offers);
  rows.resize(std::min<std::size_t>(rows.size(), load.rows_max));
  StepSize step = load.step;
  double tokens = load.answers;
  double best = tokens / to_seconds(cost.predict(step)) * kGainMin;
  std::size_t taken = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    step.rows += 1;
    step.cells_read += rows[k].cells;
    tokens += rows[k].gain;
    const Duration time = cost.predict(step);
    if (time > load.time_max) break;
    const double rate = tokens / to_seconds(time);
    if (rate <= best) continue;
    best = rate;
    taken = k + 1;
  }
  for (std::size_t k = 0; k < taken; ++k) ++drafts[rows[k].offer];
  return drafts;
}

}  // namespace zerohop
