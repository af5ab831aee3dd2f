// The cases of the W3C's own test suite (github.com/w3c/trace-context, test/test.py) and some more.
#include "core/trace_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace zerohop {
namespace {

constexpr const char* kTrace = "12345678901234567890123456789012";
constexpr const char* kSpan = "1234567890123456";
const std::string kGood = std::string("00-") + kTrace + "-" + kSpan + "-01";

std::string state_of(const std::vector<std::string_view>& fields) {
  return joined_tracestate(fields);
}

// `prefix`0=1,`prefix`1=1,…
std::string members(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? ",bar" : "bar") + std::to_string(i) + "=1";
  return list;
}

TEST(TraceParent, IsReadAndWrittenBackAsItWas) {
  const auto parent = parse_traceparent(kGood);
  ASSERT_TRUE(parent.has_value());
  EXPECT_EQ(trace_id_text(parent->trace), kTrace);
  EXPECT_EQ(span_id_text(parent->span), kSpan);
  EXPECT_TRUE(parent->sampled);
  EXPECT_EQ(traceparent_text(*parent), kGood);
}

TEST(TraceParent, TakesNoFlagButSampledAndHandsNoOtherOn) {
  const std::string front = kGood.substr(0, 53);
  for (const auto& [flags, sampled] : {std::pair{"00", false},
                                       {"01", true},
                                       {"02", false},
                                       {"03", true},
                                       {"fe", false},
                                       {"ff", true}}) {
    const auto parent = parse_traceparent(front + flags);
    ASSERT_TRUE(parent.has_value()) << flags;
    EXPECT_EQ(parent->sampled, sampled) << flags;
    EXPECT_EQ(traceparent_text(*parent), front + (sampled ? "01" : "00")) << flags;
  }
}

TEST(TraceParent, OfALaterVersionItsFirstPartCounts) {
  const std::string rest = kGood.substr(2);
  for (const std::string& good : {"cc" + rest, "cc" + rest + "-what-the-future-will-be-like",
                                  "cc" + rest + "-", "01" + rest, "fe" + rest + "-extra"}) {
    const auto parent = parse_traceparent(good);
    ASSERT_TRUE(parent.has_value()) << good;
    EXPECT_EQ(trace_id_text(parent->trace), kTrace) << good;
    EXPECT_EQ(traceparent_text(*parent), kGood) << good;
  }
  EXPECT_FALSE(parse_traceparent("cc" + rest + ".what-the-future-will-be-like"));
  EXPECT_FALSE(parse_traceparent("cc" + rest + "0"));
}

TEST(TraceParent, OfVersionZeroNothingMayFollow) {
  for (const char* more : {"-", "-what-the-future-will-be-like", ".", " ", "0"}) {
    EXPECT_FALSE(parse_traceparent(kGood + more)) << more;
  }
}

TEST(TraceParent, IsNothingWhereItIsMalformed) {
  const std::string trace = kTrace;
  const std::string span = kSpan;
  for (const std::string& bad : std::vector<std::string>{
           "",
           "00",
           "ff-" + trace + "-" + span + "-01",
           "FF-" + trace + "-" + span + "-01",
           ".0-" + trace + "-" + span + "-01",
           "0.-" + trace + "-" + span + "-01",
           "000-" + trace + "-" + span + "-01",
           "0-" + trace + "-" + span + "-01",
           "00-00000000000000000000000000000000-" + span + "-01",
           "00-" + trace + "-0000000000000000-01",
           "00-.2345678901234567890123456789012-" + span + "-01",
           "00-1234567890123456789012345678901.-" + span + "-01",
           "00-1234567890123456789012345678901A-" + span + "-01",
           "00-1234567890123456789012345678901-" + span + "-01",
           "00-" + trace + "3-" + span + "-01",
           "00-" + trace + "-.234567890123456-01",
           "00-" + trace + "-123456789012345.-01",
           "00-" + trace + "-123456789012345F-01",
           "00-" + trace + "-123456789012345-01",
           "00-" + trace + "-12345678901234567-01",
           "00-" + trace + "-" + span + "-.0",
           "00-" + trace + "-" + span + "-0.",
           "00-" + trace + "-" + span + "-0",
           "00-" + trace + "-" + span + "-001",
           "00-" + trace + "-" + span,
           "00_" + trace + "_" + span + "_01",
           " " + kGood,
           kGood + " ",
           kGood + "," + kGood,
           std::string(55, '0'),
           std::string(55, '-'),
           std::string(4096, 'a'),
       }) {
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  }
}

