// Scattered cells are moved together between steps: within its time, until it is enough, and nobody
// can tell from the text. See engine_compact.cc.

#include <gtest/gtest.h>

#include "engine/engine_harness.h"

namespace zerohop {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kEnter = 0.35;
constexpr double kLeave = 0.30;

// A pool that answers get scattered over: they write beside long prompts that end, and one step
// without room drops those.
class ScatteredPool {
 public:
  explicit ScatteredPool(Duration per_state_cell, std::uint64_t host_bytes_max = 1u << 20,
                         std::uint32_t answer = 200)
      : answer_(answer), engine_(model(per_state_cell), context(), options(host_bytes_max)) {}

  // `answers` requests that go on writing, with their cells far apart.
  void scatter(std::uint64_t answers) {
    for (std::uint64_t i = 0; i < answers; ++i) {
      clients_.push_back(engine_.submit({.prompt = prompt_of(60, i), .max_tokens = answer_}));
    }
    while (engine_.loop->snapshot().decoding < answers) ASSERT_TRUE(engine_.step());
    for (std::uint64_t i = 0; i < 2; ++i) {
      const auto neighbour = engine_.submit({.prompt = prompt_of(900, 100 + i), .max_tokens = 1});
      while (!neighbour->done) {
        ASSERT_TRUE(engine_.step());
        neighbour->read();
      }
    }
    no_room_ = true;
    ASSERT_TRUE(engine_.step());
    ASSERT_FALSE(no_room_);
    ASSERT_EQ(engine_.loop->snapshot().cells_cached, 0u);
    ASSERT_GT(engine_.loop->snapshot().fragmentation, 0.6);
    ASSERT_EQ(engine_.slices.size(), 0u);
  }

  // Each slice against the fragmentation that it was decided by.
  void run_watching_the_marks() {
    bool compacting = false;
    while (true) {
      const double before = engine_.loop->snapshot().fragmentation;
      const std::size_t slices = engine_.slices.size();
      if (!engine_.step()) break;
      if (before <= kLeave) compacting = false;
      if (engine_.slices.size() == slices) continue;
      ASSERT_EQ(engine_.slices.size(), slices + 1) << "one slice a step";
      ASSERT_GT(before, compacting ? kLeave : kEnter);
      compacting = true;
    }
  }

  void expect_texts_as_alone() {
    for (std::uint64_t i = 0; i < clients_.size(); ++i) {
      clients_[i]->read();
      EngineHarness alone(endless_model(), context());
      EXPECT_EQ(clients_[i]->text(),
                alone.complete({.prompt = prompt_of(60, i), .max_tokens = answer_})->text());
    }
  }

  Duration time_of_slices() const {
    Duration all{};
    for (const CompactionReport& slice : engine_.slices) all += slice.duration;
    return all;
  }

  EngineHarness& engine() { return engine_; }

 private:
  FakeModelOptions model(Duration per_state_cell) {
    FakeModelOptions options = endless_model();
    options.cost.per_state_cell = per_state_cell;
    options.fault = [this](std::span<const BatchRow>) {
      return std::exchange(no_room_, false) ? DecodeStatus::kNoRoom : DecodeStatus::kOk;
    };
    return options;
  }
  static ContextOptions context() {
    ContextOptions options = harness_context();
    options.window = 1024;
    options.cells = 4096;
    options.batch_rows = 256;
    options.parked = 8;
    return options;
  }
  static EngineOptions options(std::uint64_t host_bytes_max) {
    EngineOptions engine;
    engine.cache.host_bytes_max = host_bytes_max;
    engine.idle_cells_pay = false;  // the neighbours have to be there until there is no room
    return engine;
  }

