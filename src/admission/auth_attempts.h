// How often who failed to show a good key: a small bucket for each address, so that a program with
// a wrong key, or one that tries keys, costs neither log nor work.
//
//   an address may fail kBurst times at once, then once every kRefill
//
// Good keys are never counted, so whoever shares an address with such a program (behind one router,
// one proxy) goes on working: with 166 unknown bits a key cannot be guessed at any rate, and a ban
// by address would only be a way to lock others out. Who has more networks than the table places
// (address_buckets.h) gets more failures, never more work.
//
// I/O thread only.
#pragma once

#include <chrono>
#include <cstdint>

#include "admission/address_buckets.h"

namespace zerohop {

class AuthAttempts {
 public:
  static constexpr std::uint32_t kBurst = 10;
  static constexpr Duration kRefill = std::chrono::seconds(6);

  /// `seed` decides which addresses share a set; unknown to peers.
  explicit AuthAttempts(std::uint64_t seed) : buckets_({256, 4, kBurst}, seed) {}

  using Verdict = AddressBuckets::Verdict;
  /// `address` failed. One that is not known is one of its own: that of all Unix sockets.
  Verdict failed(const IpAddress& address, TimePoint now) { return buckets_.take(address, now); }

 private:
  // A bucket holds what refills in a minute.
  static_assert(kBurst * kRefill == std::chrono::minutes(1));

  AddressBuckets buckets_;
};

}  // namespace zerohop
