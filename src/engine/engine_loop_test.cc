#include "engine/engine_loop.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "engine/engine_harness.h"
#include "engine/engine_thread.h"

namespace zerohop {
namespace {

FakeModelOptions never_ends() {
  FakeModelOptions options;
  options.end_of_turn_chance = 0;
  return options;
}

FakeModelOptions says(const std::string& reply) {
  const auto vocabulary = make_fake_model({});
  FakeModelOptions options;
  options.script = fake_reply(*vocabulary, reply);
  return options;
}

constexpr const char* kAsk = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";

TEST(EngineLoop, AnswersUntilTheModelEndsItsTurn) {
  EngineHarness engine(says("Paris is the END"), harness_context());
  const auto client = engine.complete({.prompt = kAsk, .max_tokens = 50});
  EXPECT_EQ(client->text(), "Paris is the END");
  ASSERT_TRUE(client->done);
  ASSERT_NE(client->find<Finished>(), nullptr);
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kEndOfTurn);
}

TEST(EngineLoop, SendsStartedFirstWithTruePromptCounts) {
  EngineHarness engine(says("x"), harness_context());
  const auto client = engine.complete({.prompt = kAsk});
  ASSERT_FALSE(client->events.empty());
  const auto* started = std::get_if<Started>(&client->events.front());
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(started->usage.prompt_tokens,
            engine.model->tokenizer().tokenize(kAsk, SpecialTokens::kParse).size());
  EXPECT_EQ(started->usage.prompt_tokens_cached, 0u);
}

TEST(EngineLoop, StopsAtMaxTokens) {
  EngineHarness engine(never_ends(), harness_context());
  const auto client = engine.complete({.prompt = "abc", .max_tokens = 7});
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kMaxTokens);
  EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 7u);
}

TEST(EngineLoop, ComputesThePromptOnlyForZeroTokens) {
  EngineHarness engine(never_ends(), harness_context());
  const auto client = engine.complete({.prompt = "abc", .max_tokens = 0});
  EXPECT_EQ(client->text(), "");
  EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 0u);
  EXPECT_EQ(engine.loop->snapshot().cells_cached, 3u);
}

TEST(EngineLoop, SaysThatTheWindowWasTheLimit) {
  EngineHarness engine(never_ends(), harness_context());
  const auto client = engine.complete({.prompt = std::string(250, 'x'), .max_tokens = 100});
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kContextWindow);
  EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 6u);
}

TEST(EngineLoop, RefusesAPromptLongerThanTheWindow) {
  EngineHarness engine(never_ends(), harness_context());
  engine.submit({.prompt = std::string(257, 'x')});
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kPromptTooLong);
  EXPECT_EQ(engine.last_submit.error().message, "prompt is too long: 257 tokens > 256 maximum");
}

TEST(EngineLoop, NamesTheStopSequenceThatMatched) {
  EngineHarness engine(says("the STOP END"), harness_context());
  const auto client = engine.complete({.prompt = kAsk, .max_tokens = 50, .stops = {"STOP"}});
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kStopSequence);
  EXPECT_EQ(client->find<Finished>()->stop_sequence, "STOP");
  EXPECT_EQ(client->text(), "the ");
}

TEST(EngineLoop, GivesTheSameTextAloneAndInABatch) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    std::vector<std::string> alone;
    for (int i = 0; i < 4; ++i) {
      EngineHarness engine(never_ends(), harness_context(layout));
      alone.push_back(engine.complete({.prompt = "prompt " + std::to_string(i)})->text());
    }
    EngineHarness engine(never_ends(), harness_context(layout));
    std::vector<std::shared_ptr<HarnessClient>> clients;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(engine.submit({.prompt = "prompt " + std::to_string(i)}));
    }
    engine.run();
    for (std::size_t i = 0; i < 4; ++i) {
      clients[i]->read();
      EXPECT_EQ(clients[i]->text(), alone[i]);
    }
  }
}

