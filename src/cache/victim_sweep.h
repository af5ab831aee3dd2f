// Which of many goes next, without looking at all of them each time.
//
// What a piece is worth changes with time, so an order kept in a heap is stale, and looking at
// 100,000 pieces for one eviction takes milliseconds. The sweep looks at the next 128 in turn and
// at the 32 worst of those it saw before, and takes the worst of all. Up to 128 this is exact;
// beyond, the short list of the worst survives from call to call, so that a piece is overlooked for
// at most one round. Deterministic. Cost: at most 160 scores a call, unless none of these may go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace zerohop {

/// The lowest goes first.
struct VictimRank {
  std::int32_t tier = 0;  ///< counts before the value
  double value = 0;

  friend bool operator<(const VictimRank& a, const VictimRank& b) {
    return a.tier != b.tier ? a.tier < b.tier : a.value < b.value;
  }
};

struct Victim {
  std::uint32_t index = 0;
  VictimRank rank;
};

class VictimSweep {
 public:
  /// The lowest of 0 … population − 1 by `score`, which returns nothing for those that may not go.
  template <class Score>
  std::optional<Victim> lowest(std::uint32_t population, Score score) {
    if (population == 0) return std::nullopt;
    seen_.clear();
    for (const std::uint32_t index : worst_) {
      if (index < population) look_at(index, score);
    }
    for (std::uint32_t looked = 0; looked < population; ++looked) {
      if (looked >= kLooks && !seen_.empty()) break;
      if (cursor_ >= population) cursor_ = 0;
      look_at(cursor_++, score);
    }
    if (seen_.empty()) return std::nullopt;
    const auto lower = [](const Victim& a, const Victim& b) {
      return a.rank < b.rank || (!(b.rank < a.rank) && a.index < b.index);
    };
    const std::size_t kept = std::min<std::size_t>(seen_.size(), kWorst);
    std::partial_sort(seen_.begin(), seen_.begin() + static_cast<std::ptrdiff_t>(kept), seen_.end(),
                      lower);
    worst_.clear();
    for (std::size_t i = 0; i < kept; ++i) {
      if (worst_.empty() || worst_.back() != seen_[i].index) worst_.push_back(seen_[i].index);
    }
    return seen_.front();
  }

 private:
  static constexpr std::uint32_t kLooks = 128;
  static constexpr std::size_t kWorst = 32;

  template <class Score>
  void look_at(std::uint32_t index, Score& score) {
    const std::optional<VictimRank> rank = score(index);
    if (rank) seen_.push_back(Victim{index, *rank});
  }

  std::uint32_t cursor_ = 0;
  std::vector<std::uint32_t> worst_;
  std::vector<Victim> seen_;
};

}  // namespace zerohop
