#include "batches/batch_runner.h"

#include <map>

#include "base/random.h"
#include "batches/batch_test_store.h"

namespace zerohop {
namespace {

// An engine that keeps what it is given until the test answers.
class BatchRunnerTest : public WithBatchStore {
 protected:
  void start(std::size_t parallelism = 1) {
    submitted.clear();
    cancelled.clear();
    BatchRunnerParts parts;
    parts.store = store.get();
    parts.clock = &clock;
    parts.may_submit = [this] { return engine_free; };
    parts.submit = [this](BatchRequest request) {
      log.push_back(request.batch_id + "/" + request.custom_id);
      submitted.push_back(std::move(request));
      if (on_submit) on_submit(submitted.back().key);
    };
    parts.cancel = [this](BatchRequestKey key) { cancelled.push_back(key); };
    runner = std::make_unique<BatchRunner>(std::move(parts), parallelism);
  }
  void restart(std::size_t parallelism = 1) {
    runner.reset();
    reopen();
    start(parallelism);
  }

  void answer(BatchRequestKey key, BatchOutcome outcome, const std::string& text) {
    std::erase_if(submitted, [key](const BatchRequest& request) { return request.key == key; });
    runner->settle({key, outcome, text});
  }
  void answer_first() {
    ASSERT_FALSE(submitted.empty());
    const BatchRequest request = submitted.front();
    answer(request.key, BatchOutcome::kSucceeded, "answer to " + request.params);
  }
  void run_to_the_end() {
    while (runner->poll().open > 0) answer_first();
  }

  bool engine_free = true;
  std::function<void(BatchRequestKey)> on_submit;
  std::vector<BatchRequest> submitted;  // and not answered
  std::vector<BatchRequestKey> cancelled;
  std::vector<std::string> log;
  std::unique_ptr<BatchRunner> runner;
};

using Log = std::vector<std::string>;

TEST_F(BatchRunnerTest, RunsOneRequestAtATimeInOrder) {
  create("b", 3);
  start();
  EXPECT_EQ(runner->poll().running, 1u);
  EXPECT_EQ(runner->poll().running, 1u);
  EXPECT_EQ(submitted.size(), 1u);
  EXPECT_EQ(submitted[0].params, "p0");
  run_to_the_end();
  EXPECT_EQ(log, (Log{"b/r0", "b/r1", "b/r2"}));
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 3, 0, 0, 0}));
  EXPECT_EQ(results("b")[2].text, "answer to p2");
}

TEST_F(BatchRunnerTest, WaitsWithABatchWhoseOwnerIsAtALimit) {
  create("limited", 2);
  create("other", 2);
  start();
  runner->poll();
  ASSERT_EQ(submitted.size(), 1u);
  const BatchRequestKey first = submitted[0].key;
  submitted.clear();
  const TimePoint until = clock.now() + std::chrono::seconds(10);
  runner->give_back(first, until);
  // The other batch has the turns meanwhile.
  EXPECT_EQ(runner->poll().next_turn, until);
  answer_first();
  EXPECT_EQ(runner->poll().next_turn, until);
  answer_first();
  EXPECT_EQ(log, (Log{"limited/r0", "other/r0", "other/r1"}));
  clock.advance(std::chrono::seconds(10) - std::chrono::nanoseconds(1));
  EXPECT_EQ(runner->poll().running, 0u);
  clock.advance(std::chrono::nanoseconds(1));
  const BatchRunnerState state = runner->poll();
  EXPECT_EQ(state.running, 1u);
  EXPECT_EQ(state.next_turn, std::nullopt);
  run_to_the_end();
  // In order, and the one that had to wait is not lost.
  EXPECT_EQ(log, (Log{"limited/r0", "other/r0", "other/r1", "limited/r0", "limited/r1"}));
  EXPECT_EQ(get("limited").counts, (BatchCounts{0, 2, 0, 0, 0}));
}

TEST_F(BatchRunnerTest, ExpiresWhatWaitedForALimitForADay) {
  create("b", 2);
  start();
  runner->poll();
  const BatchRequestKey key = submitted.at(0).key;
  submitted.clear();
  runner->give_back(key, clock.now() + std::chrono::hours(48));
  const BatchRunnerState state = runner->poll();
  EXPECT_TRUE(state.next_expiry.has_value());
  clock.advance(std::chrono::hours(24));
  EXPECT_EQ(runner->poll().open, 0u);
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 0, 0, 0, 2}));
  EXPECT_EQ(runner->poll().next_turn, std::nullopt);
}

TEST_F(BatchRunnerTest, RunsAsManyAtOnceAsItMay) {
  create("b", 5);
  start(3);
  runner->poll();
  EXPECT_EQ(submitted.size(), 3u);
  answer(submitted[1].key, BatchOutcome::kErrored, "why");
  runner->poll();
  EXPECT_EQ(submitted.size(), 3u);
  run_to_the_end();
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 4, 1, 0, 0}));
  EXPECT_EQ(results("b")[1].outcome, BatchOutcome::kErrored);
  EXPECT_EQ(results("b")[1].text, "why");
}

