#include "app/kernel_status.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(KernelStatus, IsSilentWhileAllIsWell) {
  EXPECT_EQ(kernel_status(EngineSnapshot{}), std::nullopt);
  EXPECT_TRUE(check_pressure(EngineSnapshot{}, PressureCause::kNone, {}).ok());
}

TEST(KernelStatus, NamesTheRungAndWhatLedThere) {
  EngineSnapshot engine;
  engine.rung = PressureRung::kParkIdle;
  engine.rung_cause = PressureCause::kKvCells;
  EXPECT_EQ(kernel_status(engine), "park_idle;kv_cells");
}

TEST(KernelStatus, RefusesNewWorkOnTheLastRungWithAdvice) {
  EngineSnapshot engine;
  engine.rung = PressureRung::kShed;
  engine.rung_cause = PressureCause::kQueue;
  const Result<void> unknown = check_pressure(engine, PressureCause::kQueue, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kShed);
  EXPECT_EQ(error_traits(ErrorCode::kShed).status, 503);
  EXPECT_EQ(unknown.error().retry_after, std::chrono::seconds(2));
  engine.prefill_tokens_per_second = 100;
  engine.queued_tokens = 1'000;
  const Result<void> known = check_pressure(engine, PressureCause::kQueue, {});
  EXPECT_GE(known.error().retry_after, std::chrono::seconds(9));
  EXPECT_LE(known.error().retry_after, std::chrono::seconds(60));
}

}  // namespace
}  // namespace zerohop
