// What may happen to a constrained answer on its way: parked, computed again, cancelled, beside
// others. Nobody can tell from any text.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_constraint_kit.h"
#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

const TestConstraint& some_record() {
  static const TestConstraint constraint = record();
  return constraint;
}

// So long that four of them do not fit the smaller pools.
const TestConstraint& long_record() {
  static const TestConstraint constraint = keyed_values(6);
  return constraint;
}

constexpr std::uint32_t kMostTokens = 180;

HarnessRequest ask(std::uint64_t number) {
  return constrained(long_record(), kMostTokens, number % 2 == 0 ? 0.0 : 1.5,
                     prompt_of(20 + 5 * number, number));
}

std::string constrained_alone(const TestLayout& layout, std::uint64_t number,
                              const EngineOptions& options) {
  EngineHarness engine(layout.model(), layout.context, options);
  const std::string text = engine.complete(ask(number))->text();
  EXPECT_TRUE(long_record().allows(text)) << text;
  return text;
}

TEST(EngineConstraintLife, WritesTheSameParkedForCellsOrNot) {
  for (const TestLayout& layout : all_layouts(260)) {
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    std::vector<std::shared_ptr<HarnessClient>> clients;
    for (std::uint64_t i = 0; i < 4; ++i) clients.push_back(engine.submit(ask(i)));
    engine.run();
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients[i]->read();
      EXPECT_EQ(clients[i]->text(), constrained_alone(layout, i, layout.engine()))
          << layout.name << " " << i;
      EXPECT_EQ(clients[i]->find<Finished>()->reason, FinishReason::kEndOfTurn);
    }
    const EngineSnapshot end = engine.loop->snapshot();
    EXPECT_EQ(end.parks_for_cells > 0, layout.context.layout == KvLayout::kUnified) << layout.name;
    EXPECT_GT(end.constraints.forced_tokens, 60u);
  }
}

TEST(EngineConstraintLife, WritesTheSameForALaggingReader) {
  for (TestLayout layout : all_layouts()) {
    layout.context.sequences = 1;
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    HarnessRequest request = ask(1);
    request.stream_bytes = 40;
    const auto client = engine.submit(std::move(request));
    while (!client->done) {
      engine.run();
      engine.complete({.prompt = "somebody else", .max_tokens = 3});
      client->read();
    }
    EXPECT_EQ(client->text(), constrained_alone(layout, 1, layout.engine())) << layout.name;
    EXPECT_GT(engine.loop->snapshot().parks_for_readers, 1u) << layout.name;
  }
}

// Every eleventh step fails, in one of the ways that a step can: far enough apart that nobody is
// twice the one suspect.
TEST(EngineConstraintLife, WritesTheSameWhenStepsFail) {
  for (const DecodeStatus status : {DecodeStatus::kFatal, DecodeStatus::kNoRoom}) {
    for (const TestLayout& layout : all_layouts()) {
      int steps = 0;
      FakeModelOptions model = layout.model();
      model.fault = [&steps, status](std::span<const BatchRow>) {
        return ++steps % 11 == 0 ? status : DecodeStatus::kOk;
      };
      EngineHarness engine(model, layout.context, layout.engine());
      std::vector<std::shared_ptr<HarnessClient>> clients;
      for (std::uint64_t i = 0; i < 3; ++i) clients.push_back(engine.submit(ask(i)));
      engine.run();
      for (std::uint64_t i = 0; i < 3; ++i) {
        clients[i]->read();
        EXPECT_EQ(clients[i]->text(), constrained_alone(layout, i, layout.engine()))
            << layout.name << " " << i;
      }
      EXPECT_EQ(engine.loop->snapshot().requests_failed, 0u) << layout.name;
    }
  }
}

TEST(EngineConstraintLife, WritesTheSameWhenLogitsWereNoNumbersOnce) {
  for (const TestLayout& layout : all_layouts()) {
    int rows = 0;
    FakeModelOptions model = layout.model();
    model.not_finite = [&rows](const BatchRow&) { return ++rows % 11 == 0; };
    EngineHarness engine(model, layout.context, layout.engine());
    const auto client = engine.complete(ask(1));
    EXPECT_EQ(client->text(), constrained_alone(layout, 1, layout.engine())) << layout.name;
    EXPECT_GT(engine.loop->snapshot().retries_not_finite, 1u);
  }
}