TEST_F(BatchRunnerTest, WaitsWhileSomebodyElseWantsTheEngine) {
  create("b", 2);
  engine_free = false;
  start();
  const BatchRunnerState state = runner->poll();
  EXPECT_TRUE(submitted.empty());
  EXPECT_TRUE(state.waits_for_engine);
  EXPECT_EQ(state.open, 1u);
  engine_free = true;
  EXPECT_FALSE(runner->poll().waits_for_engine);
  EXPECT_EQ(submitted.size(), 1u);
  run_to_the_end();
  EXPECT_EQ(log, (Log{"b/r0", "b/r1"}));
  engine_free = false;
  EXPECT_FALSE(runner->poll().waits_for_engine);  // there is nothing to do
}

TEST_F(BatchRunnerTest, LetsBatchesTakeTurns) {
  create("a", 3);
  create("b", 1);
  create("c", 2);
  start();
  run_to_the_end();
  EXPECT_EQ(log, (Log{"a/r0", "b/r0", "c/r0", "a/r1", "c/r1", "a/r2"}));
}

TEST_F(BatchRunnerTest, SubmitsAgainWhatIsGivenBack) {
  create("b", 2);
  start();
  runner->poll();
  const BatchRequestKey key = submitted.front().key;
  submitted.clear();
  runner->give_back(key);
  EXPECT_EQ(runner->poll().running, 1u);
  EXPECT_EQ(submitted.front().key, key);
  run_to_the_end();
  EXPECT_EQ(log, (Log{"b/r0", "b/r0", "b/r1"}));
  EXPECT_EQ(get("b").counts.succeeded, 2u);
}

TEST_F(BatchRunnerTest, DoesNotSpinWhenAFullEngineGivesBackAtOnce) {
  create("b", 2);
  start();
  on_submit = [this](BatchRequestKey key) {
    submitted.clear();
    runner->give_back(key);
  };
  EXPECT_TRUE(runner->poll().waits_for_engine);
  EXPECT_EQ(log.size(), 1u);
  on_submit = nullptr;
  run_to_the_end();
  EXPECT_EQ(get("b").counts.succeeded, 2u);
}

TEST_F(BatchRunnerTest, TakesAnswersThatComeAtOnce) {
  create("b", 50);
  start(2);
  on_submit = [this](BatchRequestKey key) { answer(key, BatchOutcome::kErrored, "invalid"); };
  EXPECT_EQ(runner->poll().open, 0u);
  EXPECT_EQ(get("b").counts.errored, 50u);
}

TEST_F(BatchRunnerTest, GoesOnAfterARestartWithWhatWasRunning) {
  create("b", 4);
  start(2);
  runner->poll();
  answer_first();
  runner->poll();  // r1 and r2 run now
  EXPECT_EQ(submitted.size(), 2u);
  log.clear();
  restart(2);
  runner->poll();
  EXPECT_EQ(log, (Log{"b/r1", "b/r2"}));
  run_to_the_end();
  EXPECT_EQ(get("b").counts.succeeded, 4u);
  EXPECT_EQ(results("b")[0].text, "answer to p0");
}

TEST_F(BatchRunnerTest, CancelsInTheMiddle) {
  create("b", 5);
  create("other", 1);
  start(2);
  runner->poll();  // b/r0, other/r0
  answer_first();
  runner->poll();  // b/r1
  ASSERT_TRUE(store->cancel("b", clock.wall()).ok());
  runner->poll();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0].position, 1);
  EXPECT_EQ(get("b").status, BatchStatus::kCanceling);
  runner->poll();
  EXPECT_EQ(cancelled.size(), 1u);  // asked once
  answer(cancelled[0], BatchOutcome::kCanceled, "");
  EXPECT_EQ(get("b").status, BatchStatus::kEnded);
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 1, 0, 4, 0}));
  run_to_the_end();
  EXPECT_EQ(get("other").counts.succeeded, 1u);
}

TEST_F(BatchRunnerTest, KeepsTheAnswerThatCameInSpiteOfTheCancellation) {
  create("b", 3);
  start();
  runner->poll();
  ASSERT_TRUE(store->cancel("b", clock.wall()).ok());
  runner->poll();
  answer_first();
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 1, 0, 2, 0}));
}

TEST_F(BatchRunnerTest, CancelsWhatWasGivenBack) {
  create("b", 2);
  start();
  runner->poll();
  runner->give_back(submitted.front().key);
  ASSERT_TRUE(store->cancel("b", clock.wall()).ok());
  EXPECT_EQ(runner->poll().open, 0u);
  EXPECT_EQ(get("b").counts.canceled, 2u);
}

TEST_F(BatchRunnerTest, EndsACancelledRequestThatIsGivenBack) {
  create("b", 2);
  start();
  runner->poll();
  ASSERT_TRUE(store->cancel("b", clock.wall()).ok());
  runner->poll();
  runner->give_back(cancelled.at(0));
  EXPECT_EQ(get("b").counts.canceled, 2u);
}

