#include "constrain/string_formats.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "constrain/content_automaton.h"

namespace zerohop {
namespace {

constexpr std::string_view kNames[] = {"date",
                                       "date-time",
                                       "duration",
                                       "email",
                                       "hostname",
                                       "idn-email",
                                       "ipv4",
                                       "ipv6",
                                       "iri",
                                       "iri-reference",
                                       "time",
                                       "json-pointer",
                                       "relative-json-pointer",
                                       "uri",
                                       "uri-reference",
                                       "uri-template",
                                       "uuid"};

std::shared_ptr<ContentAutomaton> automaton_of(std::string_view format) {
  RegexPool pool;
  const auto term = format_language(pool, format);
  EXPECT_TRUE(term.has_value()) << format;
  const auto made = ContentAutomaton::make(pool, *term, {}, {});
  EXPECT_TRUE(made.ok()) << format;
  return *made;
}

TEST(StringFormats, UnknownOnesAreNothing) {
  RegexPool pool;
  for (const std::string_view name : {"", "colour", "idn-hostname", "regex", "Date"}) {
    EXPECT_FALSE(format_language(pool, name).has_value()) << name;
    EXPECT_FALSE(format_is_exact(name)) << name;
  }
  for (const std::string_view name : kNames) EXPECT_TRUE(format_language(pool, name).has_value());
}

// Twelve months of 28 kinds of year.
TEST(StringFormats, DatesFollowTheGregorianCalendar) {
  const auto dates = automaton_of("date");
  const auto two = [](int value) {
    return std::string(value < 10 ? "0" : "") + std::to_string(value);
  };
  for (const int year : {1000, 1600, 1700, 1900, 1996, 1999, 2000, 2004, 2023, 2024, 2100, 2400}) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (int month = 0; month <= 13; ++month) {
      for (int day = 0; day <= 32; ++day) {
        const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        const bool wanted = month >= 1 && month <= 12 && day >= 1 &&
                            day <= days[static_cast<std::size_t>(month - 1)];
        const std::string text = std::to_string(year) + "-" + two(month) + "-" + two(day);
        ASSERT_EQ(dates->contains(utf8_decode(text)), wanted) << text;
      }
    }
  }
}

// Every local minute and every offset.
TEST(StringFormats, ALeapSecondIsTheLastOfADayInUtc) {
  const auto times = automaton_of("time");
  const auto two = [](int value) {
    return std::string(value < 10 ? "0" : "") + std::to_string(value);
  };
  int accepted = 0;
  for (int local = 0; local < 1440; ++local) {
    const std::string begin = two(local / 60) + ":" + two(local % 60) + ":60";
    for (const int sign : {1, -1}) {
      for (int offset = 0; offset < 1440; offset += 5) {
        const std::string text =
            begin + (sign > 0 ? "+" : "-") + two(offset / 60) + ":" + two(offset % 60);
        const bool utc = (local - sign * offset + 2 * 1440) % 1440 == 1439;
        const bool in = times->contains(utf8_decode(text));
        ASSERT_TRUE(utc || !in) << text;
        ASSERT_TRUE(in || !utc || offset % 15 != 0) << text;
        accepted += in ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(accepted, 192);
}

TEST(StringFormats, LengthsAreRespected) {
  const auto hosts = automaton_of("hostname");
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_TRUE(hosts->contains(utf8_decode(longest)));
  EXPECT_FALSE(hosts->contains(utf8_decode(longest + "b")));
  EXPECT_FALSE(hosts->contains(utf8_decode("a." + label + "a")));
  const auto mails = automaton_of("email");
  EXPECT_TRUE(mails->contains(utf8_decode(std::string(64, 'x') + "@b.c")));
  EXPECT_FALSE(mails->contains(utf8_decode(std::string(65, 'x') + "@b.c")));
  const auto idn = automaton_of("idn-email");
  std::string greek;
  for (int i = 0; i < 32; ++i) greek += "\xce\xb1";
  EXPECT_TRUE(idn->contains(utf8_decode(greek + "@b.c")));
  EXPECT_FALSE(idn->contains(utf8_decode(greek + "x@b.c")));
}

TEST(StringFormats, WhatTheFormatsAllow) {
  struct Case {
    std::string_view format;
    std::vector<std::string_view> in;
    std::vector<std::string_view> out;
  };
  const std::vector<Case> cases = {
      {"ipv6",
       {"1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8", "::1.2.3.4"},
       {"1:2:3:4:5:6:7:8::", "1::2::3", "1:2:3:4:5:6:7:1.2.3.4", ":1", "::1.2.3.4:5", ""}},
      {"email", {"a@[IPv6:1::2]", "a+b@x-y.z"}, {"a@-x.z", "a@b..c", "a@b_c", "\"a@b", "a@"}},
      {"uri", {"a:", "a:b?c#d", "http://[::1]:80/", "x:///y"}, {"a", "a://[::1", "http://a/ b"}},
      {"uri-reference", {"", "a/b:c", "#", "?x"}, {"a b", "1a:b"}},
      {"uri-template", {"{+a,b*}{?c:3}"}, {"{", "}", "{a b}", "{!a}"}},
      {"uuid", {"2EB8AA08-AA98-11EA-B4AA-73B441D16380"}, {"2eb8aa08aa9811eab4aa73b441d16380"}},
  };
  for (const Case& one : cases) {
    const auto automaton = automaton_of(one.format);
    for (const std::string_view text : one.in) {
      EXPECT_TRUE(automaton->contains(utf8_decode(text))) << one.format << " " << text;
    }
    for (const std::string_view text : one.out) {
      EXPECT_FALSE(automaton->contains(utf8_decode(text))) << one.format << " " << text;
    }
  }
}

}  // namespace
}  // namespace zerohop