TEST(EngineLoop, GivesTheSameTextForTheSameSeedAloneAndInABatch) {
  const SamplingParameters warm{.temperature = 1.5f, .seed = 42};
  EngineHarness alone(never_ends(), harness_context());
  const std::string expected = alone.complete({.prompt = "tell", .sampling = warm})->text();
  EngineHarness batch(never_ends(), harness_context());
  batch.submit({.prompt = "noise", .sampling = {.temperature = 1.0f, .seed = 7}});
  const auto client = batch.submit({.prompt = "tell", .sampling = warm});
  batch.run();
  client->read();
  EXPECT_EQ(client->text(), expected);
}

TEST(EngineLoop, GivesTheSameTextWhateverTheChunkSize) {
  std::string expected;
  for (const std::uint32_t rows : {64u, 16u, 5u, 1u}) {
    ContextOptions options = harness_context();
    options.batch_rows = rows;
    options.logit_rows = std::min(rows, 16u);
    EngineHarness engine(never_ends(), options);
    const std::string text = engine.complete({.prompt = std::string(100, 'q')})->text();
    if (expected.empty()) expected = text;
    EXPECT_EQ(text, expected) << rows;
  }
}

TEST(EngineLoop, ReusesTheConversationsOwnPast) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    EngineHarness engine(never_ends(), harness_context(layout));
    const auto first = engine.complete({.prompt = "a long first turn", .max_tokens = 8});
    const std::string second_prompt = "a long first turn" + first->text() + " and more";
    const auto second = engine.complete({.prompt = second_prompt});
    EXPECT_GT(second->find<Started>()->usage.prompt_tokens_cached, 15u);
    EngineHarness cold(never_ends(), harness_context(layout));
    EXPECT_EQ(second->text(), cold.complete({.prompt = second_prompt})->text());
  }
}

TEST(EngineLoop, KeepsAllRunningStreamsGoingDuringALongPrefill) {
  EngineHarness engine(never_ends(), harness_context());
  const auto talker = engine.submit({.prompt = "talk", .max_tokens = 200});
  engine.loop->step();
  engine.submit({.prompt = std::string(200, 'y'), .max_tokens = 1});
  const std::size_t before = engine.steps.size();
  while (engine.loop->snapshot().prefilling + engine.loop->snapshot().queued > 0) {
    ASSERT_TRUE(engine.loop->step());
    ASSERT_GE(engine.steps.back().sampled, 1u);  // the talker got its token in every step
  }
  EXPECT_GT(engine.steps.size() - before, 3u);  // the prompt came in chunks
}

TEST(EngineLoop, QueuesWhatDoesNotFitAndServesItLater) {
  EngineHarness engine(never_ends(), harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(engine.submit({.prompt = "p", .max_tokens = 3}));
  engine.loop->step();
  EXPECT_EQ(engine.loop->snapshot().queued, 6u);
  engine.run();
  for (const auto& client : clients) {
    client->read();
    EXPECT_TRUE(client->done);
  }
}

TEST(EngineLoop, RefusesWhenTheQueueIsFull) {
  EngineOptions options;
  options.queue.requests_max = 2;
  EngineHarness engine(never_ends(), harness_context(), options);
  engine.submit({.prompt = "1"});
  engine.submit({.prompt = "2"});
  engine.submit({.prompt = "3"});
  ASSERT_FALSE(engine.last_submit.ok());
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kOverloaded);
  engine.run();
  EXPECT_TRUE((engine.submit({.prompt = "4"}), engine.last_submit.ok()));
  engine.run();
}

