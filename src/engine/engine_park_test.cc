// A running request gives its place away and goes on later, and nobody can tell from its text.

#include <gtest/gtest.h>

#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

std::vector<Token> tokens_of(const EngineHarness& engine, const std::string& text) {
  return engine.model->tokenizer().tokenize(text, SpecialTokens::kParse);
}

struct Ask {
  std::string prompt;
  std::uint32_t max_tokens;
};

// All at once; each must get what it gets alone. Returns the engine's last snapshot.
EngineSnapshot ask_all(const TestLayout& layout, const std::vector<Ask>& asks) {
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (const Ask& ask : asks) {
    clients.push_back(engine.submit({.prompt = ask.prompt, .max_tokens = ask.max_tokens}));
  }
  engine.run();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    clients[i]->read();
    EXPECT_NE(clients[i]->find<Finished>(), nullptr) << layout.name << " " << i;
    EXPECT_EQ(clients[i]->text(), text_alone(layout, asks[i].prompt, asks[i].max_tokens))
        << layout.name << " " << i;
  }
  return engine.loop->snapshot();
}

TEST(EnginePark, TakesInMoreThanFitsInTheWorstCaseAndFinishesAllOfIt) {
  // Four answers of up to 156 tokens after prompts of 100: 1,024 cells in the worst case, of which
  // there are 400.
  std::vector<Ask> asks;
  for (std::uint64_t i = 0; i < 4; ++i) asks.push_back({prompt_of(90, i), 150});
  for (const TestLayout& layout : all_layouts(400)) {
    const EngineSnapshot end = ask_all(layout, asks);
    const bool pooled = layout.context.layout == KvLayout::kUnified;
    EXPECT_EQ(end.parks_for_cells > 0, pooled) << layout.name;
    EXPECT_EQ(end.resumes, end.parks_for_cells) << layout.name;
    EXPECT_EQ(end.requests_failed, 0u) << layout.name;
    EXPECT_EQ(end.output_tokens, 600u) << layout.name;
  }
}

TEST(EnginePark, StartsARequestWhosePromptFitsWhateverItMayStillWrite) {
  ContextOptions context = harness_context();
  context.cells = 256;
  EngineHarness engine(endless_model(), context);
  for (int i = 0; i < 3; ++i) {
    engine.submit({.prompt = "p" + std::to_string(i), .max_tokens = 200});
  }
  engine.step();
  EXPECT_EQ(engine.loop->snapshot().running(), 3u);
  EXPECT_EQ(engine.loop->snapshot().queued, 0u);
  engine.run();
  EXPECT_EQ(engine.loop->snapshot().requests_finished, 3u);
}

TEST(EnginePark, NeverParksTheOldestOfTheHighestClass) {
  ContextOptions context = harness_context();
  context.cells = 300;
  EngineHarness engine(endless_model(), context);
  const auto batch =
      engine.submit({.prompt = prompt_of(60, 1),
                     .max_tokens = 190,
                     .scheduling = {.tenant = {}, .priority = PriorityClass::kBatch}});
  engine.step();
  const auto urgent =
      engine.submit({.prompt = prompt_of(60, 2),
                     .max_tokens = 190,
                     .scheduling = {.tenant = {}, .priority = PriorityClass::kPriority}});
  while (!urgent->done) {
    ASSERT_TRUE(engine.step());
    urgent->read();
    batch->read();
    EXPECT_EQ(batch->done && !urgent->done, false);
  }
  EXPECT_GT(engine.loop->snapshot().parks_for_cells, 0u);
  engine.run();
  batch->read();
  EXPECT_NE(batch->find<Finished>(), nullptr);
}

