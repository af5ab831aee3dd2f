#include "base/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zerohop {
namespace {

enum Finding { kAsItShouldBe = 0, kFailed, kLimit, kDumpable };

Finding look_at_self() {
  if (forbid_core_dumps()) return kFailed;
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0 || limit.rlim_max != 0) {
    return kLimit;
  }
  return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? kAsItShouldBe : kDumpable;
}

// In a child, because it cannot be undone.
TEST(CoreDumps, AreForbiddenForGood) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(look_at_self());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kAsItShouldBe);
}

TEST(CoreDumps, LeaveNoCoreOfACrash) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (forbid_core_dumps()) ::_exit(kFailed);
    ::kill(::getpid(), SIGQUIT);  // whose default action is a core file
    ::_exit(kAsItShouldBe);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(WCOREDUMP(status));
}

}  // namespace
}  // namespace zerohop
