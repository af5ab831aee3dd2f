#include "base/check.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(Check, EvaluatesItsConditionOnce) {
  int calls = 0;
  ZH_CHECK(++calls > 0);
  EXPECT_EQ(calls, 1);
}

TEST(CheckDeathTest, NamesFileAndConditionBeforeItAborts) {
  EXPECT_DEATH(ZH_CHECK(1 + 1 == 3), "check_test\\.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

#if defined(ZEROHOP_ASSERTS)
TEST(CheckDeathTest, AbortsOnDebugChecksWhereTheyAreCompiledIn) {
  EXPECT_DEATH(ZH_DCHECK(false), "check failed: false");
}
#else
TEST(Check, DoesNotEvaluateDebugChecksInOtherBuilds) {
  int calls = 0;
  ZH_DCHECK(++calls > 0);
  EXPECT_EQ(calls, 0);
}
#endif

}  // namespace
}  // namespace zerohop
