#include "model/llama_context_plan.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

ContextOptions small_options(KvLayout layout) {
  ContextOptions options;
  options.sequences = 4;
  options.window = 1000;
  options.layout = layout;
  return options;
}

TEST(LlamaContextPlan, PadsThePoolOnceAndEveryStreamByItself) {
  EXPECT_EQ(plan_llama_context(small_options(KvLayout::kUnified), {})->cells, 4096u);
  EXPECT_EQ(plan_llama_context(small_options(KvLayout::kStreams), {})->cells, 4u * 1024u);
  ContextOptions pool = small_options(KvLayout::kUnified);
  pool.cells = 300;
  EXPECT_EQ(plan_llama_context(pool, {})->cells, 512u);
}

TEST(LlamaContextPlan, ReservesAnOutputForEverySequenceAndWithEmbeddingsForEveryRow) {
  ContextOptions options = small_options(KvLayout::kUnified);
  options.logit_rows = 1;
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, 5u) << "the spare id is a sequence too";
  options.logit_rows = 10'000;
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, options.batch_rows);
  options.logit_rows = 1;
  options.embeddings = true;
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, options.batch_rows);
}

TEST(LlamaContextPlan, ParkedIdsCostNoOutputsBecauseTheyStandBehindTheSpareId) {
  ContextOptions options = small_options(KvLayout::kUnified);
  options.parked = 200;
  options.logit_rows = 1;
  const LlamaContextPlan plan = *plan_llama_context(options, {});
  EXPECT_EQ(plan.slots, 204u);
  EXPECT_EQ(plan.spare, 4);
  EXPECT_EQ(plan.library_sequences, 5u);
  EXPECT_EQ(plan.logit_rows, 5u);
}

TEST(LlamaContextPlan, IdsThatHoldMemoryAreAllTheLibrarysAndNoneIsSpare) {
  ContextOptions options = small_options(KvLayout::kUnified);
  options.parked = 3;
  LlamaMemory memory;
  memory.ids_hold_memory = true;
  const LlamaContextPlan plan = *plan_llama_context(options, memory);
  EXPECT_EQ(plan.slots, 7u);
  EXPECT_FALSE(plan.spare.has_value());
  EXPECT_EQ(plan.library_sequences, 7u);
}

TEST(LlamaContextPlan, WithAll256IdsInUseThereIsNoSpareOne) {
  ContextOptions options = small_options(KvLayout::kUnified);
  options.parked = 251;
  EXPECT_TRUE(plan_llama_context(options, {})->spare.has_value());
  options.parked = 252;
  EXPECT_FALSE(plan_llama_context(options, {})->spare.has_value());
  EXPECT_EQ(plan_llama_context(options, {})->library_sequences, 256u);
}

TEST(LlamaContextPlan, StreamsHaveNoParkedIds) {
  ContextOptions options = small_options(KvLayout::kStreams);
  options.parked = 200;
  const LlamaContextPlan plan = *plan_llama_context(options, {});
  EXPECT_EQ(plan.slots, 4u);
  EXPECT_EQ(plan.library_sequences, 4u);
  EXPECT_FALSE(plan.spare.has_value());
}

TEST(LlamaContextPlan, NamesTheOptionThatIsOutOfRange) {
  const auto field_of = [](auto change) {
    ContextOptions options = small_options(KvLayout::kUnified);
    change(options);
    const Result<LlamaContextPlan> plan = plan_llama_context(options, {});
    if (plan.ok()) return std::string("accepted");
    EXPECT_EQ(plan.error().code, ErrorCode::kConfiguration);
    return plan.error().field;
  };
  EXPECT_EQ(field_of([](ContextOptions& options) { options.sequences = 0; }), "sequences");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.sequences = 257; }), "sequences");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.sequences = 256; }), "accepted");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.parked = 253; }), "parked");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.window = 0; }), "window");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.window = 1u << 30; }), "window");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.cells = 0xffffffffu; }), "cells");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.batch_rows = 0; }), "batch_rows");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.logit_rows = 0; }), "logit_rows");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.threads = 513; }), "threads");
}

TEST(LlamaContextPlan, RefusesCellsThatNoMemoryCouldHold) {
  const ContextOptions options = small_options(KvLayout::kUnified);
  const LlamaMemory enough{1u << 20, std::uint64_t{4} << 30, false};
  EXPECT_TRUE(plan_llama_context(options, enough).ok());
  const LlamaMemory little{1u << 20, (std::uint64_t{4} << 30) - 1, false};
  const Result<LlamaContextPlan> plan = plan_llama_context(options, little);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("4.0 GiB"), std::string::npos) << plan.error().message;
  EXPECT_TRUE(plan_llama_context(options, {1u << 20, 0, false}).ok()) << "0 means unknown";
}

TEST(LlamaContextPlan, AWindowSurvivesACutExactlyWhenItsFirstCellIsHeld) {
  // A window of 4 at position 10 sees 7, 8, 9 and itself.
  EXPECT_TRUE(window_survives({7, 10, 4}));
  EXPECT_FALSE(window_survives({8, 10, 4}));
  // Near the start nothing is missing, whatever the window.
  EXPECT_TRUE(window_survives({0, 2, 4}));
  EXPECT_FALSE(window_survives({1, 2, 4}));
  EXPECT_TRUE(window_survives({100, 2, 0})) << "no window";
}

}  // namespace
}  // namespace zerohop