TEST(EngineLoop, FreesACancelledRequestInEveryPhase) {
  EngineHarness engine(never_ends(), harness_context());
  const auto queued = engine.submit({.prompt = "queued"});
  queued->stream->cancel();
  EXPECT_FALSE(engine.loop->step());
  EXPECT_EQ(engine.loop->snapshot().cancelled_queued, 1u);

  const auto prefilling = engine.submit({.prompt = std::string(200, 'z')});
  engine.loop->step();
  prefilling->stream->cancel();
  EXPECT_FALSE(engine.loop->step());
  EXPECT_EQ(engine.loop->snapshot().cancelled_prefill, 1u);

  const auto decoding = engine.submit({.prompt = "d", .max_tokens = 100});
  engine.loop->step();
  engine.loop->step();
  decoding->stream->cancel();
  EXPECT_FALSE(engine.loop->step());
  EXPECT_EQ(engine.loop->snapshot().cancelled_decode, 1u);
  EXPECT_EQ(engine.loop->snapshot().cells_reserved, 0u);
  engine.loop->check_integrity();
}

TEST(EngineLoop, PublishesWhoRunsAfterTheStepNotBeforeIt) {
  EngineHarness engine(never_ends(), harness_context());
  engine.submit({.prompt = "short", .max_tokens = 1});
  engine.submit({.prompt = "longer", .max_tokens = 9});
  EXPECT_TRUE(engine.loop->step());
  EXPECT_EQ(engine.loop->snapshot().requests_finished, 1u);
  EXPECT_EQ(engine.loop->snapshot().prefilling, 0u);
  EXPECT_EQ(engine.loop->snapshot().decoding, 1u);
  engine.run();
}

