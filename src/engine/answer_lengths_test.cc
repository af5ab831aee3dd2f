#include "engine/answer_lengths.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(AnswerLengths, SaysNothingUntilSomeHaveEnded) {
  AnswerLengths lengths;
  for (std::size_t i = 0; i + 1 < AnswerLengths::kNeeded; ++i) lengths.add(50);
  EXPECT_EQ(lengths.least(), 0u);
  lengths.add(50);
  EXPECT_EQ(lengths.least(), 50u);
}

TEST(AnswerLengths, IsWhatNineOfTenReach) {
  AnswerLengths lengths;
  for (std::uint32_t i = 0; i < AnswerLengths::kRemembered; ++i) lengths.add(100 + i);
  EXPECT_EQ(lengths.least(), 103u) << "three of 32 were shorter";
}

TEST(AnswerLengths, OneShortAnswerChangesNothingAndAFourthDoes) {
  AnswerLengths lengths;
  for (std::size_t i = 0; i < AnswerLengths::kRemembered; ++i) lengths.add(200);
  for (int i = 0; i < 3; ++i) lengths.add(1);
  EXPECT_EQ(lengths.least(), 200u);
  lengths.add(1);
  EXPECT_EQ(lengths.least(), 1u);
}

TEST(AnswerLengths, ForgetsWhatIsLongAgo) {
  AnswerLengths lengths;
  for (int i = 0; i < 4; ++i) lengths.add(1);
  for (std::size_t i = 0; i < AnswerLengths::kRemembered; ++i) lengths.add(30);
  EXPECT_EQ(lengths.least(), 30u);
}

}  // namespace
}  // namespace zerohop
