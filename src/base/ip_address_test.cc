#include "base/ip_address.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

IpAddress address(std::string_view text) {
  const auto parsed = IpAddress::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(IpAddress());
}

IpNetwork network(std::string_view text) {
  const auto parsed = IpNetwork::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(IpNetwork());
}

TEST(IpAddress, WritesWhatItReads) {
  for (const char* text : {"192.0.2.1", "0.0.0.0", "255.255.255.255", "2001:db8::1", "::", "::1"}) {
    EXPECT_EQ(address(text).text(), text);
  }
  EXPECT_EQ(address("2001:DB8:0:0:0:0:0:1").text(), "2001:db8::1");
  EXPECT_EQ(IpAddress().text(), "");
  EXPECT_FALSE(IpAddress().known());
}

TEST(IpAddress, RefusesEverythingElse) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, "1.2.3"sv, "1.2.3.4.5"sv, "01.2.3.4"sv, "1.2.3.256"sv, " 1.2.3.4"sv, "1.2.3.4 "sv,
        "1.2.3.4:80"sv, "[::1]"sv, "fe80::1%eth0"sv, ":::1"sv, "1.2.3.4\0"sv, "localhost"sv,
        "0x7f.0.0.1"sv, "2001:db8:0:0:0:0:0:0:1"sv}) {
    EXPECT_FALSE(IpAddress::parse(text).has_value()) << text;
  }
}

TEST(IpAddress, IsTheSameThroughAnIpv6Socket) {
  EXPECT_EQ(address("::ffff:192.0.2.1"), address("192.0.2.1"));
  EXPECT_NE(address("::192.0.2.1"), address("192.0.2.1"));
}

TEST(IpAddress, KnowsLoopback) {
  for (const char* text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(address(text).is_loopback()) << text;
  }
  for (const char* text : {"128.0.0.1", "::2", "::", "1::1"}) {
    EXPECT_FALSE(address(text).is_loopback()) << text;
  }
  EXPECT_FALSE(IpAddress().is_loopback());
}

TEST(IpAddress, OneSubscriberHoldsAWholeIpv6Network) {
  EXPECT_EQ(address("2001:db8:1:2:3:4:5:6").subscriber(), address("2001:db8:1:2::9").subscriber());
  EXPECT_NE(address("2001:db8:1:2::1").subscriber(), address("2001:db8:1:3::1").subscriber());
  EXPECT_NE(address("192.0.2.1").subscriber(), address("192.0.2.2").subscriber());
}

TEST(IpNetwork, HoldsTheAddressesWithItsPrefix) {
  EXPECT_TRUE(network("10.0.0.0/8").contains(address("10.255.0.1")));
  EXPECT_FALSE(network("10.0.0.0/8").contains(address("11.0.0.0")));
  EXPECT_TRUE(network("192.0.2.128/25").contains(address("192.0.2.255")));
  EXPECT_FALSE(network("192.0.2.128/25").contains(address("192.0.2.127")));
  EXPECT_TRUE(network("192.0.2.7").contains(address("::ffff:192.0.2.7")));
  EXPECT_FALSE(network("192.0.2.7").contains(address("192.0.2.6")));
  EXPECT_TRUE(network("2001:db8::/33").contains(address("2001:db8:7fff::1")));
  EXPECT_FALSE(network("2001:db8::/33").contains(address("2001:db8:8000::1")));
  EXPECT_TRUE(network("0.0.0.0/0").contains(address("203.0.113.9")));
  EXPECT_FALSE(network("0.0.0.0/0").contains(address("2001:db8::1"))) << "another family";
  EXPECT_FALSE(network("::/0").contains(address("203.0.113.9")));
  EXPECT_FALSE(network("::/0").contains(IpAddress()));
}

TEST(IpNetwork, RefusesWhatIsNoNetwork) {
  for (const char* text :
       {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.1/8",
        "2001:db8::/129", "2001:db8::1/32", "/8", "10.0.0.0/99999999999999999999"}) {
    EXPECT_FALSE(IpNetwork::parse(text).has_value()) << text;
  }
  EXPECT_EQ(network("10.0.0.0/8").text(), "10.0.0.0/8");
  EXPECT_EQ(network("10.0.0.1").text(), "10.0.0.1/32");
  EXPECT_EQ(network("2001:db8::/32").text(), "2001:db8::/32");
}

}  // namespace
}  // namespace zerohop
