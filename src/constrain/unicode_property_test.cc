#include "constrain/unicode_property.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

std::size_t members(std::string_view expression) {
  const auto set = unicode_property(expression);
  return set ? set->size() : 0;
}

// Numbers of DerivedGeneralCategory.txt and Scripts.txt of Unicode 15.0.
TEST(UnicodeProperty, HasAsManyMembersAsTheStandardSays) {
  EXPECT_EQ(members("Lu"), 1831u);
  EXPECT_EQ(members("Ll"), 2233u);
  EXPECT_EQ(members("Nd"), 680u);
  EXPECT_EQ(members("Cc"), 65u);
  EXPECT_EQ(members("Zs"), 17u);
  EXPECT_EQ(members("Co"), 137468u);
  EXPECT_EQ(members("Script=Greek"), 518u);
  EXPECT_EQ(members("sc=Latn"), 1481u);
  EXPECT_EQ(members("Script=Han"), 98408u);
  EXPECT_EQ(members("White_Space"), 25u);
  EXPECT_EQ(members("Any"), 0x110000u - 2048u);
}

TEST(UnicodeProperty, CategoriesDivideEverything) {
  std::size_t sum = 0;
  for (const char* group : {"L", "M", "N", "P", "S", "Z", "C"}) sum += members(group);
  EXPECT_EQ(sum, members("Any"));
  EXPECT_EQ(members("L"), members("LC") + members("Lm") + members("Lo"));
  EXPECT_EQ(members("Assigned"), members("Any") - members("Cn"));
}

TEST(UnicodeProperty, KnowsTheNamesOfTheStandard) {
  EXPECT_EQ(unicode_property("Letter"), unicode_property("L"));
  EXPECT_EQ(unicode_property("General_Category=Decimal_Number"), unicode_property("digit"));
  EXPECT_EQ(unicode_property("gc=Nd"), unicode_property("Nd"));
  EXPECT_EQ(unicode_property("Script=Cyrillic"), unicode_property("sc=Cyrl"));
  EXPECT_EQ(unicode_property("Cyrillic"), unicode_property("sc=Cyrl"));
  EXPECT_TRUE(unicode_property("Uppercase")->contains(U'\u00c9'));
  EXPECT_TRUE(unicode_property("Emoji")->contains(U'\U0001f600'));
  EXPECT_TRUE(unicode_property("Mn")->contains(U'\u0301'));
}

TEST(UnicodeProperty, UnknownOnesAreNothing) {
  for (const char* name : {"", "letter", "Lx", "L ", "Script=", "Script=Klingon", "gc=Greek",
                           "Script_Extensions=Greek", "InBasicLatin", "=", "Nd=Nd"}) {
    EXPECT_FALSE(unicode_property(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace zerohop
