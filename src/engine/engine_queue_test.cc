// What waits in front of the engine: bounds, what a newcomer finds in front of it, how many run at
// once, and what the engine foresees.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/engine_harness.h"

namespace zerohop {
namespace {

HarnessRequest request_of(TenantId tenant, const std::string& prompt = "p") {
  HarnessRequest request;
  request.prompt = prompt;
  request.scheduling.tenant = tenant;
  return request;
}

TEST(EngineQueue, GivesATenantItsShareOnly) {
  EngineOptions options;
  options.queue = {4, 1'000, 0.5};
  EngineHarness engine(endless_model(), harness_context(), options);
  for (int i = 0; i < 3; ++i) engine.submit(request_of(TenantId(1)));
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(engine.last_submit.error().detail, "queue;tenant_requests");
  EXPECT_EQ(engine.loop->full_for(TenantId(1)), QueueBound::kTenantRequests);
  engine.submit(request_of(TenantId(2)));
  EXPECT_TRUE(engine.last_submit.ok());
  engine.run();
  EXPECT_EQ(engine.loop->full_for(TenantId(1)), std::nullopt);
}

TEST(EngineQueue, BoundsTheTokensThatWait) {
  EngineOptions options;
  options.queue.tokens_max = 100;
  EngineHarness engine(endless_model(), harness_context(), options);
  engine.submit({.prompt = std::string(200, 'x')});
  EXPECT_TRUE(engine.last_submit.ok()) << "one always finds room";
  engine.submit({.prompt = "y"});
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().detail, "queue;tokens");
  engine.run();
  EXPECT_EQ(engine.loop->snapshot().queued_tokens_by_class[1], 0u);
}

TEST(EngineQueue, CountsOnlyWhatIsNotCached) {
  EngineHarness engine(endless_model(), harness_context());
  const std::string prompt(100, 'x');
  engine.submit({.prompt = prompt});
  engine.run();
  // Four fill the sequences, the fifth waits.
  for (int i = 0; i < 5; ++i) engine.submit({.prompt = prompt, .max_tokens = 50});
  EXPECT_EQ(engine.loop->snapshot().queued_tokens_by_class[1], 500u) << "nothing is known yet";
  engine.loop->step();
  EXPECT_EQ(engine.loop->snapshot().queued_by_class[1], 1u);
  EXPECT_LT(engine.loop->snapshot().queued_tokens_by_class[1], 10u);
  engine.run();
}

std::uint64_t queued_tokens(const EngineHarness& engine) {
  return engine.loop->snapshot().queued_tokens_by_class[1];
}

// Where equal prompts are not computed once, each of them is work that waits.
TEST(EngineQueue, CountsASharedPromptAsOftenAsItIsComputed) {
  struct Case {
    std::string name;
    KvLayout layout = KvLayout::kUnified;
    Exactness exactness = Exactness::kFast;
    KeepRule keep = KeepRule::kAll;
    std::uint64_t tokens = 102;
  };
  const Case cases[] = {{.name = "shared"},
                        {.name = "exact",
                         .layout = KvLayout::kStreams,
                         .exactness = Exactness::kExact,
                         .tokens = 300},
                        {.name = "nothing is kept", .keep = KeepRule::kNothing, .tokens = 300}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    EngineOptions options;
    options.exactness = one.exactness;
    options.cache.keep = one.keep;
    EngineHarness engine(endless_model(), harness_context(one.layout), options);
    std::vector<HarnessRequest> answers(3);
    for (HarnessRequest& answer : answers) answer.prompt = std::string(100, 'x');
    answers[1].prompt_shared = answers[2].prompt_shared = true;
    engine.submit_all(std::move(answers));
    EXPECT_EQ(queued_tokens(engine), one.tokens);
    std::uint64_t rows = 0;
    engine.run();
    for (const StepReport& step : engine.steps) rows += step.rows;
    EXPECT_EQ(rows > 250, one.tokens > 250) << "as it was counted";
    EXPECT_EQ(queued_tokens(engine), 0u);
  }
}

// On the last rung whoever asks for less than its share is let in, and with nobody in the queue
// that is everybody. The first of several answers is in the queue then.
TEST(EngineQueue, DecidesOnAllAnswersOfARequestAtOnce) {
  ContextOptions context = harness_context();
  context.sequences = 1;
  EngineOptions options;
  options.pressure.wait_max = std::chrono::milliseconds(500);
  options.pressure.dwell_min = std::chrono::hours(1);
  EngineHarness engine(endless_model(), context, options);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(
        engine.submit({.prompt = std::to_string(i) + std::string(200, 'x'), .max_tokens = 400}));
  }
  while (engine.loop->snapshot().rung != PressureRung::kShed) ASSERT_TRUE(engine.step());
  for (const auto& client : clients) {
    client->read();
    if (client->find<Started>() == nullptr) client->stream->cancel();
  }
  engine.step();
  ASSERT_EQ(engine.loop->snapshot().queued, 0u);
  ASSERT_EQ(engine.loop->snapshot().rung, PressureRung::kShed);
  std::vector<HarnessRequest> answers(3);
  for (HarnessRequest& answer : answers) answer.prompt = "three answers";
  const auto three = engine.submit_all(std::move(answers));
  ASSERT_TRUE(engine.last_submit.ok()) << engine.last_submit.error().message;
  EXPECT_EQ(engine.loop->snapshot().queued, 3u);
  engine.submit({.prompt = "one more"});
  EXPECT_FALSE(engine.last_submit.ok()) << "now there is a queue";
  engine.run();
  for (const auto& client : three) {
    client->read();
    EXPECT_NE(client->find<Finished>(), nullptr);
  }
}

TEST(EngineQueue, RunsNoMoreAtOnceThanItIsTold) {
  EngineOptions options;
  options.concurrency = {2, 2};
  EngineHarness engine(endless_model(), harness_context(), options);
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(engine.submit({.prompt = "p" + std::to_string(i)}));
  engine.loop->step();
  EXPECT_EQ(engine.loop->snapshot().running(), 2u);
  EXPECT_EQ(engine.loop->snapshot().sequences_max, 2u);
  engine.run();
  for (const auto& client : clients) {
    client->read();
    EXPECT_TRUE(client->done);
  }
}

// On a machine where eight sequences take longer than the objective.
TEST(EngineQueue, FindsHowManyKeepTheObjective) {
  FakeModelOptions model = endless_model();
  model.cost.base = std::chrono::milliseconds(10);
  model.cost.per_row = std::chrono::milliseconds(30);
  EngineOptions options;
  options.concurrency.floor = 1;
  options.itl_objective = std::chrono::milliseconds(100);
  EngineHarness engine(model, harness_context(), options);
  for (int i = 0; i < 60; ++i) engine.submit({.prompt = "p" + std::to_string(i), .max_tokens = 40});
  for (int i = 0; i < 200; ++i) engine.loop->step();
  // 130 ms with four.
  EXPECT_LT(engine.loop->snapshot().sequences_max, 4u);
  EXPECT_GE(engine.loop->snapshot().sequences_max, 1u);
  engine.run();
}

TEST(EngineQueue, ForeseesTheFirstToken) {
  EngineHarness engine(endless_model(), harness_context());
  // Rates are learned.
  for (int i = 0; i < 20; ++i) {
    engine.submit({.prompt = std::to_string(i) + std::string(100, 'x'), .max_tokens = 20});
    engine.run();
  }
  const TimePoint begin = engine.clock.now();
  const auto client = engine.submit({.prompt = "?" + std::string(150, 'y'), .max_tokens = 3});
  std::optional<Duration> real;
  while (!real) {
    engine.loop->step();
    client->read();
    if (client->find<TextDelta>() != nullptr) real = engine.clock.now() - begin;
  }
  const Duration expected = client->find<Started>()->first_token_expected;
  EXPECT_GT(expected, Duration::zero());
  EXPECT_NEAR(to_seconds(expected), to_seconds(*real), to_seconds(*real) / 2);
  engine.run();
}

}  // namespace
}  // namespace zerohop