  const std::uint32_t answer_;
  bool no_room_ = false;
  EngineHarness engine_;
  std::vector<std::shared_ptr<HarnessClient>> clients_;
};

TEST(EngineCompact, MovesScatteredCellsTogetherUntilItIsEnough) {
  for (const std::uint64_t answers : {1u, 3u}) {
    ScatteredPool pool(microseconds(5));
    pool.scatter(answers);
    pool.run_watching_the_marks();
    const EngineSnapshot end = pool.engine().loop->snapshot();
    EXPECT_GE(end.compactions, answers);
    EXPECT_EQ(end.compactions, pool.engine().slices.size());
    EXPECT_EQ(end.rung_entries[static_cast<std::size_t>(PressureRung::kCompact)], 1u);
    EXPECT_EQ(end.requests_failed, 0u);
    EXPECT_LE(end.fragmentation, kLeave);
    pool.expect_texts_as_alone();
  }
}

TEST(EngineCompact, TakesNoMoreOfAStepThanASliceAndOfARequestThanItsAllowance) {
  const CompactionOptions limits;
  for (const int cost : {20, 30, 45, 60}) {
    ScatteredPool pool{microseconds(cost)};
    pool.scatter(3);
    pool.run_watching_the_marks();
    ASSERT_GT(pool.engine().slices.size(), 0u) << cost;
    for (const CompactionReport& slice : pool.engine().slices) {
      EXPECT_LE(slice.duration, limits.slice) << cost;
      EXPECT_EQ(slice.duration, 2 * slice.cells * microseconds(cost));
    }
    // Everybody was there from the first to the last slice.
    EXPECT_LE(pool.time_of_slices(), limits.per_request) << cost;
    pool.expect_texts_as_alone();
  }
}

TEST(EngineCompact, GoesOnWithoutWhenTheAllowanceIsUsedUp) {
  ScatteredPool pool(microseconds(60));
  pool.scatter(3);
  pool.run_watching_the_marks();
  EXPECT_GT(pool.engine().loop->snapshot().fragmentation, kLeave);
  const std::size_t slices = pool.engine().slices.size();
  EXPECT_GT(slices, 0u);
  EXPECT_EQ(pool.engine().loop->snapshot().requests_failed, 0u);
  pool.expect_texts_as_alone();
}

TEST(EngineCompact, MovesNothingWhereThereIsNoHostMemoryForTheWay) {
  ScatteredPool pool(microseconds(5), 0);
  pool.scatter(2);
  pool.run_watching_the_marks();
  EXPECT_EQ(pool.engine().loop->snapshot().compactions, 0u);
  EXPECT_GT(pool.engine().loop->snapshot().fragmentation, kEnter);
  pool.expect_texts_as_alone();
}

// Nobody is there, the cells are scattered and cannot be moved, or could be: no reason for a step.
TEST(EngineCompact, LeavesAnIdleEngineIdle) {
  for (const std::uint64_t host_bytes : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    ScatteredPool pool(microseconds(60), host_bytes);
    pool.scatter(3);
    pool.run_watching_the_marks();
    EngineHarness& engine = pool.engine();
    const EngineSnapshot before = engine.loop->snapshot();
    ASSERT_GT(before.fragmentation, kEnter);
    ASSERT_EQ(before.rung, PressureRung::kCompact);
    EXPECT_FALSE(engine.loop->due_in().has_value()) << "it would wake up by itself";
    for (int i = 0; i < 5; ++i) {
      engine.clock.advance(std::chrono::seconds(1));
      EXPECT_FALSE(engine.step());
    }
    EXPECT_EQ(engine.loop->snapshot().steps, before.steps);
    EXPECT_EQ(engine.loop->snapshot().compactions, before.compactions);
    EXPECT_FALSE(engine.loop->due_in().has_value());
  }
}

// The next request has an allowance of its own.
TEST(EngineCompact, GoesOnForANewRequestWhenTheOthersHaveGone) {
  ScatteredPool pool(microseconds(60), 1u << 20, 100);
  pool.scatter(3);
  pool.run_watching_the_marks();
  const std::size_t before = pool.engine().slices.size();
  const auto next = pool.engine().submit({.prompt = prompt_of(30, 9), .max_tokens = 30});
  pool.run_watching_the_marks();
  next->read();
  EXPECT_NE(next->find<Finished>(), nullptr);
  EXPECT_GT(pool.engine().slices.size(), before);
  EXPECT_LE(pool.time_of_slices(), 2 * CompactionOptions{}.per_request);
}

// A state that cannot be saved or restored costs a computation, not text.
TEST(EngineCompact, ComputesAgainWhatIsLostOnTheWay) {
  for (const FakeStateCallKind lost : {FakeStateCallKind::kSave, FakeStateCallKind::kRestore}) {
    bool broken = false;
    bool no_room = false;
    FakeModelOptions model = endless_model();
    model.fault = [&no_room](std::span<const BatchRow>) {
      return std::exchange(no_room, false) ? DecodeStatus::kNoRoom : DecodeStatus::kOk;
    };
    model.state_fault = [&](const FakeStateCall& call) { return broken && call.kind == lost; };
    ContextOptions context = harness_context();
    context.window = 1024;
    context.batch_rows = 256;
    EngineOptions options;
    options.cache.host_bytes_max = 1u << 20;
    EngineHarness engine(model, context, options);
    const auto writer = engine.submit({.prompt = prompt_of(60, 1), .max_tokens = 300});
    engine.step();
    engine.submit({.prompt = prompt_of(900, 2), .max_tokens = 1});
    while (engine.loop->snapshot().requests_finished == 0) ASSERT_TRUE(engine.step());
    no_room = broken = true;
    engine.run();
    writer->read();
    EXPECT_GT(engine.loop->snapshot().compactions, 0u);
    EngineHarness alone(endless_model(), context);
    EXPECT_EQ(writer->text(),
              alone.complete({.prompt = prompt_of(60, 1), .max_tokens = 300})->text());
  }
}

TEST(EngineCompact, BringsStreamsTogether) {
  ContextOptions context = harness_context(KvLayout::kStreams);
  context.sequences = 8;
  FakeModelOptions model = endless_model();
  model.cost.per_state_cell = microseconds(20);
  EngineHarness engine(model, context);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  // Shortest first: the first and the last slot go on for long, those between them do not.
  const auto tokens = [](std::uint64_t i) { return i == 0 || i == 7 ? 120u : 2u; };
  for (std::uint64_t i = 0; i < 8; ++i) {
    clients.push_back(engine.submit({.prompt = prompt_of(10 + 2 * i, i), .max_tokens = tokens(i)}));
  }
  double most = 0;
  while (engine.step()) most = std::max(most, engine.loop->snapshot().fragmentation);
  EXPECT_GT(most, kEnter);
  EXPECT_EQ(engine.loop->snapshot().compactions, 1u);
  ASSERT_EQ(engine.slices.size(), 1u);
  EXPECT_LE(engine.slices[0].duration, CompactionOptions{}.slice);
  for (std::uint64_t i = 0; i < 8; ++i) {
    clients[i]->read();
    EngineHarness alone(endless_model(), context);
    EXPECT_EQ(
        clients[i]->text(),
        alone.complete({.prompt = prompt_of(10 + 2 * i, i), .max_tokens = tokens(i)})->text());
  }
}

}  // namespace
}  // namespace zerohop
