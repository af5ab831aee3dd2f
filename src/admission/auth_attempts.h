// How often who failed to show a good key: a small bucket for each address, so that a program with
// a wrong key, or one that tries keys, costs neither log nor work.
//
//   an address may fail kBurst times at once, then once every kRefill
//
// Good keys are never counted, so whoever shares an address with such a program (behind one router,
// one proxy) goes on working: with 166 unknown bits a key cannot be guessed at any rate, and a ban
// by address would only be a way to lock others out. IPv6 addresses count by their first 64 bits,
// of which one customer has all (IpAddress::subscriber()).
//
// Of fixed size: kSets sets of kWays addresses; a new address takes the place of the one in its set
// that failed longest ago. Who has more networks than that gets more failures, never more work.
//
// I/O thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/ip_address.h"

namespace zerohop {

class AuthAttempts {
 public:
  static constexpr std::uint32_t kBurst = 10;
  static constexpr Duration kRefill = std::chrono::seconds(6);

  /// `seed` decides which addresses share a set; unknown to peers.
  explicit AuthAttempts(std::uint64_t seed) : seed_(seed) {}

  struct Verdict {
    bool within = true;   ///< there was room for this failure
    bool first = false;   ///< … and it is the first one for which there was none
    Duration retry_in{};  ///< until there is room again
  };

  /// `address` failed. One that is not known is one of its own: that of all Unix sockets.
  Verdict failed(const IpAddress& address, TimePoint now);

 private:
  static constexpr std::size_t kSets = 256;
  static constexpr std::size_t kWays = 4;

  struct Bucket {
    IpAddress address;
    bool used = false;
    bool over = false;
    TimePoint empty_at{};  // when all its failures are forgotten
  };

  Bucket& bucket_of(const IpAddress& address);

  const std::uint64_t seed_;
  std::array<std::array<Bucket, kWays>, kSets> sets_;
};

}  // namespace zerohop
