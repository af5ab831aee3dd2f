// Deadlines: who is refused before anything is computed, and who is ended when the time is over.

#include <gtest/gtest.h>

#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

TEST(EngineDeadline, EndsARequestWhoseDeadlineIsOverInEveryPhase) {
  EngineHarness engine(endless_model(), harness_context());
  const auto ask = [&engine](std::size_t bytes, Duration time) {
    return engine.submit({.prompt = prompt_of(bytes, bytes),
                          .max_tokens = 200,
                          .scheduling = {.deadline = engine.clock.now() + time}});
  };
  engine.submit({.prompt = "x", .scheduling = {.deadline = engine.clock.now()}});
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kTimeout);

  const auto queued = ask(20, std::chrono::milliseconds(5));
  engine.clock.advance(std::chrono::milliseconds(6));
  EXPECT_FALSE(engine.step());
  queued->read();
  ASSERT_NE(queued->find<Failed>(), nullptr);
  EXPECT_EQ(queued->find<Failed>()->error.code, ErrorCode::kTimeout);
  EXPECT_EQ(queued->find<Started>(), nullptr);
  EXPECT_EQ(engine.loop->snapshot().deadlines_refused, 1u);

  const auto decoding = ask(20, std::chrono::milliseconds(150));
  engine.run();
  decoding->read();
  ASSERT_NE(decoding->find<Failed>(), nullptr);
  EXPECT_EQ(decoding->find<Failed>()->error.code, ErrorCode::kTimeout);
  EXPECT_NE(decoding->find<TextDelta>(), nullptr);
  EXPECT_LT(engine.clock.now().time_since_epoch(), std::chrono::seconds(1));
  EXPECT_EQ(engine.loop->snapshot().running(), 0u);
}

TEST(EngineDeadline, RefusesWhatCannotBeInTimeBeforeItIsComputed) {
  EngineHarness engine(endless_model(), harness_context());
  engine.complete({.prompt = prompt_of(200, 1), .max_tokens = 20});  // the engine learns its speed
  const std::uint64_t computed = engine.loop->snapshot().prompt_tokens_computed;
  const auto late = engine.submit(
      {.prompt = prompt_of(200, 2),
       .scheduling = {.deadline = engine.clock.now() + std::chrono::milliseconds(100)}});
  engine.run();
  late->read();
  ASSERT_NE(late->find<Failed>(), nullptr);
  EXPECT_EQ(late->find<Failed>()->error.code, ErrorCode::kTimeout);
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens_computed, computed);
  EXPECT_EQ(engine.loop->snapshot().deadlines_refused, 1u);
}

// Answers take 7 ms a token here, and all that ended so far had 20.
TEST(EngineDeadline, RefusesAnAnswerThatWouldHaveToBeShorterThanAllOthers) {
  EngineHarness engine(endless_model(), harness_context());
  for (std::uint64_t i = 0; i < AnswerLengths::kNeeded; ++i) {
    engine.complete({.prompt = prompt_of(10, i), .max_tokens = 20});
  }
  const auto ask = [&engine](std::uint32_t max_tokens, std::uint64_t seed) {
    const auto client = engine.submit(
        {.prompt = prompt_of(10, seed),
         .max_tokens = max_tokens,
         .scheduling = {.deadline = engine.clock.now() + std::chrono::milliseconds(110)}});
    engine.run();
    client->read();
    return client;
  };
  const std::uint64_t computed = engine.loop->snapshot().prompt_tokens_computed;
  const auto late = ask(20, 100);
  ASSERT_NE(late->find<Failed>(), nullptr);
  EXPECT_EQ(late->find<Failed>()->error.code, ErrorCode::kTimeout);
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens_computed, computed);
  EXPECT_NE(ask(5, 101)->find<Finished>(), nullptr) << "it says itself that it is shorter";
}

TEST(EngineDeadline, RefusesWhatCannotBeInTimeWhileItWouldHaveToWait) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  EngineHarness engine(endless_model(), context);
  engine.complete({.prompt = prompt_of(200, 1), .max_tokens = 20});  // the engine learns its speed
  const auto running = engine.submit({.prompt = prompt_of(200, 2), .max_tokens = 40});
  engine.step();
  const auto late = engine.submit(
      {.prompt = prompt_of(200, 3),
       .scheduling = {.deadline = engine.clock.now() + std::chrono::milliseconds(100)}});
  engine.step();
  late->read();
  ASSERT_NE(late->find<Failed>(), nullptr) << "at once, not when a slot is free";
  EXPECT_EQ(late->find<Failed>()->error.code, ErrorCode::kTimeout);
  EXPECT_EQ(engine.loop->snapshot().queued, 0u);
  engine.run();
}

TEST(EngineDeadline, CountsOnAPromptThatSomebodyElseComputesRightNow) {
  ContextOptions context = harness_context();
  context.window = 1024;
  EngineHarness engine(endless_model(), context);
  engine.complete({.prompt = prompt_of(200, 1), .max_tokens = 20});  // the engine learns its speed
  const double rate = engine.loop->snapshot().prefill_tokens_per_second;
  ASSERT_GT(rate, 0);
  const std::string prompt = prompt_of(900, 2);
  const auto first = engine.submit({.prompt = prompt, .max_tokens = 1});
  while (engine.loop->snapshot().prompt_tokens_computed < 200 + 600) ASSERT_TRUE(engine.step());
  const auto second =
      engine.submit({.prompt = prompt,
                     .max_tokens = 1,
                     .scheduling = {.deadline = engine.clock.now() + from_seconds(700 / rate)}});
  engine.run();
  second->read();
  EXPECT_NE(second->find<Finished>(), nullptr);
}

// What somebody else has not computed yet has to be waited for, too.
TEST(EngineDeadline, RefusesWhatAPromptThatHasOnlyBegunLeavesNoTimeFor) {
  ContextOptions context = harness_context();
  context.window = 1024;
  EngineHarness engine(endless_model(), context);
  engine.complete({.prompt = prompt_of(200, 1), .max_tokens = 20});
  const double rate = engine.loop->snapshot().prefill_tokens_per_second;
  const std::string prompt = prompt_of(900, 2);
  engine.submit({.prompt = prompt, .max_tokens = 1});
  while (engine.loop->snapshot().prompt_tokens_computed < 200 + 64) ASSERT_TRUE(engine.step());
  const auto second =
      engine.submit({.prompt = prompt,
                     .max_tokens = 1,
                     .scheduling = {.deadline = engine.clock.now() + from_seconds(300 / rate)}});
  engine.run();
  second->read();
  ASSERT_NE(second->find<Failed>(), nullptr);
  EXPECT_EQ(second->find<Failed>()->error.code, ErrorCode::kTimeout);
}

TEST(EngineDeadline, AbortsADecodeInWhichEverybodyIsTooLate) {
  EngineHarness engine(endless_model(), harness_context());
  engine.submit({.prompt = prompt_of(60, 1),
                 .scheduling = {.deadline = engine.clock.now() + std::chrono::milliseconds(50)}});
  EXPECT_TRUE(engine.step());
  EXPECT_EQ(engine.steps.back().status, DecodeStatus::kAborted);
  EXPECT_LT(engine.steps.back().duration, std::chrono::milliseconds(60));
  EXPECT_FALSE(engine.step());
  EXPECT_EQ(engine.loop->snapshot().requests_failed, 1u);
}

}  // namespace
}  // namespace zerohop
