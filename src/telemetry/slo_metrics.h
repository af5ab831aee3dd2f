// Objectives (the section slo of the configuration): for each the number of events that count for
// it and of those that were good. Burn-rate alerts are made of the two
// (deploy/prometheus/slo_rules.py).
//
//   objective     an event is                          and it is good when
//   ------------  -----------------------------------  ------------------------------------------
//   availability  a request for text or embeddings     it was answered to its end
//                 that was answered to its end, or
//                 that the server failed: 500, 503,
//                 504, 529, a broken stream
//   ttft          an answer with a first token, or     its first token came within the threshold
//                 one that failed without
//   itl           a stream with a first token          no pause behind that, up to the next text
//                                                      or to the end, was longer
//   total         an answer                            its last token came within the threshold,
//                                                      and it did not fail
//
// Answers are those of requests that the engine took in: what was refused before is a matter of
// availability alone, and so is an embedding. Counting tokens and making a batch count nowhere:
// they ask nothing of the model, and would hide its failures. An answer that its client left, or
// that ended by a limit of the client's own (status 4xx), counts where the threshold had been
// decided by then: a first token had come, or it was too late for one. So nobody improves a number
// by making people wait until they leave.
//
// Pauses are counted by answer and not one by one: what a user notices is the answer that stood
// still, and of a thousand gaps a single one of five seconds would be a thousandth. For which the
// reader is to blame does not count: the time in which its socket took no bytes is no pause, and no
// part of the total.
//
// Handles are fetched when objectives are made; counting takes no lock and searches nothing (11 ns
// an objective, 6 a counter: registry_bench.cc). Immutable; any thread. The registry outlives it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/tenant.h"
#include "telemetry/registry.h"

namespace zerohop {

enum class SloIndicator : std::uint8_t { kAvailability, kTtft, kItl, kTotal };

struct SloObjective {
  std::string name;  ///< a label
  SloIndicator indicator = SloIndicator::kAvailability;
  std::string tier;                       ///< empty: every one
  std::optional<PriorityClass> priority;  ///< nothing: every class
  Duration threshold{};                   ///< of a time
  double target = 0;                      ///< share that is to be good; for rules, not for counting
};

/// An answer when nothing more of it will come.
struct AnswerForSlo {
  enum class End : std::uint8_t {
    kWhole,
    kFailed,  ///< by the server: a status or an event of 5xx
    kLeft,    ///< its client went away, or a limit of its own was reached
  };
  PriorityClass priority = PriorityClass::kStandard;
  End end = End::kWhole;
  std::optional<Duration> first_text;  ///< from the first byte of the request; nothing: none came
  std::optional<Duration> longest_pause;  ///< behind the first text; nothing: no stream, or no text
  Duration total{};                       ///< from the first byte of the request
};

class SloMetrics {
 public:
  /// `tier` is the one that runs, and a label; objectives of other tiers are left out.
  SloMetrics(MetricsRegistry& registry, std::span<const SloObjective> objectives,
             std::string_view tier);

  /// Takes its series off the page but those of `staying`, the objectives that are counted from now
  /// on: what was renamed or dropped would else stand there for ever, and take others their place.
  /// Who holds this goes on counting.
  void retire_all_but(MetricsRegistry& registry, std::span<const SloObjective> staying) const;

  enum class Outcome : std::uint8_t { kGood, kBad };
  /// A request for text or embeddings that says something about the availability.
  void count_request(PriorityClass priority, Outcome outcome) const;
  void count_answer(const AnswerForSlo& answer) const;

 private:
  struct Meter {
    Counter good, total;
  };
  struct Objective {
    SloIndicator indicator;
    Duration threshold;
    std::array<std::optional<Meter>, kPriorityClasses> meters;  // nothing: not for that class
    void count(PriorityClass priority, Outcome outcome) const;
  };
  struct Labels {
    std::string objective;
    PriorityClass priority;
  };
  const std::string tier_;
  std::vector<Objective> of_requests_, of_answers_;
  std::vector<Labels> series_;  // of both families
};

}  // namespace zerohop