TEST(EngineLoop, CountsEveryRequestOnceWhenStopped) {
  EngineHarness engine(never_ends(), harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(engine.submit({.prompt = "p", .max_tokens = 99}));
  engine.loop->step();
  clients[0]->stream->cancel();  // runs
  clients[5]->stream->cancel();  // waits
  engine.loop->stop();
  engine.loop->fail_all();
  const EngineSnapshot snapshot = engine.loop->snapshot();
  EXPECT_EQ(snapshot.requests_failed, 4u);
  EXPECT_EQ(snapshot.cancelled_decode, 1u);
  EXPECT_EQ(snapshot.cancelled_queued, 1u);
  EXPECT_EQ(snapshot.queued + snapshot.running(), 0u);
}

TEST(EngineLoop, AbortsADecodeWhenItsWholeBatchIsCancelled) {
  std::shared_ptr<HarnessClient> victim;
  FakeModelOptions options = never_ends();
  options.fault = [&victim](std::span<const BatchRow>) {
    victim->stream->cancel();  // while the decode runs
    return DecodeStatus::kOk;
  };
  EngineHarness engine(options, harness_context());
  victim = engine.submit({.prompt = std::string(60, 'v')});
  EXPECT_TRUE(engine.loop->step());
  EXPECT_EQ(engine.steps.back().status, DecodeStatus::kAborted);
  EXPECT_FALSE(engine.loop->step());
  EXPECT_EQ(engine.loop->snapshot().cells_reserved, 0u);
  engine.loop->check_integrity();
}

TEST(EngineLoop, PausesOnlyTheSlowReader) {
  EngineOptions options;
  options.stream_bytes_max = 4;
  EngineHarness engine(never_ends(), harness_context(), options);
  const auto slow = engine.submit({.prompt = "slow", .max_tokens = 40});
  const auto fast = engine.submit({.prompt = "fast", .max_tokens = 40});
  for (int i = 0; i < 60; ++i) {
    engine.loop->step();
    fast->read();
  }
  EXPECT_TRUE(fast->done);
  EXPECT_FALSE(slow->done);
  EXPECT_EQ(engine.loop->snapshot().paused, 1u);
  while (!slow->done) {
    slow->read();
    engine.loop->step();
  }
  EngineHarness alone(never_ends(), harness_context());
  EXPECT_EQ(slow->text(), alone.complete({.prompt = "slow", .max_tokens = 40})->text());
}

TEST(EngineLoop, RepeatsAFailedStepWithIdenticalText) {
  EngineHarness good(never_ends(), harness_context());
  const std::string expected = good.complete({.prompt = "steady"})->text();
  for (const DecodeStatus status : {DecodeStatus::kFatal, DecodeStatus::kNoRoom}) {
    int calls = 0;
    FakeModelOptions options = never_ends();
    options.fault = [&calls, status](std::span<const BatchRow>) {
      return ++calls == 5 ? status : DecodeStatus::kOk;
    };
    EngineHarness engine(options, harness_context());
    EXPECT_EQ(engine.complete({.prompt = "steady"})->text(), expected);
  }
}

TEST(EngineLoop, FailsOnlyTheRequestsOfAStepThatFailsTwice) {
  bool broken = false;
  FakeModelOptions options = never_ends();
  options.fault = [&broken](std::span<const BatchRow>) {
    return broken ? DecodeStatus::kFatal : DecodeStatus::kOk;
  };
  EngineHarness engine(options, harness_context());
  broken = true;
  const auto victim = engine.complete({.prompt = "victim"});
  ASSERT_NE(victim->find<Failed>(), nullptr);
  EXPECT_EQ(victim->find<Failed>()->error.code, ErrorCode::kModelFailure);
  broken = false;
  EXPECT_NE(engine.complete({.prompt = "next"})->find<Finished>(), nullptr);
}

TEST(EngineLoop, KeepsNothingOfARequestWhoseLogitsWereBroken) {
  EngineHarness engine(never_ends(), harness_context());
  SamplingParameters impossible{.temperature = 0};
  const auto vocabulary = static_cast<Token>(engine.model->tokenizer().table().size());
  for (Token token = 0; token < vocabulary; ++token) {
    impossible.logit_bias.push_back({token, -std::numeric_limits<float>::infinity()});
  }
  const auto broken = engine.complete({.prompt = "shared prefix", .sampling = impossible});
  ASSERT_NE(broken->find<Failed>(), nullptr);
  EXPECT_EQ(broken->find<Failed>()->error.code, ErrorCode::kModelFailure);
  const auto next = engine.complete({.prompt = "shared prefix"});
  EXPECT_EQ(next->find<Started>()->usage.prompt_tokens_cached, 0u);
}

TEST(EngineLoop, NeverMixesDecodeAndPrefillInExactSteps) {
  EngineOptions options;
  options.exactness = Exactness::kExact;
  std::vector<std::size_t> rows_of_prompts;
  FakeModelOptions model = never_ends();
  model.fault = [&rows_of_prompts](std::span<const BatchRow> rows) {
    std::map<std::int32_t, std::size_t> per_slot;
    for (const BatchRow& row : rows) ++per_slot[row.slot.value];
    const bool decode = per_slot.size() == rows.size();
    EXPECT_TRUE(decode || per_slot.size() == 1u);
    if (!decode) rows_of_prompts.push_back(rows.size());
    return DecodeStatus::kOk;
  };
  EngineHarness engine(model, harness_context(KvLayout::kStreams), options);
  engine.submit({.prompt = "first", .max_tokens = 30});
  engine.loop->step();
  for (int i = 0; i < 3; ++i) {
    engine.submit({.prompt = std::string(80, 'p'), .max_tokens = 5});
  }
  engine.run();
  EXPECT_GE(rows_of_prompts.size(), 4u);
  EXPECT_EQ(engine.loop->snapshot().cells_cached, 0u);
  EXPECT_EQ(engine.loop->snapshot().requests_finished, 4u);
}

class Allowance final : public TokenMeter {
 public:
  explicit Allowance(int tokens) : left_(tokens) {}
  bool spend_output_token() override { return left_-- > 0; }

 private:
  int left_;
};

TEST(EngineLoop, CutsAStreamOnTheExactTokenOfItsBudget) {
  EngineHarness engine(never_ends(), harness_context());
  HarnessRequest request{.prompt = "spend", .max_tokens = 50};
  request.meter = std::make_unique<Allowance>(9);
  const auto client = engine.complete(std::move(request));
  EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 9u);
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kMaxTokens);
}

