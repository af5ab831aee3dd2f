#include "app/health.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

EngineSnapshot busy() {
  EngineSnapshot snapshot;
  snapshot.decoding = 2;
  return snapshot;
}

TimePoint after(std::chrono::seconds seconds) { return TimePoint{} + seconds; }

TEST(Health, IsOkWhenIdleForHours) {
  EXPECT_EQ(judge_health({EngineSnapshot{}, after(std::chrono::seconds(9999))}), Health::kOk);
}

TEST(Health, IsStuckWhenWorkWaitsAndNoStepEnds) {
  EXPECT_EQ(judge_health({busy(), after(kStuckAfter)}), Health::kOk);
  EXPECT_EQ(judge_health({busy(), after(kStuckAfter + std::chrono::seconds(1))}), Health::kStuck);
}

TEST(Health, DoesNotBlameTheEngineForSlowReaders) {
  EngineSnapshot snapshot = busy();
  snapshot.paused = 2;
  EXPECT_EQ(judge_health({snapshot, after(std::chrono::seconds(9999))}), Health::kOk);
}

TEST(Health, IsDegradedUnderPressureAndAfterFailures) {
  EngineSnapshot snapshot;
  const auto judge = [&snapshot] {
    return judge_health({snapshot, after(std::chrono::seconds(1))});
  };
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
  EXPECT_EQ(judge_health({busy(), after(std::chrono::seconds(1)), true}), Health::kDraining);
}

}  // namespace
}  // namespace zerohop
