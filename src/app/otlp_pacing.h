// When something is sent to a collector: every interval; after a failure a while later, which
// doubles with each further one; and not before the collector wants it. One owner.
//
//   every interval ── failed ──▶ 1 s ── failed ──▶ 2 s ── … ──▶ 60 s ── failed ──▶ 60 s
//         ▲                       │                 │             │
//         └───────────────────────┴── succeeded ────┴─────────────┘
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"

namespace zerohop {

/// The field Retry-After (RFC 9110, section 10.2.3): seconds, or a date; zero for one that is over.
/// Nothing for anything else.
std::optional<Duration> parse_retry_after(std::string_view field, WallTime now);

struct PacingOptions {
  Duration interval{};
  Duration backoff_first = std::chrono::seconds(1);
  std::uint64_t seed = 0;
};

class OtlpPacing {
 public:
  static constexpr std::chrono::seconds kBackoffMax{60};
  /// A collector that wants to be left alone for longer is asked again all the same.
  static constexpr std::chrono::minutes kRetryAfterMax{5};
  /// Since its first failure; newer spans wait behind what cannot be sent.
  static constexpr std::chrono::minutes kTriedFor{2};

  explicit OtlpPacing(const PacingOptions& options)
      : options_(options), due_(TimePoint::min()), random_(options.seed) {}

  TimePoint due() const { return due_; }
  void succeeded(TimePoint now);
  /// `retry_after`: what the collector says; zero: nothing.
  void failed(TimePoint now, Duration retry_after);
  /// What failed first has been tried for long enough. The pace stays as slow as it is.
  bool tried_enough(TimePoint now) const;
  /// Something else is sent now.
  void gave_up() { failing_since_.reset(); }
  /// Due at once, unless something has failed.
  void hurry(TimePoint now);

 private:
  const PacingOptions options_;
  TimePoint due_;
  Duration backoff_{};  // zero: nothing has failed
  std::optional<TimePoint> failing_since_;
  Random random_;
};

}  // namespace zerohop