TEST_F(BatchRunnerTest, FinishesACancellationAfterARestart) {
  create("b", 3);
  start();
  runner->poll();
  ASSERT_TRUE(store->cancel("b", clock.wall()).ok());
  restart();
  EXPECT_EQ(runner->poll().open, 0u);
  EXPECT_TRUE(submitted.empty());
  EXPECT_EQ(get("b").counts.canceled, 3u);
}

TEST_F(BatchRunnerTest, ExpiresWhatIsNotDoneAfterADay) {
  create("b", 3);
  start();
  runner->poll();
  answer_first();
  const BatchRunnerState state = runner->poll();
  EXPECT_EQ(state.next_expiry, clock.wall() + std::chrono::hours(24));
  clock.advance(std::chrono::hours(24));
  runner->poll();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(get("b").status, BatchStatus::kInProgress);  // one still runs
  answer(cancelled[0], BatchOutcome::kCanceled, "");
  EXPECT_EQ(get("b").counts, (BatchCounts{0, 1, 0, 0, 2}));
  EXPECT_EQ(results("b")[1].outcome, BatchOutcome::kExpired);
}

TEST_F(BatchRunnerTest, ExpiresABatchThatAnEarlierProcessLeft) {
  create("b", 3);
  clock.advance(std::chrono::hours(25));
  start();
  EXPECT_EQ(runner->poll().open, 0u);
  EXPECT_TRUE(submitted.empty());
  EXPECT_EQ(get("b").counts.expired, 3u);
}

TEST_F(BatchRunnerTest, DropsOldResults) {
  create("b", 1);
  start();
  run_to_the_end();
  clock.advance(std::chrono::hours(24 * 29));
  runner->poll();
  EXPECT_TRUE(get("b").archived_at.has_value());
}

TEST_F(BatchRunnerTest, KeepsAResultUntilTheDiskHasRoom) {
  create("filler", 1);
  ASSERT_TRUE(
      store->settle({{1, 0}, BatchOutcome::kSucceeded, std::string(90'000, 'f')}, clock.wall())
          .ok());
  create("b", 2);
  reopen(40);  // pages of 4 KiB: the schema and one of the two answers fit
  start();
  runner->poll();
  answer(submitted[0].key, BatchOutcome::kSucceeded, std::string(60'000, 'x'));
  const BatchRunnerState full = runner->poll();
  EXPECT_TRUE(full.store_failed);
  EXPECT_EQ(full.unsaved, 1u);
  EXPECT_TRUE(submitted.empty());  // nothing new meanwhile
  EXPECT_EQ(get("b").status, BatchStatus::kInProgress);
  ASSERT_TRUE(store->erase("filler").ok());
  const BatchRunnerState roomy = runner->poll();
  EXPECT_FALSE(roomy.store_failed);
  EXPECT_EQ(roomy.unsaved, 0u);
  run_to_the_end();
  EXPECT_EQ(results("b")[0].text, std::string(60'000, 'x'));
}

// A random life of several batches; every request must end with exactly one result.
TEST_F(BatchRunnerTest, LosesNothingInARandomLifeWithRestarts) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    const std::size_t parallelism = 1 + random.below(4);
    start(parallelism);
    std::map<std::string, std::uint64_t> sizes;
    for (int step = 0; step < 120; ++step) {
      const std::uint64_t dice = random.below(20);
      if (dice == 0) {
        const std::string id = "s" + std::to_string(seed) + "-" + std::to_string(step);
        sizes[id] = 1 + random.below(9);
        create(id, sizes[id]);
      } else if (dice == 1 && !sizes.empty()) {
        const auto result = store->cancel(sizes.begin()->first, clock.wall());
        EXPECT_TRUE(result.ok() || result.error().code == ErrorCode::kInvalidRequest);
      } else if (dice == 2) {
        restart(parallelism);
      } else if (dice == 3) {
        clock.advance(std::chrono::hours(random.below(8)));
      } else if (dice == 4) {
        engine_free = !engine_free;
      } else if (dice < 8 && !submitted.empty()) {
        const BatchRequestKey key = submitted.back().key;
        submitted.pop_back();
        runner->give_back(key);
      } else if (!submitted.empty()) {
        answer_first();
      }
      EXPECT_LE(runner->poll().running, parallelism);
      EXPECT_LE(submitted.size(), parallelism);
    }
    engine_free = true;
    run_to_the_end();
    for (const auto& [id, size] : sizes) {
      const BatchCounts counts = get(id).counts;
      EXPECT_EQ(counts.processing, 0u);
      EXPECT_EQ(counts.succeeded + counts.canceled + counts.expired, size) << seed << ' ' << id;
      EXPECT_EQ(results(id).size(), size);
    }
  }
}

}  // namespace
}  // namespace zerohop
