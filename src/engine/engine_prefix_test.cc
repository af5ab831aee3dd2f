// Several requests with the same prompt, submitted at once: the prompt is computed once, and nobody
// else waits for it.

#include <gtest/gtest.h>

#include "engine/engine_harness.h"

namespace zerohop {
namespace {

ContextOptions roomy(KvLayout layout = KvLayout::kUnified) {
  ContextOptions options = harness_context(layout);
  options.sequences = 6;
  options.window = 4096;
  options.batch_rows = 256;
  return options;
}

HarnessRequest choice(const std::string& prompt, std::uint64_t seed) {
  return {.prompt = prompt, .max_tokens = 12, .sampling = {.temperature = 1.0f, .seed = seed}};
}

std::size_t tokens_of(const EngineHarness& engine, const std::string& text) {
  return engine.model->tokenizer().tokenize(text, SpecialTokens::kParse).size();
}

TEST(EnginePrefix, ComputesThePromptOfFourChoicesOnce) {
  const std::string prompt = prompt_of(2000, 1);
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    EngineHarness engine(endless_model(), roomy(layout));
    std::vector<std::shared_ptr<HarnessClient>> clients;
    for (std::uint64_t i = 0; i < 4; ++i) clients.push_back(engine.submit(choice(prompt, i)));
    engine.run();
    const std::size_t size = tokens_of(engine, prompt);
    EXPECT_EQ(engine.loop->snapshot().prompt_tokens_computed, size + 3);
    for (std::uint64_t i = 0; i < 4; ++i) {
      clients[i]->read();
      EXPECT_EQ(clients[i]->find<Started>()->usage.prompt_tokens_cached, i == 0 ? 0 : size - 1);
      EngineHarness alone(endless_model(), roomy(layout));
      EXPECT_EQ(clients[i]->text(), alone.complete(choice(prompt, i))->text()) << i;
    }
  }
}

TEST(EnginePrefix, WaitsForACommonBeginningOnlyUntilItIsThere) {
  const std::string system = prompt_of(600, 2);
  EngineHarness engine(endless_model(), roomy());
  const auto leader = engine.submit(choice(system + prompt_of(1500, 3), 0));
  engine.step();
  const auto follower = engine.submit(choice(system + "short", 1));
  while (follower->events.empty()) {
    ASSERT_TRUE(engine.loop->step());
    follower->read();
  }
  // The leader's own part is not waited for.
  EXPECT_EQ(engine.loop->snapshot().prefilling + engine.loop->snapshot().decoding, 2u);
  EXPECT_EQ(engine.loop->snapshot().requests_finished, 0u);
  leader->read();
  EXPECT_EQ(leader->find<TextDelta>(), nullptr);
  EXPECT_GT(follower->find<Started>()->usage.prompt_tokens_cached, 590u);
  engine.run();
}

TEST(EnginePrefix, LetsNobodyElseWaitBehindOneThatWaitsForAPrefix) {
  const std::string prompt = prompt_of(1000, 4);
  EngineHarness engine(endless_model(), roomy());
  const auto leader = engine.submit(choice(prompt, 1));
  const auto follower = engine.submit(choice(prompt, 2));
  const auto unrelated = engine.submit(choice(prompt_of(1200, 5), 3));
  engine.step();
  for (const auto& client : {leader, follower, unrelated}) client->read();
  EXPECT_FALSE(leader->events.empty());
  EXPECT_TRUE(follower->events.empty());
  EXPECT_FALSE(unrelated->events.empty());
  engine.run();
  for (const auto& client : {leader, follower, unrelated}) {
    client->read();
    EXPECT_NE(client->find<Finished>(), nullptr);
  }
}

TEST(EnginePrefix, MakesAPromptAsUrgentAsTheMostUrgentThatWaitsForIt) {
  const std::string prompt = prompt_of(1500, 6);
  EngineHarness engine(endless_model(), roomy());
  HarnessRequest slow = choice(prompt, 0);
  slow.scheduling.priority = PriorityClass::kBatch;
  const auto leader = engine.submit(std::move(slow));
  engine.step();
  HarnessRequest urgent = choice(prompt + "!", 1);
  urgent.scheduling.priority = PriorityClass::kPriority;
  const auto follower = engine.submit(std::move(urgent));
  const auto standard = engine.submit(choice(prompt_of(1400, 7), 2));
  while (follower->find<TextDelta>() == nullptr) {
    ASSERT_TRUE(engine.step());
    follower->read();
    standard->read();
    ASSERT_EQ(standard->find<TextDelta>(), nullptr);
  }
  engine.run();
}

TEST(EnginePrefix, WaitsOnlyForWhatItMaySee) {
  const std::string prompt = prompt_of(1000, 8);
  EngineHarness engine(endless_model(), roomy());
  for (std::uint64_t scope = 1; scope <= 3; ++scope) {
    HarnessRequest request = choice(prompt, scope);
    request.cache.scope = ScopeId(scope);
    engine.submit(std::move(request));
  }
  engine.step();
  EXPECT_EQ(engine.loop->snapshot().queued, 0u);
  engine.run();
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens_cached, 0u);
}

TEST(EnginePrefix, GoesOnWhenTheOneItWaitsForIsCancelled) {
  const std::string prompt = prompt_of(2000, 5);
  EngineHarness engine(endless_model(), roomy());
  const auto leader = engine.submit(choice(prompt, 0));
  const auto follower = engine.submit(choice(prompt, 1));
  engine.loop->step();
  leader->stream->cancel();
  engine.run();
  follower->read();
  EXPECT_NE(follower->find<Finished>(), nullptr);
  EXPECT_GT(follower->find<Started>()->usage.prompt_tokens_cached,
            0u);  // what was there by then
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens_computed, tokens_of(engine, prompt));
}

TEST(EnginePrefix, SharesShortPromptsWithoutWaiting) {
  EngineHarness engine(endless_model(), roomy());
  for (std::uint64_t i = 0; i < 3; ++i) engine.submit(choice("short", i));
  engine.loop->step();
  EXPECT_EQ(engine.loop->snapshot().queued, 0u);
  engine.run();
}

// Where nothing is reused, waiting would gain nothing.
TEST(EnginePrefix, DoesNotWaitInTheExactMode) {
  EngineOptions exact;
  exact.exactness = Exactness::kExact;
  EngineHarness engine(endless_model(), roomy(), exact);
  for (std::uint64_t i = 0; i < 3; ++i) engine.submit(choice(prompt_of(500, 6), i));
  engine.step();
  EXPECT_EQ(engine.loop->snapshot().queued, 0u);
  engine.run();
  EXPECT_EQ(engine.loop->snapshot().prompt_tokens_cached, 0u);
}

}  // namespace
}  // namespace zerohop
