#include "app/health.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

EngineSnapshot busy() {
  EngineSnapshot snapshot;
  snapshot.decoding = 2;
  return snapshot;
}

TimePoint after(Duration time) { return TimePoint{} + time; }

// A probe each second while the engine publishes nothing new: what the last of them says.
Health after_probes(ProgressWatch& watch, const EngineSnapshot& snapshot, TimePoint from,
                    std::chrono::seconds time) {
  for (std::chrono::seconds past{0}; past <= time; ++past) watch.note(snapshot, from + past);
  return judge_health({snapshot, watch.without_progress(from + time)});
}

TEST(Health, IsOkWhenIdleForHours) {
  ProgressWatch watch;
  EXPECT_EQ(after_probes(watch, EngineSnapshot{}, TimePoint{}, std::chrono::seconds(9999)),
            Health::kOk);
}

TEST(Health, IsStuckWhenWorkWaitsAndNoStepEnds) {
  ProgressWatch watch;
  EXPECT_EQ(after_probes(watch, busy(), TimePoint{}, kStuckAfter), Health::kOk);
  EXPECT_EQ(after_probes(watch, busy(), TimePoint{}, kStuckAfter + std::chrono::seconds(1)),
            Health::kStuck);
}

TEST(Health, IsOkWhileTheFirstRequestAfterAnIdleHourIsInItsFirstStep) {
  ProgressWatch watch;
  EngineSnapshot idle;
  idle.taken_at = after(std::chrono::seconds(1));
  const TimePoint later = after(std::chrono::hours(1));
  watch.note(idle, later);
  EngineSnapshot begun = idle;
  begun.queued = 1;
  EXPECT_EQ(after_probes(watch, begun, later, std::chrono::seconds(5)), Health::kOk);
  EXPECT_EQ(after_probes(watch, begun, later, kStuckAfter + std::chrono::seconds(1)),
            Health::kStuck);
}

TEST(Health, RecoversWithTheNextStep) {
  ProgressWatch watch;
  EngineSnapshot snapshot = busy();
  EXPECT_EQ(after_probes(watch, snapshot, TimePoint{}, std::chrono::seconds(100)), Health::kStuck);
  snapshot.taken_at = after(std::chrono::seconds(100));
  EXPECT_EQ(
      after_probes(watch, snapshot, after(std::chrono::seconds(100)), std::chrono::seconds(1)),
      Health::kOk);
}

TEST(Health, DoesNotBlameTheEngineForSlowReaders) {
  ProgressWatch watch;
  EngineSnapshot snapshot = busy();
  snapshot.paused = 2;
  EXPECT_EQ(after_probes(watch, snapshot, TimePoint{}, std::chrono::seconds(9999)), Health::kOk);
}

TEST(Health, IsDegradedUnderPressureAndAfterFailures) {
  EngineSnapshot snapshot;
  const auto judge = [&snapshot] { return judge_health({snapshot, std::chrono::seconds(1)}); };
  snapshot.rung = PressureRung::kParkIdle;
  EXPECT_EQ(judge(), Health::kOk) << "a full cache is no fault";
  snapshot.rung = PressureRung::kShed;
  EXPECT_EQ(judge(), Health::kDegraded);
  snapshot.rung = PressureRung::kNormal;
  snapshot.circuit_open = true;
  EXPECT_EQ(judge(), Health::kDegraded);
  EXPECT_EQ(health_name(Health::kDegraded), "degraded");
}

TEST(Health, SaysThatItDrains) {
  EXPECT_EQ(judge_health({busy(), std::chrono::seconds(1), true}), Health::kDraining);
}

}  // namespace
}  // namespace zerohop
