// When a client that was refused is told to come back: as the refusal says, and up to a quarter
// later, so that those who were refused together do not come back together. At most a minute,
// because older clients ignore longer waits. One owner.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/random.h"

namespace zerohop {

class RetryAdvice {
 public:
  explicit RetryAdvice(std::uint64_t seed) : random_(seed) {}

  /// A whole number of milliseconds, 1 to 60,000.
  std::chrono::milliseconds spread(std::chrono::milliseconds asked) {
    using std::chrono::milliseconds;
    const milliseconds least = std::clamp(asked, milliseconds(1), kLongest);
    const double factor = 1 + kSpread * random_.uniform();
    return std::chrono::ceil<milliseconds>(from_seconds(to_seconds(least) * factor));
  }

 private:
  static constexpr double kSpread = 0.25;
  static constexpr std::chrono::milliseconds kLongest{48'000};  // a minute with the quarter

  Random random_;
};

}  // namespace zerohop
