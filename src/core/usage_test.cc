#include "core/usage.h"

#include <gtest/gtest.h>

#include "core/event.h"

namespace zerohop {
namespace {

TEST(Usage, SplitsThePromptIntoCachedAndComputed) {
  const Usage usage{.prompt_tokens = 100, .prompt_tokens_cached = 60, .output_tokens = 5};
  EXPECT_EQ(usage.prompt_tokens_computed(), 40u);
}

TEST(FinishReason, HasANameForEachValue) {
  EXPECT_EQ(finish_reason_name(FinishReason::kEndOfTurn), "end_of_turn");
  EXPECT_EQ(finish_reason_name(FinishReason::kMaxTokens), "max_tokens");
  EXPECT_EQ(finish_reason_name(FinishReason::kContextWindow), "context_window");
  EXPECT_EQ(finish_reason_name(FinishReason::kStopSequence), "stop_sequence");
}

TEST(Event, EndsAStreamWhenFinishedOrFailed) {
  EXPECT_FALSE(is_terminal(Started{}));
  EXPECT_FALSE(is_terminal(TextDelta{"a"}));
  EXPECT_TRUE(is_terminal(Finished{}));
  EXPECT_TRUE(is_terminal(Failed{}));
}

}  // namespace
}  // namespace zerohop
