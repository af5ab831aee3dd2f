#include "core/token_table.h"

#include <gtest/gtest.h>

#include <string>

namespace zerohop {
namespace {

TokenTable make_table() {
  TokenTable table;
  table.add("", /*control=*/true, /*end_of_generation=*/true);
  table.add("hello", /*control=*/false, /*end_of_generation=*/false);
  table.add("\xc3", /*control=*/false, /*end_of_generation=*/false);
  table.add(std::string_view("a\0b", 3), /*control=*/false, /*end_of_generation=*/true);
  table.add("", /*control=*/true, /*end_of_generation=*/false);
  return table;
}

TEST(TokenTable, GivesEachTokenItsBytes) {
  const TokenTable table = make_table();
  EXPECT_EQ(table.size(), 5u);
  EXPECT_EQ(table.bytes(0), "");
  EXPECT_EQ(table.bytes(1), "hello");
  EXPECT_EQ(table.bytes(2), "\xc3");
  EXPECT_EQ(table.bytes(3), std::string_view("a\0b", 3));
  EXPECT_EQ(table.bytes(4), "");
}

TEST(TokenTable, KeepsTheTwoFlagsApart) {
  const TokenTable table = make_table();
  EXPECT_TRUE(table.is_control(0) && table.is_end_of_generation(0));
  EXPECT_FALSE(table.is_control(1) || table.is_end_of_generation(1));
  EXPECT_TRUE(!table.is_control(3) && table.is_end_of_generation(3));
  EXPECT_TRUE(table.is_control(4) && !table.is_end_of_generation(4));
}

TEST(TokenTable, KnowsWhichIdsItHas) {
  const TokenTable table = make_table();
  EXPECT_TRUE(table.contains(0));
  EXPECT_TRUE(table.contains(4));
  EXPECT_FALSE(table.contains(5));
  EXPECT_FALSE(table.contains(-1));
  EXPECT_FALSE(TokenTable().contains(0));
}

}  // namespace
}  // namespace zerohop
