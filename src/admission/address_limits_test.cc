#include "admission/address_limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace zerohop {
namespace {

IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }

AddressRules rules(std::uint32_t connections, std::uint32_t requests) {
  AddressRules rules;
  rules.connections_max = connections;
  rules.requests_per_minute = requests;
  rules.exempt.push_back(IpNetwork::parse("127.0.0.0/8").value());
  return rules;
}

TEST(AddressLimits, CountsOpenConnectionsOfEachAddress) {
  AddressLimits limits(rules(2, 0), 7);
  std::vector<AddressConnection> open;
  for (int i = 0; i < 2; ++i) {
    auto connection = limits.connect(address("192.0.2.1"));
    ASSERT_TRUE(connection.has_value());
    open.push_back(*std::move(connection));
  }
  EXPECT_FALSE(limits.connect(address("192.0.2.1")).has_value());
  EXPECT_TRUE(limits.connect(address("192.0.2.2")).has_value());
  open.pop_back();
  EXPECT_TRUE(limits.connect(address("192.0.2.1")).has_value());
  open.clear();
  EXPECT_EQ(limits.addresses_connected(), 0u);
}

TEST(AddressLimits, CountAnIpv6NetworkAsOneAddress) {
  AddressLimits limits(rules(1, 1), 7);
  const auto first = limits.connect(address("2001:db8:1:2::1"));
  EXPECT_TRUE(first.has_value());
  EXPECT_FALSE(limits.connect(address("2001:db8:1:2:ffff::9")).has_value());
  EXPECT_TRUE(limits.connect(address("2001:db8:1:3::1")).has_value());
  EXPECT_TRUE(limits.take_request(address("2001:db8:1:2::1"), TimePoint{}).ok());
  EXPECT_FALSE(limits.take_request(address("2001:db8:1:2::2"), TimePoint{}).ok());
}

TEST(AddressLimits, LeaveLoopbackAndUnixSocketsAlone) {
  AddressLimits limits(rules(1, 1), 7);
  std::vector<AddressConnection> open;
  for (int i = 0; i < 10; ++i) {
    for (const IpAddress& peer : {address("127.0.0.1"), IpAddress()}) {
      auto connection = limits.connect(peer);
      ASSERT_TRUE(connection.has_value());
      open.push_back(*std::move(connection));
      EXPECT_TRUE(limits.take_request(peer, TimePoint{}).ok());
    }
  }
}

TEST(AddressLimits, SayHowLongAnAddressHasToWait) {
  AddressLimits limits(rules(0, 60), 7);
  TimePoint now{};
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(limits.take_request(address("192.0.2.1"), now).ok());
  const auto refused = limits.take_request(address("192.0.2.1"), now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kRateLimited);
  EXPECT_EQ(refused.error().retry_after, std::chrono::seconds(1));
  EXPECT_TRUE(limits.take_request(address("192.0.2.2"), now).ok());
  now += refused.error().retry_after;
  EXPECT_TRUE(limits.take_request(address("192.0.2.1"), now).ok());
  EXPECT_FALSE(limits.take_request(address("192.0.2.1"), now).ok());
}

TEST(AddressLimits, CanBeSwitchedOff) {
  AddressLimits limits(rules(0, 0), 7);
  std::vector<AddressConnection> open;
  for (int i = 0; i < 5'000; ++i) {
    auto connection = limits.connect(address("192.0.2.1"));
    ASSERT_TRUE(connection.has_value());
    open.push_back(*std::move(connection));
    ASSERT_TRUE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  }
  EXPECT_EQ(limits.addresses_connected(), 0u);
}

TEST(AddressLimits, TakeOtherRulesWhileConnectionsAreOpen) {
  AddressLimits limits(rules(1, 1), 7);
  auto first = limits.connect(address("192.0.2.1"));
  EXPECT_TRUE(first.has_value());
  EXPECT_TRUE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  // The same number: what was taken is not forgotten.
  limits.set_rules(rules(2, 1));
  EXPECT_FALSE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  const auto second = limits.connect(address("192.0.2.1"));
  EXPECT_TRUE(second.has_value());
  EXPECT_FALSE(limits.connect(address("192.0.2.1")).has_value());
  limits.set_rules(rules(1, 2));
  EXPECT_TRUE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  EXPECT_TRUE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  EXPECT_FALSE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  limits.set_rules(rules(0, 0));
  first.reset();
  EXPECT_TRUE(limits.connect(address("192.0.2.1")).has_value());
  EXPECT_TRUE(limits.take_request(address("192.0.2.1"), TimePoint{}).ok());
  EXPECT_EQ(limits.addresses_connected(), 1u);
}

// The table holds 16,384 addresses; many more come, and a busy one is still held to its limit.
TEST(AddressLimits, HoldABusyAddressWhileMoreOthersPassByThanTheyRemember) {
  constexpr std::uint32_t kPerMinute = 600;
  AddressLimits limits(rules(0, kPerMinute), 7);
  TimePoint now{};
  std::uint32_t taken = 0;
  std::array<std::uint8_t, 4> other{198, 0, 0, 0};
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    other[1] = static_cast<std::uint8_t>(i >> 16);
    other[2] = static_cast<std::uint8_t>(i >> 8);
    other[3] = static_cast<std::uint8_t>(i);
    ASSERT_TRUE(limits.take_request(IpAddress::v4(other), now).ok());
    if (i % 10 == 0 && limits.take_request(address("192.0.2.1"), now).ok()) ++taken;
    now += std::chrono::microseconds(600);  // a minute in all
  }
  EXPECT_GE(taken, 2 * kPerMinute - 10);
  EXPECT_LE(taken, 2 * kPerMinute);
}

// Against a twin that remembers everything, with fewer addresses than the table holds.
TEST(AddressLimits, AgreeWithATwinThatRemembersEverything) {
  constexpr int kAddresses = 40;
  constexpr std::uint32_t kConnections = 3;
  AddressLimits limits(rules(kConnections, 0), 7);
  std::map<int, std::deque<AddressConnection>> open;
  Random random(11);
  for (int step = 0; step < 20'000; ++step) {
    const int who = static_cast<int>(random.below(kAddresses));
    std::deque<AddressConnection>& mine = open[who];
    if (random.below(2) == 0) {
      auto connection = limits.connect(address("203.0.113." + std::to_string(who)));
      ASSERT_EQ(connection.has_value(), mine.size() < kConnections);
      if (connection) mine.push_back(*std::move(connection));
    } else if (!mine.empty()) {
      mine.pop_front();
    }
    std::size_t connected = 0;
    for (const auto& entry : open) connected += entry.second.empty() ? 0 : 1;
    ASSERT_EQ(limits.addresses_connected(), connected);
  }
  open.clear();
  EXPECT_EQ(limits.addresses_connected(), 0u);
}

}  // namespace
}  // namespace zerohop
