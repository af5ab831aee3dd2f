#include "core/service_estimate.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

EngineSnapshot learned() {
  EngineSnapshot engine;
  engine.prefill_tokens_per_second = 500;
  engine.decode_step_seconds = 0.02;
  engine.request_seconds = 4;
  engine.sequences_max = 8;
  return engine;
}

const ServiceQuestion kQuestion{1000, 101, milliseconds(100)};

double seconds_of(Duration duration) { return to_seconds(duration); }

TEST(ServiceEstimate, SaysNothingBeforeAnythingWasLearned) {
  EXPECT_FALSE(estimate_service(EngineSnapshot{}, kQuestion).has_value());
  EXPECT_FALSE(latest_start(EngineSnapshot{}, kQuestion, TimePoint{}).has_value());
  EXPECT_EQ(judge_deadline(std::nullopt, seconds(1)), DeadlineVerdict::kMeets);
}

TEST(ServiceEstimate, CountsThePromptAndTheAnswerOfAnIdleEngine) {
  const auto estimate = estimate_service(learned(), kQuestion);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->queue_wait, Duration::zero());
  EXPECT_NEAR(seconds_of(estimate->first_token), 2.02, 1e-6);
  EXPECT_NEAR(seconds_of(estimate->last_token), 4.02, 1e-6);
}

TEST(ServiceEstimate, CountsThePromptsInFront) {
  EngineSnapshot engine = learned();
  engine.queued_tokens = 3000;
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->queue_wait), 6, 1e-6);
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->first_token), 8.02, 1e-6);
}

TEST(ServiceEstimate, CountsOnlyWhatComesBeforeANewcomer) {
  EngineSnapshot engine = learned();
  engine.queued = 100;
  engine.queued_tokens = 100'000;
  engine.prefill_tokens = 500;
  ServiceQuestion question = kQuestion;
  question.in_front = InFront{2, 1500};
  EXPECT_NEAR(seconds_of(estimate_service(engine, question)->queue_wait), 4, 1e-6);
  engine.decoding = 8;
  engine.decode_step_seconds = 0;
  // Three wait for a sequence, of which two become free each second.
  question.in_front = InFront{2, 0};
  EXPECT_NEAR(seconds_of(estimate_service(engine, question)->queue_wait), 1.5, 1e-6);
}

TEST(ServiceEstimate, CountsTheTimeThatDecodingTakesFromPrompts) {
  EngineSnapshot engine = learned();
  engine.decoding = 4;
  engine.decode_step_seconds = 0.05;  // half of each step
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->first_token), 4.05, 1e-6);
  engine.decode_step_seconds = 0.1;  // all of it: steps become half as long again for prompts
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->first_token), 6.1, 1e-6);
  engine.decode_step_seconds = 0.15;  // and at most twice the objective
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->first_token), 8.15, 1e-6);
  engine.decode_step_seconds = 0.5;  // eight rows a step: 16 ms of 516
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->first_token), 65, 1e-6);
}

TEST(ServiceEstimate, CountsTheWaitForASequence) {
  EngineSnapshot engine = learned();
  engine.decoding = 8;
  engine.queued = 2;
  engine.parked_requests = 1;
  // Two requests end each second; this is the fourth to wait.
  EXPECT_NEAR(seconds_of(estimate_service(engine, kQuestion)->queue_wait), 2, 1e-6);
  engine.decoding = 4;
  engine.queued = engine.parked_requests = 0;
  EXPECT_EQ(estimate_service(engine, kQuestion)->queue_wait, Duration::zero());
}

TEST(ServiceEstimate, RefusesOnlyWhereNotEvenTheFirstTokenCanCome) {
  const auto estimate = estimate_service(learned(), kQuestion);
  EXPECT_EQ(judge_deadline(estimate, seconds(5)), DeadlineVerdict::kMeets);
  EXPECT_EQ(judge_deadline(estimate, seconds(3)), DeadlineVerdict::kMayMiss);
  EXPECT_EQ(judge_deadline(estimate, seconds(2)), DeadlineVerdict::kCannot);
  EXPECT_EQ(judge_deadline(std::nullopt, Duration::zero()), DeadlineVerdict::kCannot);
}

TEST(ServiceEstimate, KnowsWhenARequestHasToStart) {
  const TimePoint deadline{seconds(100)};
  const auto start = latest_start(learned(), kQuestion, deadline);
  ASSERT_TRUE(start.has_value());
  EXPECT_NEAR(seconds_of(deadline - *start), 4.02, 1e-6) << "for its whole answer";
  ServiceQuestion first_token = kQuestion;
  first_token.max_tokens = 0;
  const auto later = latest_start(learned(), first_token, deadline);
  ASSERT_TRUE(later.has_value());
  EXPECT_NEAR(seconds_of(deadline - *later), 2.02, 1e-6);
}

TEST(ServiceEstimate, AsksForNoAnswerWhereNoneIsWanted) {
  const auto estimate = estimate_service(learned(), {10, 0, milliseconds(100)});
  EXPECT_EQ(estimate->last_token, estimate->first_token);
}

}  // namespace
}  // namespace zerohop
