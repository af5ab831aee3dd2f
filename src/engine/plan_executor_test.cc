#include "engine/plan_executor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "model/fake_model.h"

namespace zerohop {
namespace {

constexpr SlotId kA{0};
constexpr SlotId kB{1};

class PlanExecutorTest : public testing::Test {
 protected:
  // Two sequences of 64 cells and four holders; `fails` is asked before each save and restore.
  void open(bool can_cut_tail = true, KvLayout layout = KvLayout::kUnified) {
    executor.reset();
    FakeModelOptions options;
    options.clock = &clock;
    options.cost.per_state_cell = state_cost;
    options.can_cut_tail = can_cut_tail;
    options.state_fault = [this](const FakeStateCall& call) {
      return fails && *fails == call.kind;
    };
    model_ = make_fake_model(options);
    ContextOptions context_options;
    context_options.sequences = 2;
    context_options.parked = 4;
    context_options.window = 64;
    context_options.layout = layout;
    context = model_->make_context(context_options).value();
    PrefixCacheOptions cache_options;
    cache_options.host_bytes_max = 1u << 20;
    cache.emplace(context->capabilities(), cache_options);
    executor.emplace(*context, *cache, clock);
  }

  // A running slot with `tokens` in its cells.
  SlotId run(const std::vector<Token>& tokens) {
    PlaceResult result = cache->place({.tokens = tokens});
    EXPECT_TRUE(result.placement.has_value());
    const std::int32_t held = executor->carry_out(*result.placement);
    const SlotId slot = result.placement->slot;
    std::vector<BatchRow> rows;
    for (auto i = static_cast<std::size_t>(held); i < tokens.size(); ++i) {
      rows.push_back({tokens[i], static_cast<std::int32_t>(i), slot, false});
    }
    EXPECT_EQ(context->decode(rows), DecodeStatus::kOk);
    cache->grow(slot, TokenSpan(tokens).subspan(static_cast<std::size_t>(held)), {});
    check();
    return slot;
  }
  void release(SlotId slot) {
    executor->carry_out(cache->release(slot, Keep::kCells, {}));
    check();
  }
  void check() {
    cache->check_integrity();
    for (std::uint32_t slot = 0; slot < context->capabilities().slots; ++slot) {
      const SlotId id(static_cast<std::int32_t>(slot));
      EXPECT_EQ(context->positions(id).end, cache->held(id));
    }
    EXPECT_EQ(executor->blobs().total_bytes(), cache->counts().host_bytes);
    EXPECT_EQ(executor->blobs().size(), cache->counts().host_entries);
  }
  static std::vector<Token> tokens(std::size_t count, Token first) {
    std::vector<Token> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  std::optional<FakeStateCallKind> fails;
  Duration state_cost{};
  VirtualClock clock;
  std::unique_ptr<ModelContext> context;
  std::optional<PrefixCache> cache;
  std::optional<PlanExecutor> executor;

 private:
  std::unique_ptr<Model> model_;
};

TEST_F(PlanExecutorTest, MovesIdleCellsToHostMemoryAndBack) {
  open();
  const std::vector<Token> prompt = tokens(40, 'A');
  release(run(prompt));
  executor->carry_out(cache->park_idle(40, {}));
  check();
  EXPECT_GT(executor->blobs().total_bytes(), 0u);
  EXPECT_EQ(cache->match(kPublicScope, prompt).device_tokens, 0);
  const PlaceResult result = cache->place({.tokens = prompt});
  ASSERT_TRUE(result.placement.has_value());
  EXPECT_EQ(executor->carry_out(*result.placement), 39);
  check();
}

TEST_F(PlanExecutorTest, TellsTheCacheWhatCouldNotBeSaved) {
  open();
  const std::vector<Token> prompt = tokens(40, 'A');
  release(run(prompt));
  fails = FakeStateCallKind::kSave;
  executor->carry_out(cache->park_idle(40, {}));
  check();
  EXPECT_EQ(executor->blobs().size(), 0u);
  EXPECT_EQ(cache->match(kPublicScope, prompt).tokens, 0);
}

TEST_F(PlanExecutorTest, TellsTheCacheWhatCouldNotBeRestored) {
  open();
  const std::vector<Token> prompt = tokens(40, 'A');
  release(run(prompt));
  executor->carry_out(cache->park_idle(40, {}));
  fails = FakeStateCallKind::kRestore;
  const PlaceResult result = cache->place({.tokens = prompt});
  ASSERT_TRUE(result.placement.has_value());
  EXPECT_EQ(executor->carry_out(*result.placement), 0);
  EXPECT_EQ(cache->match(kPublicScope, prompt).tokens, 0);  // and nobody tries these bytes again
  EXPECT_EQ(executor->blobs().size(), 0u);
  check();
}

TEST_F(PlanExecutorTest, SharesTheBeginningOfASlotInEveryLayout) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    open(true, layout);
    std::vector<Token> first = tokens(40, 'A');
    run(first);
    first.resize(30);
    first.push_back('z');
    const PlaceResult result = cache->place({.tokens = first});
    ASSERT_TRUE(result.placement.has_value());
    EXPECT_EQ(executor->carry_out(*result.placement), 30);
    check();
  }
}

TEST_F(PlanExecutorTest, EmptiesASlotWhoseTailCannotBeCut) {
  open(false);
  const SlotId slot = run(tokens(20, 'A'));
  EXPECT_FALSE(executor->drop_tail(slot, 10));
  EXPECT_EQ(context->positions(slot).end, 0);
  cache->correct(slot, 0);
  check();
  EXPECT_TRUE(executor->drop_tail(slot, 0));
}

TEST_F(PlanExecutorTest, SharesNoMoreThanIsThere) {
  open();
  run(tokens(20, 'A'));
  context->remove(kA, {15, 20});  // behind the back of the books
  const PlaceResult result = cache->place({.tokens = tokens(30, 'A')});
  ASSERT_TRUE(result.placement.has_value());
  ASSERT_EQ(result.placement->slot, kB);
  EXPECT_EQ(executor->carry_out(*result.placement), 15);
  EXPECT_EQ(cache->held(kB), 15);
}

TEST_F(PlanExecutorTest, QuotesAPriceBeforeItHasMeasuredOne) {
  open();
  EXPECT_GT(executor->tokens_saved_within(std::chrono::milliseconds(8)), 500u);
  EXPECT_LT(executor->tokens_saved_within(std::chrono::milliseconds(8)), 5'000u);
  EXPECT_EQ(executor->tokens_saved_within(Duration::zero()), 1u);
  EXPECT_GT(executor->bytes_compressed_within(std::chrono::milliseconds(8)), 1u << 20);
  EXPECT_EQ(executor->cells_moved_within(std::chrono::milliseconds(8)), 64u) << "to find out";
  EXPECT_EQ(executor->cells_moved_within(Duration::zero()), 0u);
}

// Out and back, 20 µs a cell each.
TEST_F(PlanExecutorTest, LearnsWhatItCostsToMoveCells) {
  state_cost = std::chrono::microseconds(20);
  open();
  const SlotId slot = run(tokens(40, 'A'));
  const Compaction slice = cache->compact(40, TopCell{slot, 39});
  ASSERT_EQ(slice.cells, 40u);
  executor->carry_out(slice.plan);
  check();
  EXPECT_NEAR(executor->cells_moved_within(std::chrono::milliseconds(8)), 200, 1);
  EXPECT_NEAR(executor->tokens_saved_within(std::chrono::milliseconds(8)), 400, 1);
}

TEST_F(PlanExecutorTest, LearnsWhatItCostsToCopyAStream) {
  state_cost = std::chrono::microseconds(20);
  open(true, KvLayout::kStreams);
  EXPECT_EQ(executor->cells_moved_within(std::chrono::milliseconds(8)), 64u);
  std::vector<Token> prompt = tokens(40, 'A');
  run(prompt);
  prompt.push_back('z');
  const PlaceResult result = cache->place({.tokens = prompt});
  ASSERT_EQ(executor->carry_out(*result.placement), 40);
  EXPECT_NEAR(executor->cells_moved_within(std::chrono::milliseconds(8)), 400, 1);
}

}  // namespace
}  // namespace zerohop
