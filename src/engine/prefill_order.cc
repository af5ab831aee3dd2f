#include "engine/prefill_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace zerohop {
namespace {

// A deadline counts from when this many times the prompt's own time is left until it: earlier there
// is no hurry, and the shortest goes first.
constexpr int kHurry = 2;

}  // namespace

std::vector<PrefillRank> rank_prefills(std::span<const PrefillCandidate> candidates,
                                       const PrefillOrderOptions& options, TimePoint now) {
  // Time left beyond what the prompt itself takes; none where there is no hurry.
  const auto slack = [&](const PrefillCandidate& candidate) {
    if (!candidate.first_token_by) return Duration::max();
    const Duration left = *candidate.first_token_by - now;
    const Duration own = options.row * candidate.pending;
    return left < own * kHurry ? left - own : Duration::max();
  };
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const PrefillCandidate& c = candidates[i];
    return std::tuple(c.priority, c.counter, c.tenant, slack(c), c.pending, c.started_at, i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });

  std::vector<PrefillRank> ranks(candidates.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = {rank, false};
  if (order.size() < 2) return ranks;
  const std::size_t oldest = *std::min_element(
      order.begin() + 1, order.end(), [&candidates](std::size_t a, std::size_t b) {
        return candidates[a].started_at < candidates[b].started_at;
      });
  ranks[oldest].aged = now - candidates[oldest].started_at >= options.ageing;
  return ranks;
}

}  // namespace zerohop
