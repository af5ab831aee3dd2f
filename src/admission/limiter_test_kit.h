// What the tests of the limiter share: one key of one tenant on virtual time. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "admission/limiter.h"

namespace zerohop {

inline constexpr Prices kPrices{1'000'000, 100'000, 2'000'000};

class LimiterTest : public testing::Test {
 protected:
  LimitMoment moment() const { return limit_moment(clock); }

  BasicResult<Reservation, LimitRefusal> enter() { return limiter.enter(parties(), moment()); }
  Reservation entered() {
    BasicResult<Reservation, LimitRefusal> reservation = enter();
    if (!reservation.ok()) ADD_FAILURE() << refusal_text(reservation.error());
    return reservation.ok() ? std::move(*reservation) : Reservation{};
  }
  LimitParties parties() const {
    LimitParties both;
    both.key = LimitParty{"key_1", key};
    both.tenant = LimitParty{"acme", tenant};
    return both;
  }
  static TokenClaim claim(std::uint64_t uncached, std::uint64_t cached, std::uint64_t output) {
    return TokenClaim{{uncached, cached, output}, kPrices};
  }
  std::uint64_t left(LimitKind kind, LimitOwner owner = LimitOwner::kKey) {
    // A request that asks for more than there is says how much that is.
    Reservation probe = entered();
    const BasicResult<LimitGrant, LimitRefusal> refused =
        probe.claim(claim(kBudgetMax / 4, 0, kBudgetMax / 4), moment());
    if (refused.ok()) return 0;
    EXPECT_EQ(refused.error().kind, kind);
    EXPECT_EQ(refused.error().owner, owner);
    return refused.error().remaining;
  }

  VirtualClock clock;
  Limits key;
  Limits tenant;
  Limiter limiter;
};

}  // namespace zerohop
