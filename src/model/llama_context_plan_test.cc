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
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, 4u);
  options.logit_rows = 10'000;
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, options.batch_rows);
  options.logit_rows = 1;
  options.embeddings = true;
  EXPECT_EQ(plan_llama_context(options, {})->logit_rows, options.batch_rows);
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
  EXPECT_EQ(field_of([](ContextOptions& options) { options.window = 0; }), "window");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.window = 1u << 30; }), "window");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.cells = 0xffffffffu; }), "cells");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.batch_rows = 0; }), "batch_rows");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.logit_rows = 0; }), "logit_rows");
  EXPECT_EQ(field_of([](ContextOptions& options) { options.threads = 513; }), "threads");
}

TEST(LlamaContextPlan, RefusesCellsThatNoMemoryCouldHold) {
  const ContextOptions options = small_options(KvLayout::kUnified);
  const LlamaMemory enough{1u << 20, std::uint64_t{4} << 30};
  EXPECT_TRUE(plan_llama_context(options, enough).ok());
  const LlamaMemory little{1u << 20, (std::uint64_t{4} << 30) - 1};
  const Result<LlamaContextPlan> plan = plan_llama_context(options, little);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("4.0 GiB"), std::string::npos) << plan.error().message;
  EXPECT_TRUE(plan_llama_context(options, {1u << 20, 0}).ok()) << "0 means unknown";
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
