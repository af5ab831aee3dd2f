#include "engine/drafter.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace zerohop {
namespace {

// Upper ends of the classes of agreeing tokens, and what is assumed of each before anything was
// tried: cautiously, for a few tries of its own tell more of a text than any other text does.
constexpr std::array<std::int32_t, 6> kClassEnds{2, 3, 5, 9, 17, NgramIndex::kAgreeingMax};
constexpr std::array<double, 6> kAssumed{0.20, 0.35, 0.55, 0.70, 0.80, 0.90};
// What is assumed counts for so many tries.
constexpr double kAssumedTries = 3;
// Earlier tries count less: the last ten or so make up most of what is known.
constexpr double kKept = 0.93;

}  // namespace

std::size_t Drafter::class_of(std::int32_t agreeing) {
  const auto found = std::lower_bound(kClassEnds.begin(), kClassEnds.end(), agreeing);
  return std::min(static_cast<std::size_t>(found - kClassEnds.begin()), kClasses - 1);
}

double Drafter::chance(std::int32_t agreeing) const {
  const std::size_t index = class_of(agreeing);
  const Evidence& seen = evidence_[index];
  return (seen.taken + kAssumed[index] * kAssumedTries) / (seen.tried + kAssumedTries);
}

void Drafter::propose(TokenSpan text, std::size_t most) {
  tokens_.clear();
  gains_.clear();
  if (rest_ > 0) {
    if (text.size() < rest_) return;
    rest_ = 0;
    forget_half();
  }
  text_size_ = text.size();
  if (most == 0) return;
  index_.follow(text);
  const std::optional<NgramIndex::Match> match = index_.find(text);
  if (!match) return;
  agreeing_ = match->agreeing;
  NgramIndex::copy(text, *match, most, tokens_);
  double gain = 1;
  for (std::size_t j = 0; j < tokens_.size(); ++j) {
    gain *= chance(agreeing_ + static_cast<std::int32_t>(j));
    gains_.push_back(gain);
  }
}

void Drafter::shorten(std::size_t count) {
  if (count >= tokens_.size()) return;
  tokens_.resize(count);
  gains_.resize(count);
}

void Drafter::declined() {
  if (tokens_.empty() || ++declined_ < kDeclinedMax) return;
  forget_half();
}

void Drafter::note(std::int32_t agreeing, double taken) {
  Evidence& seen = evidence_[class_of(agreeing)];
  seen.taken = seen.taken * kKept + taken;
  seen.tried = seen.tried * kKept + 1;
}

void Drafter::forget_half() {
  declined_ = 0;
  for (Evidence& seen : evidence_) {
    seen.taken /= 2;
    seen.tried /= 2;
  }
}

void Drafter::learn(const Outcome& outcome) {
  ZH_DCHECK(outcome.accepted <= outcome.drafted && outcome.drafted <= tokens_.size());
  for (std::size_t j = 0; j < outcome.accepted; ++j) {
    note(agreeing_ + static_cast<std::int32_t>(j), 1);
  }
  if (outcome.parted) note(agreeing_ + static_cast<std::int32_t>(outcome.accepted), 0);
  if (outcome.accepted > 0) {
    failures_ = 0;
    next_rest_ = kRestMin;
    return;
  }
  if (!outcome.parted || ++failures_ < kFailuresMax) return;
  failures_ = 0;
  rest_ = text_size_ + next_rest_;
  next_rest_ = std::min(next_rest_ * 2, kRestMax);
}

}  // namespace zerohop
