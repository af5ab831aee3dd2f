// How many threads compute the next step, on a machine that others use too.
//
// The threads of a pass wait for each other after every operation, some hundreds of times, and they
// wait by spinning. As long as each has a core of its own that is the quickest way. When another
// process takes one of the cores, all of them wait for the one that the operating system has put
// aside, time slice by time slice: with one busy neighbour on two cores a pass of two threads takes
// 3 to 50 times as long, and one thread alone, on the free core, some 1.9 times.
//
//                     slow twice, or stopped at its limit, and fewer are likely quicker
//        all threads ────────────────────────────────────────────────────────────────▶ fewer
//             ▲                                                                        │ │
//             └──────────── a probe was quicker ◀── probe, from time to time ──────────┘ │
//                                                        ▲       a probe was slower      │
//                                                        └───────────────────────────────┘
//
// What is compared is slowness: the time that a step took over the time that its size alone would
// make it take (cost_model.h). Each number of threads has what it takes when nobody disturbs, the
// floor, and what it took lately. A step has a limit where fewer threads could take it over: far
// beyond its prediction it is stopped and computed again with fewer, because one single step may
// last seconds. A probe computes a real step with more threads and is stopped as soon as it would
// not pay, and probes take a tenth of the time at most.
//
// Pure arithmetic; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace zerohop {

class ThreadGovernor {
 public:
  /// `most` threads where nobody disturbs; at least one.
  explicit ThreadGovernor(std::uint32_t most);

  /// What the next step is to be computed with.
  struct Choice {
    std::size_t level = 0;        ///< of the numbers of threads to choose from, ascending
    bool probe = false;           ///< with more threads than settled for
    std::optional<double> limit;  ///< slowness at which it is to be stopped; nothing: never
  };
  Choice choose(TimePoint now);

  /// The step of `choice` ran to its end.
  void finished(const Choice& choice, double slowness, TimePoint now);
  /// It was stopped at its limit.
  void stopped(const Choice& choice, TimePoint now);

  std::uint32_t threads(std::size_t level) const { return levels_[level]; }
  /// What is settled for.
  std::size_t level() const { return level_; }
  std::uint32_t threads() const { return levels_[level_]; }
  /// How slow a step of that level is expected to be now.
  double expected(std::size_t level) const;

 private:
  struct Level {
    std::optional<double> floor;  // slowness when nobody disturbs
    double lately = 0;            // an average of the last steps; 0: unknown
    TimePoint seen{};             // when `lately` was learned
  };

  void learn(std::size_t level, double slowness, TimePoint now);
  void settle(std::size_t level, TimePoint now);
  double floor_of(std::size_t level) const;
  std::optional<std::size_t> better_below(TimePoint now) const;
  double probe_limit() const;
  void begin_trial(std::size_t level, double to_beat, TimePoint now);
  void end_probe(bool paid, std::size_t level, TimePoint now);

  std::vector<std::uint32_t> levels_;  // numbers of threads, ascending; the last one is `most`
  std::vector<Level> states_;
  std::size_t level_;
  std::uint64_t steps_ = 0;  // finished ones
  std::uint32_t slow_ = 0;   // in a row
  TimePoint probe_at_{};     // below the top: when the next one is due
  Duration probe_pause_{};
  TimePoint chosen_at_{};  // the last choice
  // On trial after a move down: what it must beat, and for how many steps more.
  double to_beat_ = 0;
  std::uint32_t trial_ = 0;
  std::size_t came_from_ = 0;
  TimePoint stay_until_{};  // no move down before: the last one did not pay
  Duration stay_{};
};

}  // namespace zerohop
