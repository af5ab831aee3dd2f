#include "app/child_process.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

ChildCommand shell(const std::string& script) { return {.arguments = {"/bin/sh", "-c", script}}; }

TEST(RunChild, GivesExitCodeAndBothOutputs) {
  const auto exit = run_child(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->code, 7);
  EXPECT_EQ(exit->output, "out\nerr\n");
}

TEST(RunChild, PassesArgumentsWithoutAShell) {
  const auto exit = run_child({.arguments = {"printf", "%s|", "a b", "$HOME", "*", ""}});
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->output, "a b|$HOME|*||");
}

TEST(RunChild, AddsToTheEnvironmentAndGivesNoInput) {
  ChildCommand command =
      shell("echo \"$ZH_TEST_WORD\"; [ -n \"$PATH\" ] && echo path; cat; echo end");
  command.environment = {{"ZH_TEST_WORD", "hello"}};
  const auto exit = run_child(command);
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->output, "hello\npath\nend\n");
}

TEST(RunChild, TellsThatAProgramIsMissing) {
  const auto exit = run_child({.arguments = {"zerohop-no-such-program"}});
  ASSERT_FALSE(exit.ok());
  EXPECT_EQ(exit.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(exit.error().message, "zerohop-no-such-program: No such file or directory");
}

TEST(RunChild, CountsASignalAsAShellDoes) {
  const auto exit = run_child(shell("kill -TERM $$"));
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->code, 128 + 15);
}

TEST(RunChild, KeepsTheEndOfALongOutput) {
  const auto exit =
      run_child(shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"));
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->output.size(), kChildOutputBytesMax);
  EXPECT_TRUE(exit->output.ends_with("line 19999\n"));
}

TEST(RunChild, CallsBackWhileTheChildRuns) {
  int ticks = 0;
  ChildCommand command = shell("echo 1; echo 2");
  command.on_tick = [&ticks] { ++ticks; };
  ASSERT_TRUE(run_child(command).ok());
  EXPECT_GE(ticks, 1);
}

TEST(RunChild, EndsWithTheChildEvenWhenAGrandchildKeepsTheOutput) {
  // The grandchild would hold the pipe for ever.
  ChildCommand command = shell("tail -f /dev/null & echo $!");
  command.tick = std::chrono::milliseconds{1};
  const auto exit = run_child(command);
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->code, 0);
  ASSERT_TRUE(run_child(shell("kill " + last_line(exit->output))).ok());
}

TEST(LastLine, SkipsBlankOnes) {
  EXPECT_EQ(last_line("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(last_line("only"), "only");
  EXPECT_EQ(last_line("progress\rERROR: x\r\n"), "ERROR: x");
  EXPECT_EQ(last_line(" \n"), "");
}

}  // namespace
}  // namespace zerohop