// Admits prompts of which no more than so many tokens have to be computed.
class PromptAllowance final : public TokenMeter {
 public:
  explicit PromptAllowance(std::uint32_t uncached) : uncached_(uncached) {}
  std::optional<Error> admit_prompt(const PromptShare& share) override {
    if (share.uncached <= uncached_) return std::nullopt;
    return Error{ErrorCode::kRateLimited,
                 std::to_string(share.uncached) + " uncached of " +
                     std::to_string(share.uncached + share.cached),
                 "",
                 {}};
  }
  bool spend_output_token() override { return true; }

 private:
  std::uint32_t uncached_;
};

TEST(EngineLoop, AsksTheBudgetWithWhatIsCachedBeforeItComputes) {
  EngineHarness engine(never_ends(), harness_context());
  const auto ask = [&engine](std::uint32_t allowed) {
    HarnessRequest request{.prompt = std::string(100, 'p'), .max_tokens = 2};
    request.meter = std::make_unique<PromptAllowance>(allowed);
    return engine.complete(std::move(request));
  };
  const auto refused = ask(10);
  ASSERT_NE(refused->find<Failed>(), nullptr);
  EXPECT_EQ(refused->find<Failed>()->error.code, ErrorCode::kRateLimited);
  EXPECT_EQ(refused->find<Started>(), nullptr);
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens(), 0u);
  EXPECT_NE(ask(1'000)->find<Finished>(), nullptr);
  // The same prompt again: now it is cached, but for the last token, which is computed always.
  const auto again = ask(1);
  EXPECT_NE(again->find<Finished>(), nullptr);
  EXPECT_EQ(again->find<Started>()->usage.prompt_tokens_cached, 99u);
  EXPECT_NE(ask(0)->find<Failed>(), nullptr);
}

TEST(EngineLoop, WakesReadersOnceAStepForAllStreams) {
  EngineHarness engine(never_ends(), harness_context());
  for (int i = 0; i < 4; ++i) engine.submit({.prompt = "w", .max_tokens = 10});
  engine.loop->step();
  const std::uint64_t before = engine.waker.wakes;
  engine.loop->step();
  EXPECT_EQ(engine.waker.wakes - before, 1u);
}

TEST(EngineLoop, WakesWhoeverReadsAtTheEndOnceForTheWholeAnswer) {
  EngineHarness engine(never_ends(), harness_context());
  const auto client = engine.complete({.prompt = "w", .max_tokens = 10, .read_at_end = true});
  EXPECT_NE(client->find<Finished>(), nullptr);
  EXPECT_EQ(engine.waker.wakes, 1u);
}

TEST(EngineLoop, EndsEverybodyWithATypedErrorWhenStopped) {
  EngineHarness engine(never_ends(), harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(engine.submit({.prompt = "p", .max_tokens = 99}));
  engine.loop->step();
  engine.loop->stop();
  EXPECT_FALSE(engine.loop->step());
  engine.loop->fail_all();
  for (const auto& client : clients) {
    client->read();
    ASSERT_NE(client->find<Failed>(), nullptr);
    EXPECT_EQ(client->find<Failed>()->error.code, ErrorCode::kShuttingDown);
  }
  engine.submit({.prompt = "late"});
  EXPECT_EQ(engine.last_submit.error().code, ErrorCode::kShuttingDown);
}

TEST(EngineThread, ServesAndStops) {
  EngineHarness engine(says("the END"), harness_context());
  EngineThread thread(*engine.loop);
  const auto client = engine.submit({.prompt = kAsk});
  while (!client->done) client->read();
  EXPECT_EQ(client->text(), "the END");
  thread.stop();
}

}  // namespace
}  // namespace zerohop
