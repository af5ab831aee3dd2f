// Steps that fail: whoever is at fault ends with a typed error, nobody else notices.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

// No answer of the fake model holds it.
constexpr Token kPoison = '\x01';

bool holds_poison(std::span<const BatchRow> rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const BatchRow& row) { return row.token == kPoison; });
}

// Five at once, one of them poisoned; the model is `model` with a fault.
void expect_only_the_poisoned_one_fails(const TestLayout& layout, FakeModelOptions model) {
  EngineHarness engine(std::move(model), layout.context, layout.engine());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string prompt = prompt_of(40 + 20 * i, i) + (i == 2 ? "\x01" : "");
    clients.push_back(engine.submit({.prompt = prompt, .max_tokens = 30}));
  }
  engine.run();
  for (std::uint64_t i = 0; i < 5; ++i) {
    clients[i]->read();
    if (i == 2) {
      ASSERT_NE(clients[i]->find<Failed>(), nullptr) << layout.name;
      EXPECT_EQ(clients[i]->find<Failed>()->error.code, ErrorCode::kModelFailure);
    } else {
      EXPECT_EQ(clients[i]->text(), text_alone(layout, prompt_of(40 + 20 * i, i), 30))
          << layout.name << " " << i;
    }
  }
  EXPECT_EQ(engine.loop->snapshot().requests_failed, 1u) << layout.name;
  EXPECT_FALSE(engine.loop->snapshot().circuit_open) << layout.name;
}

TEST(EngineRecover, FailsOnlyTheRequestThatMakesStepsFail) {
  for (const TestLayout& layout : all_layouts()) {
    FakeModelOptions model = layout.model();
    model.fault = [](std::span<const BatchRow> rows) {
      return holds_poison(rows) ? DecodeStatus::kFatal : DecodeStatus::kOk;
    };
    expect_only_the_poisoned_one_fails(layout, std::move(model));
  }
}

TEST(EngineRecover, FailsOnlyTheRequestWhoseLogitsAreNoNumbers) {
  for (const TestLayout& layout : all_layouts()) {
    FakeModelOptions model = layout.model();
    model.not_finite = [](const BatchRow& row) { return row.token == kPoison; };
    expect_only_the_poisoned_one_fails(layout, std::move(model));
  }
}

// What it has to compute again is no text that a constraint forced behind its last token: it
// advances like a prompt, however full steps are, and not by the one row of a decoder.
TEST(EngineRecover, CatchesUpInPiecesHoweverFewCellsWereLost) {
  int draws = 0;
  FakeModelOptions model = endless_model();
  model.not_finite = [&draws](const BatchRow&) { return ++draws == 5; };
  EngineOptions options;
  options.itl_objective = Duration(1);
  EngineHarness engine(model, harness_context(), options);
  engine.submit({.prompt = prompt_of(20, 1), .max_tokens = 10});
  while (engine.loop->snapshot().retries_not_finite == 0) ASSERT_TRUE(engine.step());
  const std::size_t failed = engine.steps.size();
  while (draws == 5) ASSERT_TRUE(engine.step());
  // The prompt and four tokens.
  EXPECT_EQ(engine.steps.size() - failed, 24 / limits::kPrefillRowsMin);
}

TEST(EngineRecover, ComputesAStepAgainWhoseLogitsWereNoNumbersOnce) {
  for (const TestLayout& layout : all_layouts()) {
    int rows = 0;
    FakeModelOptions model = layout.model();
    model.not_finite = [&rows](const BatchRow&) { return ++rows == 7; };
    EngineHarness engine(model, layout.context, layout.engine());
    EXPECT_EQ(engine.complete({.prompt = "once", .max_tokens = 20})->text(),
              text_alone(layout, "once", 20));
    EXPECT_EQ(engine.loop->snapshot().retries_not_finite, 1u);
    EXPECT_EQ(engine.loop->snapshot().requests_failed, 0u);
  }
}

TEST(EngineRecover, FindsTheOneAtFaultInTheMiddleOfItsAnswer) {
  for (const TestLayout& layout : all_layouts()) {
    FakeModelOptions model = layout.model();
    // Only the longest prompt gets as far as that.
    model.fault = [](std::span<const BatchRow> rows) {
      const bool far = std::any_of(rows.begin(), rows.end(),
                                   [](const BatchRow& row) { return row.position == 190; });
      return far ? DecodeStatus::kFatal : DecodeStatus::kOk;
    };
    EngineHarness engine(model, layout.context, layout.engine());
    std::vector<std::shared_ptr<HarnessClient>> clients;
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients.push_back(
          engine.submit({.prompt = prompt_of(i == 1 ? 180 : 60, i), .max_tokens = 40}));
    }
    engine.run();
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients[i]->read();
      const std::string whole = text_alone(layout, prompt_of(i == 1 ? 180 : 60, i), 40);
      if (i != 1) {
        EXPECT_EQ(clients[i]->text(), whole) << layout.name;
        continue;
      }
      EXPECT_NE(clients[i]->find<Failed>(), nullptr) << layout.name;
      EXPECT_TRUE(whole.starts_with(clients[i]->text())) << layout.name;
      EXPECT_EQ(clients[i]->text().size(), 11u) << layout.name;
    }
  }
}

