#include "engine/concurrency_control.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {
namespace {

// Of the objective; below it a further sequence is let in.
constexpr double kQuickPart = 0.8;
// As for shorter answers (pressure_ladder.h).
constexpr double kScattered = 0.40;
constexpr double kGathered = 0.35;
// When steps are too long, one of so many sequences goes.
constexpr std::uint32_t kFewerPart = 4;

}  // namespace

ConcurrencyControl::ConcurrencyControl(const ConcurrencyOptions& options)
    : options_(options), limit_(options.ceiling) {
  ZH_CHECK(options.floor >= 1 && options.floor <= options.ceiling);
}

ConcurrencyControl::Trend ConcurrencyControl::trend_of(const ConcurrencyInput& input) const {
  if (input.running == 0) return Trend::kHold;
  const bool slow = input.step > input.step_max || input.fragmentation > kScattered;
  if (slow) return limit_ > options_.floor ? Trend::kDown : Trend::kHold;
  const double step = to_seconds(input.step);
  const double one_more = step + step / input.running;
  const bool quick = one_more < kQuickPart * to_seconds(input.step_max);
  const bool wanted = input.awaited && input.running >= limit_ && limit_ < options_.ceiling;
  const bool up = quick && wanted && input.fragmentation < kGathered;
  return up ? Trend::kUp : Trend::kHold;
}

std::uint32_t ConcurrencyControl::update(const ConcurrencyInput& input, TimePoint now) {
  const Trend trend = trend_of(input);
  if (trend != trend_) {
    trend_ = trend;
    since_ = now;
  }
  if (trend == Trend::kHold || now - since_ < options_.dwell) return limit_;
  since_ = now;
  if (trend == Trend::kUp) {
    ++limit_;
  } else {
    // A number that nobody comes up to would take many moves to be felt.
    const std::uint32_t from = std::min(limit_, input.running);
    limit_ = std::clamp(from - std::max(from / kFewerPart, 1u), options_.floor, limit_);
  }
  return limit_;
}

}  // namespace zerohop
