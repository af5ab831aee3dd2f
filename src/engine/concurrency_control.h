// How many sequences may run at once, where that is not a fixed number: as many as keep the
// objective for the time between two tokens, between a floor and a ceiling.
//
// More sequences give more tokens a second and longer steps. So the number falls while a step in
// which everybody decodes would take longer than the objective, or while the cells that attention
// looks over are badly scattered; it grows while such a step is well within the objective and
// somebody waits for a place. Who runs when the number falls goes on to its end.
//
//                      slow for `dwell`: a quarter fewer
//        ┌──────────────────────────────────────────────────┐
//        ▼                                                  │
//     floor …………………………………………… limit ……………………………………… ceiling (where it begins)
//                                  │                        ▲
//                                  └────────────────────────┘
//                      quick, full and awaited for `dwell`: one more
//
//   slow    step > objective,              or fragmentation > 0.40
//   quick   step of one more < 0.8 of it, and fragmentation < 0.35
//
// Between the two marks nothing moves, and after each move it takes another `dwell` for the next:
// the step times of a new number have to be seen first. Down by a quarter and up by one, because
// steps that are too long hurt everybody who runs, while a place too few only lets somebody wait.
//
// Pure: the same inputs give the same numbers. One owner (the engine thread).
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace zerohop {

struct ConcurrencyOptions {
  std::uint32_t floor = 1;    ///< 1 to ceiling
  std::uint32_t ceiling = 0;  ///< 0: whatever the owner can do
  Duration dwell{std::chrono::milliseconds(500)};
};

struct ConcurrencyInput {
  Duration step{};      ///< if all that run decoded, each one token
  Duration step_max{};  ///< the objective
  double fragmentation = 0;
  std::uint32_t running = 0;
  bool awaited = false;  ///< somebody waits for a place
};

class ConcurrencyControl {
 public:
  /// `options.ceiling` is 1 or more.
  explicit ConcurrencyControl(const ConcurrencyOptions& options);

  /// To be called once a step. The number that holds from now on.
  std::uint32_t update(const ConcurrencyInput& input, TimePoint now);

  std::uint32_t limit() const { return limit_; }

 private:
  enum class Trend : std::uint8_t { kHold, kDown, kUp };
  Trend trend_of(const ConcurrencyInput& input) const;

  const ConcurrencyOptions options_;
  std::uint32_t limit_;
  Trend trend_ = Trend::kHold;
  TimePoint since_{};  // of that trend, or of the last move
};

}  // namespace zerohop