TEST(EngineRecover, ToleratesAFaultNowAndThenInEveryLayout) {
  for (const TestLayout& layout : all_layouts(500)) {
    std::uint64_t faults = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Random random(seed);
      bool failed_before = false;
      FakeModelOptions model = layout.model();
      model.fault = [&](std::span<const BatchRow>) {
        failed_before = !failed_before && random.chance(0.06);
        if (!failed_before) return DecodeStatus::kOk;
        return random.chance(0.5) ? DecodeStatus::kFatal : DecodeStatus::kNoRoom;
      };
      EngineHarness engine(model, layout.context, layout.engine());
      std::vector<std::shared_ptr<HarnessClient>> clients;
      for (std::uint64_t i = 0; i < 6; ++i) {
        clients.push_back(engine.submit({.prompt = prompt_of(50, i), .max_tokens = 25}));
      }
      engine.run();
      for (std::uint64_t i = 0; i < 6; ++i) {
        clients[i]->read();
        EXPECT_EQ(clients[i]->text(), text_alone(layout, prompt_of(50, i), 25))
            << layout.name << " seed " << seed;
      }
      faults += engine.loop->snapshot().retries_fatal;
      EXPECT_EQ(engine.loop->snapshot().requests_failed, 0u) << layout.name;
    }
    EXPECT_GT(faults, 5u) << layout.name;
  }
}

TEST(EngineRecover, TakesAPrefixFromHostMemoryAfterAFatalStep) {
  TestLayout layout = all_layouts()[1];
  bool broken = false;
  FakeModelOptions model = layout.model();
  model.fault = [&broken](std::span<const BatchRow>) {
    return std::exchange(broken, false) ? DecodeStatus::kFatal : DecodeStatus::kOk;
  };
  EngineHarness engine(model, layout.context, layout.engine());
  const std::string prompt = prompt_of(200, 1);
  engine.complete({.prompt = prompt, .max_tokens = 1});
  const auto client = engine.submit({.prompt = prompt, .max_tokens = 20});
  engine.step();
  broken = true;
  const std::uint64_t before = engine.loop->snapshot().prompt_tokens_computed;
  engine.run();
  client->read();
  EXPECT_EQ(client->text(), text_alone(layout, prompt, 20));
  EXPECT_EQ(engine.loop->snapshot().retries_fatal, 1u);
  // What it computed itself is lost, what others hold is not computed again.
  EXPECT_LT(engine.loop->snapshot().prompt_tokens_computed - before, 200u);
}

TEST(EngineRecover, MakesRoomWhenTheModelHasLessThanTheBooks) {
  for (const TestLayout& layout : all_layouts()) {
    FakeModelOptions model = layout.model();
    model.fault = [](std::span<const BatchRow> rows) {
      return slots_in(rows) > 2 ? DecodeStatus::kNoRoom : DecodeStatus::kOk;
    };
    EngineHarness engine(model, layout.context, layout.engine());
    std::vector<std::shared_ptr<HarnessClient>> clients;
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients.push_back(engine.submit({.prompt = prompt_of(30, i), .max_tokens = 20}));
    }
    engine.run();
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients[i]->read();
      EXPECT_EQ(clients[i]->text(), text_alone(layout, prompt_of(30, i), 20)) << layout.name;
    }
    EXPECT_GT(engine.loop->snapshot().retries_no_room, 0u) << layout.name;
    EXPECT_GT(engine.loop->snapshot().parks_for_cells, 0u) << layout.name;
  }
}

TEST(EngineRecover, OpensTheCircuitWhileNothingWorksAndClosesItAfterwards) {
  bool dead = true;
  std::size_t most = 0;
  FakeModelOptions model = endless_model();
  model.fault = [&](std::span<const BatchRow> rows) {
    most = slots_in(rows);
    return dead ? DecodeStatus::kFatal : DecodeStatus::kOk;
  };
  EngineHarness engine(model, harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 4; ++i) {
    clients.push_back(engine.submit({.prompt = prompt_of(20, i), .max_tokens = 20}));
  }
  for (std::uint32_t i = 0; i < FaultFinder::kCircuitFailures; ++i) engine.step();
  EXPECT_TRUE(engine.loop->snapshot().circuit_open);
  engine.step();
  EXPECT_EQ(most, 1u);
  dead = false;
  engine.step();
  EXPECT_FALSE(engine.loop->snapshot().circuit_open);
  engine.run();
  std::uint64_t answered = 0;
  for (const auto& client : clients) {
    client->read();
    ASSERT_TRUE(client->done);
    if (client->find<Finished>() != nullptr) ++answered;
  }
  EXPECT_GE(answered, 1u);
}

TEST(EngineRecover, FailsEverybodyInTheEndWhenTheModelIsDead) {
  FakeModelOptions model = endless_model();
  model.fault = [](std::span<const BatchRow>) { return DecodeStatus::kFatal; };
  EngineHarness engine(model, harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 6; ++i) {
    clients.push_back(engine.submit({.prompt = prompt_of(20, i), .max_tokens = 20}));
  }
  engine.run();
  for (const auto& client : clients) {
    client->read();
    ASSERT_NE(client->find<Failed>(), nullptr);
    EXPECT_EQ(client->find<Failed>()->error.code, ErrorCode::kModelFailure);
  }
}

TEST(EngineRecover, LosesReuseAndNeverTextWhenStatesCannotBeSavedOrRestored) {
  for (const TestLayout& layout : all_layouts(400)) {
    Random random(5);
    FakeModelOptions model = layout.model();
    model.state_fault = [&random](const FakeStateCall&) { return random.chance(0.5); };
    EngineHarness engine(model, layout.context, layout.engine());
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<std::shared_ptr<HarnessClient>> clients;
      for (std::uint64_t i = 0; i < 6; ++i) {
        clients.push_back(engine.submit({.prompt = prompt_of(120, i), .max_tokens = 60}));
      }
      engine.run();
      for (std::uint64_t i = 0; i < 6; ++i) {
        clients[i]->read();
        EXPECT_EQ(clients[i]->text(), text_alone(layout, prompt_of(120, i), 60)) << layout.name;
      }
    }
  }
}

}  // namespace
}  // namespace zerohop