TEST(EnginePark, GivesTheSlotOfALaggingReaderToSomebodyWhoWaits) {
  for (TestLayout layout : all_layouts()) {
    layout.context.sequences = 1;
    EngineHarness engine(layout.model(), layout.context, layout.engine());
    const auto slow = engine.submit({.prompt = "slow reader", .max_tokens = 60, .stream_bytes = 8});
    engine.run();
    EXPECT_EQ(engine.loop->snapshot().paused, 1u) << layout.name;
    const auto quick = engine.submit({.prompt = "quick", .max_tokens = 20});
    engine.run();
    quick->read();
    EXPECT_NE(quick->find<Finished>(), nullptr) << layout.name;
    EXPECT_EQ(engine.loop->snapshot().parks_for_readers, 1u) << layout.name;
    EXPECT_EQ(engine.loop->snapshot().parked_requests, 1u) << layout.name;
    // Its reader does not read, so it stays where it is, and nothing is computed.
    EXPECT_FALSE(engine.step()) << layout.name;
    while (!slow->done) {
      slow->read();
      engine.step();
    }
    EXPECT_EQ(engine.loop->snapshot().resumes, 1u) << layout.name;
    EXPECT_EQ(slow->text(), text_alone(layout, "slow reader", 60)) << layout.name;
    EXPECT_EQ(quick->text(), text_alone(layout, "quick", 20)) << layout.name;
  }
}

TEST(EnginePark, KeepsALaggingReaderInItsSlotWhileNobodyWaits) {
  EngineHarness engine(endless_model(), harness_context());
  const auto slow = engine.submit({.prompt = "slow", .max_tokens = 60, .stream_bytes = 8});
  engine.run();
  engine.clock.advance(std::chrono::hours(1));
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(engine.loop->snapshot().paused, 1u);
  EXPECT_EQ(engine.loop->snapshot().parks_for_readers, 0u);
  slow->stream->cancel();
}

TEST(EnginePark, LetsATenantThatWasServedLessGoOnInThePlaceOfOneThatWasServedMore) {
  for (TestLayout layout : all_layouts()) {
    layout.context.sequences = 2;
    EngineOptions options = layout.engine();
    options.parking.quantum = 100;
    EngineHarness engine(layout.model(), layout.context, options);
    std::vector<std::shared_ptr<HarnessClient>> heavy;
    for (std::uint64_t i = 0; i < 2; ++i) {
      heavy.push_back(engine.submit(
          {.prompt = prompt_of(190, i), .max_tokens = 60, .scheduling = {.tenant = TenantId(1)}}));
    }
    while (engine.loop->snapshot().decoding < 2) ASSERT_TRUE(engine.step());
    const auto light =
        engine.submit({.prompt = "light", .max_tokens = 4, .scheduling = {.tenant = TenantId(2)}});
    while (!light->done) {
      ASSERT_TRUE(engine.step());
      light->read();
    }
    EXPECT_EQ(engine.loop->snapshot().requests_finished, 1u) << layout.name;
    EXPECT_EQ(engine.loop->snapshot().parks_for_fairness, 1u) << layout.name;
    engine.run();
    EXPECT_EQ(engine.loop->snapshot().resumes, 1u) << layout.name;
    for (std::uint64_t i = 0; i < 2; ++i) {
      heavy[i]->read();
      EXPECT_EQ(heavy[i]->text(), text_alone(layout, prompt_of(190, i), 60)) << layout.name;
    }
  }
}

TEST(EnginePark, KeepsTheGeneratorAndThePenaltiesOfAParkedRequest) {
  const SamplingParameters lively{
      .temperature = 1.4f, .seed = 11, .presence_penalty = 0.7f, .frequency_penalty = 0.3f};
  TestLayout layout = all_layouts()[1];
  layout.context.sequences = 1;
  EngineHarness alone(layout.model(), layout.context, layout.engine());
  const std::string expected =
      alone.complete({.prompt = "dice", .max_tokens = 60, .sampling = lively})->text();
  EngineHarness engine(layout.model(), layout.context, layout.engine());
  const auto slow =
      engine.submit({.prompt = "dice", .max_tokens = 60, .sampling = lively, .stream_bytes = 8});
  while (!slow->done) {
    engine.complete({.prompt = "in between", .max_tokens = 3});
    slow->read();
  }
  EXPECT_GT(engine.loop->snapshot().parks_for_readers, 3u);
  EXPECT_EQ(slow->text(), expected);
}

