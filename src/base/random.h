// Chance is passed in, never taken: a generator is seeded by its owner.
//
// Random is xoshiro256++ (Blackman and Vigna, 2019) seeded through splitmix64: 32 bytes of state,
// so every sequence can own one, and the same seed gives the same numbers on every machine (the
// distributions of <random> differ between standard libraries). Not for secrets.
// One owner; not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace zerohop {

/// One step of splitmix64: a good 64-bit mixing function, also used for hashing.
std::uint64_t mix64(std::uint64_t value);

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [0, bound); bound > 0. Unbiased (Lemire, 2019).
  std::uint64_t below(std::uint64_t bound);
  /// True with the given probability.
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// 64 bits from the operating system, for seeds. Any thread.
std::uint64_t os_random_seed();

/// `count` characters of base62 from the operating system's generator; 5.95 bits each. Any thread.
/// 24 characters carry 142 bits: enough that ids never repeat in the life of a fleet.
std::string os_random_text(std::size_t count);

}  // namespace zerohop
