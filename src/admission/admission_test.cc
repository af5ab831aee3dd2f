#include "admission/admission.h"

#include <gtest/gtest.h>

#include <vector>

namespace zerohop {
namespace {

TEST(Admission, RefusesBeyondItsPermitsAndTakesThemBack) {
  Admission admission(2);
  auto first = admission.admit();
  auto second = admission.admit();
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = admission.admit();
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, ErrorCode::kOverloaded);
  EXPECT_GT(third.error().retry_after.count(), 0);
  first->release();
  EXPECT_TRUE(admission.admit().ok());
  second->release();
  EXPECT_EQ(admission.in_flight(), 0u);
}

TEST(Admission, RefusesEverybodyOnceClosedButLetsHoldersFinish) {
  Admission admission(2);
  auto holder = admission.admit();
  admission.close();
  const auto late = admission.admit();
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kShuttingDown);
  EXPECT_EQ(admission.in_flight(), 1u);
}

}  // namespace
}  // namespace zerohop
