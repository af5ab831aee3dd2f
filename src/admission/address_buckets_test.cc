#include "admission/address_buckets.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const TimePoint kStart{hours(1)};

IpAddress address(const std::string& text) { return IpAddress::parse(text).value(); }

int granted(AddressBuckets& buckets, const IpAddress& who, TimePoint now) {
  int count = 0;
  while (buckets.take(who, now).within) ++count;
  return count;
}

TEST(AddressBuckets, GiveABurstAndThenOneEachRefill) {
  AddressBuckets buckets({16, 4, 10}, 1);
  EXPECT_EQ(granted(buckets, address("192.0.2.1"), kStart), 10);
  EXPECT_EQ(buckets.take(address("192.0.2.1"), kStart).retry_in, seconds(6));
  EXPECT_EQ(granted(buckets, address("192.0.2.1"), kStart + seconds(6)), 1);
  EXPECT_EQ(granted(buckets, address("192.0.2.2"), kStart), 10);
}

TEST(AddressBuckets, CountASubscriberAsOneAndTheUnknownAsAnother) {
  AddressBuckets buckets({16, 4, 3}, 1);
  EXPECT_EQ(granted(buckets, address("2001:db8::1"), kStart), 3);
  EXPECT_FALSE(buckets.take(address("2001:db8::ffff:1"), kStart).within);
  EXPECT_TRUE(buckets.take(address("2001:db8:0:1::1"), kStart).within);
  EXPECT_EQ(granted(buckets, IpAddress(), kStart), 3);
}

TEST(AddressBuckets, AClockThatGoesBackwardsGivesNothing) {
  AddressBuckets buckets({16, 4, 3}, 1);
  EXPECT_EQ(granted(buckets, address("192.0.2.1"), kStart), 3);
  EXPECT_FALSE(buckets.take(address("192.0.2.1"), kStart - hours(1)).within);
}

// One set, so that every newcomer has to displace somebody: it is who has asked least.
TEST(AddressBuckets, DisplaceWhoHasAskedLeast) {
  AddressBuckets buckets({1, 2, 60}, 1);
  for (int i = 0; i < 10; ++i) buckets.take(address("192.0.2.1"), kStart);
  buckets.take(address("192.0.2.2"), kStart);
  buckets.take(address("192.0.2.3"), kStart);  // in the place of the second
  EXPECT_EQ(granted(buckets, address("192.0.2.1"), kStart), 50);
  EXPECT_EQ(granted(buckets, address("192.0.2.2"), kStart), 60);
}

// Against a twin with a bucket for everybody, with fewer addresses than the table holds.
TEST(AddressBuckets, AgreeWithATwinThatRemembersEverything) {
  AddressBuckets buckets({64, 8, 20}, 7);
  std::map<std::string, Gcra> twin;
  Random random(11);
  TimePoint now = kStart;
  for (int step = 0; step < 20'000; ++step) {
    now += std::chrono::milliseconds(random.below(40));
    const std::string who = "203.0.113." + std::to_string(random.below(30));
    Gcra& bucket = twin.try_emplace(who, 20, now).first->second;
    const bool expected = bucket.try_take(1, now);
    const AddressBuckets::Verdict verdict = buckets.take(address(who), now);
    ASSERT_EQ(verdict.within, expected);
    if (!expected) {
      ASSERT_EQ(verdict.retry_in, bucket.wait_for(1, now));
    }
  }
}

}  // namespace
}  // namespace zerohop