TEST(TraceParent, NoByteButTheFlagsMayBeAnother) {
  for (std::size_t at = 0; at < kGood.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = kGood;
      changed[at] = static_cast<char>(byte);
      const bool digit =
          std::string_view("0123456789abcdef").find(changed[at]) != std::string::npos;
      const bool dash = at == 2 || at == 35 || at == 52;
      EXPECT_EQ(parse_traceparent(changed).has_value(), dash ? changed[at] == '-' : digit)
          << at << " " << byte;
    }
  }
}

TEST(TraceState, IsJoinedInTheOrderOfItsFields) {
  EXPECT_EQ(state_of({"foo=1"}), "foo=1");
  EXPECT_EQ(state_of({"foo=1,bar=2"}), "foo=1,bar=2");
  EXPECT_EQ(state_of({"foo=1", "bar=2"}), "foo=1,bar=2");
  EXPECT_EQ(state_of({"foo=1", ""}), "foo=1");
  EXPECT_EQ(state_of({"", "foo=1"}), "foo=1");
  EXPECT_EQ(state_of({"foo=1,", ",bar=2"}), "foo=1,bar=2");
  EXPECT_EQ(state_of({"foo=1 \t , \t bar=2, \t baz=3"}), "foo=1,bar=2,baz=3");
  EXPECT_EQ(state_of({"foo=1\t", "\tbar=2"}), "foo=1,bar=2");
  EXPECT_EQ(state_of({}), "");
  EXPECT_EQ(state_of({"", " , "}), "");
}

TEST(TraceState, KeepsTheFirstOfTwoMembersWithOneKey) {
  EXPECT_EQ(state_of({"foo=1,foo=1"}), "foo=1");
  EXPECT_EQ(state_of({"foo=1", "foo=2"}), "foo=1");
}

TEST(TraceState, TakesEveryCharacterThatTheStandardAllows) {
  const std::string key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
  std::string value;
  for (char c = 0x20; c < 0x7f; ++c) {
    if (c != ',' && c != '=') value.push_back(c);
  }
  EXPECT_EQ(state_of({key + "=" + value}), key + "=" + value);
  const std::string vendor = key + "@a-z0-9_-*/=" + value;
  EXPECT_EQ(state_of({vendor}), vendor);
  EXPECT_EQ(state_of({"0tenant@vendor=1"}), "0tenant@vendor=1");
}

TEST(TraceState, IsDroppedWholeWhereOneMemberIsMalformed) {
  for (const std::string& bad : std::vector<std::string>{"foo =1",
                                                         "FOO=1",
                                                         "foo.bar=1",
                                                         "0foo=1",
                                                         "foo",
                                                         "=1",
                                                         "foo=",
                                                         "foo@=1,bar=2",
                                                         "@foo=1,bar=2",
                                                         "foo@@bar=1,bar=2",
                                                         "foo@bar@baz=1,bar=2",
                                                         "foo@0bar=1",
                                                         "foo=bar=baz",
                                                         "foo=,bar=3",
                                                         "foo=\x01",
                                                         "foo=\xc3\xa4",
                                                         std::string(257, 'z') + "=1",
                                                         std::string(242, 't') + "@v=1",
                                                         "t@" + std::string(15, 'v') + "=1",
                                                         "foo=" + std::string(257, 'v')}) {
    EXPECT_EQ(state_of({"good=1," + bad}), "") << bad;
  }
  const std::string long_keys =
      std::string(256, 'z') + "=1," + std::string(228, 't') + "@" + std::string(14, 'v') + "=1";
  EXPECT_EQ(state_of({long_keys}), long_keys);
}

TEST(TraceState, HasAtMostThirtyTwoMembers) {
  EXPECT_EQ(state_of({members(32)}), members(32));
  EXPECT_EQ(state_of({members(16), "foo=1"}), members(16) + ",foo=1");
  EXPECT_EQ(state_of({members(33)}), "");
  EXPECT_EQ(state_of({members(32), "foo=1"}), "");
}

TEST(TraceState, LosesWholeMembersWhereItIsTooLong) {
  const std::string big = "big=" + std::string(200, 'x');
  const std::string other = "other=" + std::string(200, 'y');
  const std::string small = "a=" + std::string(100, 'z');
  EXPECT_EQ(state_of({big + "," + other + "," + small}), big + "," + small);
  std::string many;
  for (char c = 'a'; c < 'k'; ++c) many += std::string(1, c) + "=" + std::string(98, c) + ",";
  EXPECT_EQ(state_of({many}), many.substr(0, 5 * 101 - 1));
}

}  // namespace
}  // namespace zerohop
