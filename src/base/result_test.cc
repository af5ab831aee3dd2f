#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace zerohop {
namespace {

template <class T>
using TextResult = BasicResult<T, std::string>;

TextResult<int> half(int number) {
  if (number % 2 != 0) return "odd: " + std::to_string(number);
  return number / 2;
}

TextResult<int> quarter(int number) {
  ZH_ASSIGN_OR_RETURN(const int halved, half(number));
  ZH_ASSIGN_OR_RETURN(const int quartered, half(halved));
  return quartered;
}

TextResult<void> check_even(int number) {
  ZH_RETURN_IF_ERROR(half(number));
  return {};
}

TEST(Result, HoldsAValue) {
  const TextResult<int> result = half(8);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 4);
  EXPECT_EQ(*result, 4);
}

TEST(Result, HoldsAnError) {
  const TextResult<int> result = half(7);
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error(), "odd: 7");
}

TEST(Result, HandsAnErrorOnFromEitherStep) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(3).error(), "odd: 3");
  EXPECT_EQ(quarter(6).error(), "odd: 3");
}

TEST(Result, HandsAnErrorOnWithoutAValue) {
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_EQ(check_even(1).error(), "odd: 1");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  TextResult<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

struct Point {
  int x = 0;
};

TEST(Result, ReachesIntoTheValue) {
  BasicResult<Point, std::string> result(Point{1});
  result->x = 3;
  EXPECT_EQ(std::as_const(result)->x, 3);
}

TEST(ResultDeathTest, CrashesOnTheValueOfAFailure) {
  const TextResult<int> result = half(1);
  EXPECT_DEATH(static_cast<void>(result.value()), "check failed");
}

TEST(ResultDeathTest, CrashesOnTheErrorOfASuccess) {
  const TextResult<int> result = half(2);
  EXPECT_DEATH(static_cast<void>(result.error()), "check failed");
  const TextResult<void> nothing = check_even(2);
  EXPECT_DEATH(static_cast<void>(nothing.error()), "check failed");
}

}  // namespace
}  // namespace zerohop