TEST(EnginePark, ComputesParkedTokensAgainWhenTheirCellsWereNeeded) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  context.cells = 256;
  EngineHarness engine(endless_model(), context);
  const auto slow =
      engine.submit({.prompt = prompt_of(100, 1), .max_tokens = 50, .stream_bytes = 8});
  engine.run();
  engine.complete({.prompt = prompt_of(200, 2), .max_tokens = 40});  // takes nearly everything
  while (!slow->done) {
    slow->read();
    engine.step();
  }
  EngineHarness alone(endless_model(), context);
  EXPECT_EQ(slow->text(), alone.complete({.prompt = prompt_of(100, 1), .max_tokens = 50})->text());
}

TEST(EnginePark, FreesAParkedRequestThatIsCancelledWithinOneStep) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  EngineHarness engine(endless_model(), context);
  const auto slow = engine.submit({.prompt = "slow", .max_tokens = 60, .stream_bytes = 8});
  engine.run();
  engine.complete({.prompt = "quick", .max_tokens = 2});
  ASSERT_EQ(engine.loop->snapshot().parked_requests, 1u);
  slow->stream->cancel();
  engine.step();
  EXPECT_EQ(engine.loop->snapshot().parked_requests, 0u);
  EXPECT_EQ(engine.loop->snapshot().cancelled_decode, 1u);
}

TEST(EnginePark, ChargesATenantOnlyOnceForWhatIsComputedAgain) {
  ContextOptions context = harness_context();
  context.cells = 300;
  std::uint64_t rows_computed = 0;
  FakeModelOptions model = endless_model();
  model.fault = [&rows_computed](std::span<const BatchRow> rows) {
    rows_computed += rows.size();
    return DecodeStatus::kOk;
  };
  EngineHarness engine(model, context);
  for (std::uint64_t i = 0; i < 2; ++i) {
    engine.submit({.prompt = prompt_of(60, i), .max_tokens = 190});
  }
  engine.run();
  const EngineSnapshot end = engine.loop->snapshot();
  EXPECT_GT(end.parks_for_cells, 0u);
  EXPECT_EQ(end.output_tokens, 380u);
  EXPECT_EQ(end.requests_finished, 2u);
  // Every token of both but the last ones, which nobody has to compute.
  const std::uint64_t once = 2 * (tokens_of(engine, prompt_of(60, 0)).size() + 190 - 1);
  EXPECT_GT(rows_computed, once) << "nothing was computed again";
  EXPECT_EQ(end.tokens_charged, once);
}

TEST(EnginePark, SaysTheSameInTheExactModeWhenParkedInTheMiddle) {
  for (const KvLayout layout : {KvLayout::kStreams, KvLayout::kUnified}) {
    EngineOptions exact;
    exact.exactness = Exactness::kExact;
    ContextOptions context = harness_context(layout);
    context.sequences = 1;
    EngineHarness alone(endless_model(), context, exact);
    const std::string expected =
        alone.complete({.prompt = prompt_of(90, 7), .max_tokens = 50})->text();
    // What was generated one by one is computed again one by one.
    std::vector<std::size_t> rows_behind_the_prompt;
    FakeModelOptions model = endless_model();
    model.fault = [&rows_behind_the_prompt](std::span<const BatchRow> rows) {
      if (rows.back().position >= 90) rows_behind_the_prompt.push_back(rows.size());
      return DecodeStatus::kOk;
    };
    EngineHarness engine(model, context, exact);
    const auto slow =
        engine.submit({.prompt = prompt_of(90, 7), .max_tokens = 50, .stream_bytes = 8});
    while (!slow->done) {
      engine.complete({.prompt = "x", .max_tokens = 1});
      slow->read();
    }
    EXPECT_GT(engine.loop->snapshot().parks_for_readers, 3u);
    EXPECT_EQ(slow->text(), expected);
    for (const std::size_t rows : rows_behind_the_prompt) EXPECT_EQ(rows, 1u);
  }
}

}  // namespace
}  // namespace zerohop
