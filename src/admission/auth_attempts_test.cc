#include "admission/auth_attempts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace zerohop {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const TimePoint kStart{hours(1)};

IpAddress address(const std::string& text) { return IpAddress::parse(text).value(); }

class AuthAttemptsTest : public testing::Test {
 protected:
  AuthAttempts::Verdict failed(const std::string& who, TimePoint now = kStart) {
    return attempts_->failed(address(who), now);
  }
  int granted(const std::string& who, TimePoint now) {
    int count = 0;
    while (failed(who, now).within) ++count;
    return count;
  }

  std::unique_ptr<AuthAttempts> attempts_ = std::make_unique<AuthAttempts>(1);
};

TEST_F(AuthAttemptsTest, AllowsABurstAndThenOneEachRefill) {
  EXPECT_EQ(granted("192.0.2.1", kStart), 10);
  EXPECT_EQ(failed("192.0.2.1").retry_in, seconds(6));
  // The clock of a bucket may round it up by a nanosecond.
  const Duration later = failed("192.0.2.1", kStart + seconds(2)).retry_in;
  EXPECT_EQ(std::chrono::floor<std::chrono::milliseconds>(later), seconds(4));
  EXPECT_EQ(granted("192.0.2.1", kStart + seconds(6)), 1);
  EXPECT_EQ(granted("192.0.2.1", kStart + seconds(18)), 2);
  EXPECT_EQ(granted("192.0.2.1", kStart + hours(1)), 10);
}

TEST_F(AuthAttemptsTest, TellsTheFirstOneTooManyOnce) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(failed("192.0.2.1").first);
  EXPECT_TRUE(failed("192.0.2.1").first);
  EXPECT_FALSE(failed("192.0.2.1").first);
  // Again after there was room in between.
  EXPECT_TRUE(failed("192.0.2.1", kStart + seconds(6)).within);
  EXPECT_TRUE(failed("192.0.2.1", kStart + seconds(6)).first);
}

TEST_F(AuthAttemptsTest, CountsAddressesApart) {
  EXPECT_EQ(granted("192.0.2.1", kStart), 10);
  EXPECT_EQ(granted("192.0.2.2", kStart), 10);
  EXPECT_TRUE(attempts_->failed(IpAddress(), kStart).within);
}

TEST_F(AuthAttemptsTest, CountsOneCustomersIpv6AddressesTogether) {
  EXPECT_EQ(granted("2001:db8::1", kStart), 10);
  EXPECT_FALSE(failed("2001:db8::ffff:1").within);
  EXPECT_TRUE(failed("2001:db8:0:1::1").within);
}

TEST_F(AuthAttemptsTest, AClockThatGoesBackwardsGivesNothing) {
  EXPECT_EQ(granted("192.0.2.1", kStart), 10);
  EXPECT_FALSE(failed("192.0.2.1", kStart - hours(1)).within);
}

TEST_F(AuthAttemptsTest, RemembersWhoFailedLastAmongMoreAddressesThanItHolds) {
  for (int i = 0; i < 5'000; ++i) {
    failed("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250));
  }
  EXPECT_EQ(granted("192.0.2.1", kStart + seconds(1)), 10);
  EXPECT_FALSE(failed("192.0.2.1", kStart + seconds(1)).within);
}

}  // namespace
}  // namespace zerohop
