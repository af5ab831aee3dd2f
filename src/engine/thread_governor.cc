#include "engine/thread_governor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

// Times the floor. Steps of equal size differ by some 5 % on a quiet machine.
constexpr double kSlow = 1.6;
constexpr std::uint32_t kSlowSteps = 2;
// Times what is expected. Far above any step that only was unlucky.
constexpr double kFarBeyond = 4.0;
// Fewer threads must promise this much.
constexpr double kWorthIt = 1.15;
// A probe may take so much more than what it should take, as far as that still pays.
constexpr double kProbeRatioMax = 0.98;
// Between two probes so many times what the last one took.
constexpr int kProbePauseTimes = 10;
constexpr Duration kProbePauseMin = milliseconds(250);
constexpr Duration kProbePauseMax = milliseconds(1000);
// How long what was seen of another number of threads is worth anything.
constexpr Duration kMemory = milliseconds(3000);
constexpr Duration kStayMin = milliseconds(500);
constexpr Duration kStayMax = milliseconds(16000);
constexpr std::uint32_t kTrialSteps = 3;
// Until so many have finished, what is slow is not known: weights come from the disk, shapes are
// guesses.
constexpr std::uint64_t kStepsToKnow = 24;
constexpr double kNewShare = 0.4;     // of the last step in an average
constexpr double kFloorRise = 1.002;  // a step: the machine or the load may have changed for good

std::vector<std::uint32_t> levels_of(std::uint32_t most) {
  std::set<std::uint32_t> levels{1, most};
  for (const std::uint32_t count : {most / 4, most / 2, most * 3 / 4, most - 1}) {
    if (count >= 1) levels.insert(count);
  }
  return {levels.begin(), levels.end()};
}

}  // namespace

ThreadGovernor::ThreadGovernor(std::uint32_t most)
    : levels_(levels_of(std::max(most, 1u))),
      states_(levels_.size()),
      level_(levels_.size() - 1),
      probe_pause_(kProbePauseMin),
      stay_(kStayMin) {}

// Unknown: as if threads did nothing but share the work.
double ThreadGovernor::floor_of(std::size_t level) const {
  if (states_[level].floor) return *states_[level].floor;
  for (std::size_t i = states_.size(); i-- > 0;) {
    if (states_[i].floor) return *states_[i].floor * levels_[i] / levels_[level];
  }
  return 1;
}

double ThreadGovernor::expected(std::size_t level) const {
  return states_[level].lately > 0 ? states_[level].lately : floor_of(level);
}

// Half-way between what the next level takes when nobody disturbs and what this one takes now.
double ThreadGovernor::probe_limit() const {
  const double ratio = std::min(floor_of(level_ + 1) / floor_of(level_), kProbeRatioMax);
  return expected(level_) * (1 + ratio) / 2;
}

ThreadGovernor::Choice ThreadGovernor::choose(TimePoint now) {
  chosen_at_ = now;
  if (level_ + 1 < levels_.size() && now >= probe_at_ && trial_ == 0) {
    return {level_ + 1, true, probe_limit()};
  }
  Choice choice{level_, false, std::nullopt};
  // On trial nothing is stopped: a step that is long by itself would be, at every level.
  if (level_ > 0 && steps_ >= kStepsToKnow && trial_ == 0) {
    choice.limit = expected(level_) * kFarBeyond;
  }
  return choice;
}

void ThreadGovernor::learn(std::size_t level, double slowness, TimePoint now) {
  Level& state = states_[level];
  const bool fresh = state.lately > 0 && now - state.seen < kMemory;
  state.lately = fresh ? state.lately * std::pow(slowness / state.lately, kNewShare) : slowness;
  state.seen = now;
  const double floor = state.floor ? *state.floor * kFloorRise : state.lately;
  state.floor = std::min(floor, state.lately);
}

void ThreadGovernor::finished(const Choice& choice, double slowness, TimePoint now) {
  ++steps_;
  // Its first steps say nothing about what is to be expected of a quiet machine.
  if (steps_ == kStepsToKnow / 2) states_[choice.level] = {};
  learn(choice.level, slowness, now);
  if (choice.probe) {
    const bool paid = slowness < *choice.limit;
    // Of this level only the time since the neighbour left counts.
    if (paid) states_[choice.level].lately = slowness;
    return end_probe(paid, choice.level, now);
  }
  if (trial_ > 0) {
    if (--trial_ == 0 && expected(level_) > to_beat_) {
      // The others were not to blame. Not again soon.
      stay_until_ = now + stay_;
      stay_ = std::min(stay_ * 2, kStayMax);
      settle(came_from_, now);
    }
    return;
  }
  slow_ = slowness > kSlow * floor_of(level_) ? slow_ + 1 : 0;
  if (now > stay_until_ + kStayMax) stay_ = kStayMin;
  if (slow_ < kSlowSteps || steps_ < kStepsToKnow || now < stay_until_) return;
  if (const auto below = better_below(now)) {
    begin_trial(*below, expected(level_), now);
  }
}

void ThreadGovernor::begin_trial(std::size_t level, double to_beat, TimePoint now) {
  const std::size_t from = level_;
  settle(level, now);
  if (level == from) return;
  to_beat_ = to_beat;
  came_from_ = from;
  trial_ = kTrialSteps;
}

// It took kFarBeyond times what was expected, and was not even done.
void ThreadGovernor::stopped(const Choice& choice, TimePoint now) {
  ZH_CHECK(choice.limit);
  if (choice.probe) return end_probe(false, choice.level, now);
  learn(choice.level, *choice.limit, now);
  const std::size_t below = choice.level > 0 ? choice.level - 1 : 0;
  begin_trial(better_below(now).value_or(below), *choice.limit, now);
}

// The level below that promises most, if it promises enough.
std::optional<std::size_t> ThreadGovernor::better_below(TimePoint now) const {
  std::optional<std::size_t> best;
  double least = expected(level_) / kWorthIt;
  for (std::size_t i = 0; i < level_; ++i) {
    const bool known = states_[i].lately > 0 && now - states_[i].seen < kMemory;
    const double promised = known ? states_[i].lately : floor_of(i);
    if (promised >= least) continue;
    least = promised;
    best = i;
  }
  return best;
}

void ThreadGovernor::end_probe(bool paid, std::size_t level, TimePoint now) {
  if (paid) {
    settle(level, now);
    probe_pause_ = kProbePauseMin;
    return;
  }
  probe_pause_ = std::min(probe_pause_ * 2, kProbePauseMax);
  probe_at_ = now + std::max(probe_pause_, (now - chosen_at_) * kProbePauseTimes);
}

void ThreadGovernor::settle(std::size_t level, TimePoint now) {
  if (level < level_) {
    // What it took when it was last used was another time.
    if (now - states_[level].seen >= kMemory) states_[level].lately = 0;
    probe_pause_ = kProbePauseMin;
  }
  level_ = level;
  slow_ = 0;
  trial_ = 0;
  probe_at_ = now + probe_pause_;
}

}  // namespace zerohop