TEST(EngineConstraintLife, LeavesItsNeighboursAsTheyAre) {
  for (const TestLayout& layout : all_layouts()) {
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    std::vector<std::shared_ptr<HarnessClient>> free;
    std::vector<std::shared_ptr<HarnessClient>> bound;
    for (std::uint64_t i = 0; i < 6; ++i) {
      free.push_back(engine.submit({.prompt = prompt_of(30 + 15 * i, i), .max_tokens = 60}));
      bound.push_back(engine.submit(ask(i)));
    }
    engine.run();
    for (std::uint64_t i = 0; i < 6; ++i) {
      free[i]->read();
      bound[i]->read();
      EXPECT_EQ(free[i]->text(), text_alone(layout, prompt_of(30 + 15 * i, i), 60)) << layout.name;
      EXPECT_EQ(bound[i]->text(), constrained_alone(layout, i, layout.engine())) << layout.name;
    }
  }
}

TEST(EngineConstraintLife, WritesTheSameInTheExactModeAloneOrNot) {
  TestLayout layout = all_layouts()[2];
  EngineOptions exact = layout.engine();
  exact.exactness = Exactness::kExact;
  EngineHarness engine(layout.model(), layout.context, exact);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 6; ++i) clients.push_back(engine.submit(ask(i)));
  engine.run();
  for (std::uint64_t i = 0; i < 6; ++i) {
    clients[i]->read();
    EXPECT_EQ(clients[i]->text(), constrained_alone(layout, i, exact)) << i;
  }
  EXPECT_GT(engine.loop->snapshot().constraints.forced_tokens, 60u);
}

// What was generated one by one is computed one by one.
TEST(EngineConstraintLife, ComputesForcedTokensInSingleRowsInTheExactMode) {
  EngineOptions exact;
  exact.exactness = Exactness::kExact;
  EngineHarness engine(endless_model(), harness_context(KvLayout::kStreams), exact);
  const auto client = engine.complete(constrained(some_record(), 100));
  ASSERT_GT(engine.steps.size(), 2u);
  for (std::size_t i = 1; i < engine.steps.size(); ++i) EXPECT_EQ(engine.steps[i].rows, 1u);
  EXPECT_GT(engine.loop->snapshot().constraints.forced_tokens, 20u);
}

TEST(EngineConstraintLife, WritesTheSameWhenMachinesAreReplacedAllTheTime) {
  const TestLayout layout = all_layouts()[0];
  EngineOptions tiny = layout.engine();
  tiny.constraint_machine_bytes = 1;
  tiny.constraint_mask_bytes = 1;
  tiny.constraint_idle_bytes = 0;
  EngineHarness engine(layout.model(), layout.context, tiny);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 6; ++i) clients.push_back(engine.submit(ask(i)));
  engine.run();
  for (std::uint64_t i = 0; i < 6; ++i) {
    clients[i]->read();
    EXPECT_EQ(clients[i]->text(), constrained_alone(layout, i, layout.engine())) << i;
  }
}

TEST(EngineConstraintLife, CanBeCancelledAtAnyToken) {
  for (std::size_t steps = 1; steps < 12; ++steps) {
    EngineHarness engine(endless_model(), harness_context());
    const auto client = engine.submit(constrained(some_record(), 100));
    for (std::size_t i = 0; i < steps; ++i) engine.step();
    client->stream->cancel();
    engine.run();
    EXPECT_EQ(engine.loop->snapshot().running(), 0u);
    const auto next = engine.complete(constrained(some_record(), 100));
    EXPECT_TRUE(some_record().allows(next->text()));
  }
}

// A long forced text beside somebody who decodes: the step stays within the objective, and a prompt
// gets its share.
TEST(EngineConstraintLife, ForcedTextKeepsStepsWithinTheObjective) {
  EngineHarness engine(endless_model(), harness_context());
  const TestConstraint constraint = regex("x(" + std::string(100, 'y') + "[ab])");
  engine.submit({.prompt = "somebody", .max_tokens = 150});
  for (int i = 0; i < 20; ++i) engine.step();  // speed is known
  const auto bound = engine.submit(constrained(constraint, 150));
  const auto prompt = engine.submit({.prompt = std::string(60, 'p'), .max_tokens = 1});
  const std::size_t before = engine.steps.size();
  while (!bound->done) {
    ASSERT_TRUE(engine.step());
    bound->read();
  }
  for (std::size_t i = before; i < engine.steps.size(); ++i) {
    EXPECT_LE(engine.steps[i].duration, limits::kStepObjectivesMax * limits::kItlObjective);
  }
  EXPECT_LT(engine.steps.size() - before, 30u) << "of 102 tokens";
  prompt->read();
  EXPECT_TRUE(prompt->done);
}

}  // namespace
}  // namespace zerohop
