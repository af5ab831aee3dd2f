#include "engine/pressure_ladder.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart{std::chrono::hours(1)};

// A quiet server with 1,000 cells and 1,000 bytes of host memory.
PressureInput quiet() {
  PressureInput in;
  in.cells_total = 1000;
  in.cells_active = 300;
  in.cells_parked = 100;
  in.host_bytes = 100;
  in.host_bytes_max = 1000;
  return in;
}

PressureInput cells(std::uint32_t active, std::uint32_t parked, std::uint32_t reserved) {
  PressureInput in = quiet();
  in.cells_active = active;
  in.cells_parked = parked;
  in.cells_reserved = reserved;
  return in;
}

class Climb : public ::testing::Test {
 protected:
  const PressureState& at(const PressureInput& in, Duration after = milliseconds(10)) {
    now_ += after;
    return ladder_.update(in, now_);
  }
  PressureRung settle(const PressureInput& in) {
    for (int i = 0; i < 20; ++i) at(in, seconds(1));
    return ladder_.state().rung;
  }

  PressureLadder ladder_{PressureOptions{}};
  TimePoint now_ = kStart;
};

TEST_F(Climb, StaysOnTheGroundWhereThereIsRoom) {
  EXPECT_EQ(settle(quiet()), PressureRung::kNormal);
  EXPECT_EQ(settle(PressureInput{}), PressureRung::kNormal);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kNone);
}

TEST_F(Climb, ParksIdleCellsAbove85PercentUntilBelow80) {
  EXPECT_EQ(at(cells(300, 500, 50)).rung, PressureRung::kNormal);
  const PressureState high = at(cells(300, 501, 50));
  EXPECT_EQ(high.rung, PressureRung::kParkIdle);
  EXPECT_EQ(high.cause, PressureCause::kKvCells);
  EXPECT_EQ(high.cells_to_park, 52u);
  EXPECT_EQ(settle(cells(300, 451, 50)), PressureRung::kParkIdle);
  EXPECT_EQ(settle(cells(300, 450, 50)), PressureRung::kNormal);
  EXPECT_EQ(ladder_.state().cells_to_park, 0u);
}

TEST_F(Climb, ParksNoMoreThanIsIdleAndOnlyWhereThereIsHostMemory) {
  EXPECT_EQ(at(cells(900, 10, 50)).cells_to_park, 10u);
  PressureInput without_host = cells(100, 900, 0);
  without_host.host_bytes_max = without_host.host_bytes = 0;
  EXPECT_EQ(at(without_host).cells_to_park, 0u);
}

// What finished answers leave behind fills the cells of every server after a while.
TEST_F(Climb, TakesIdleCellsForNoPressureWhereTheyCanGoNowhere) {
  PressureInput in = cells(100, 900, 0);
  in.host_bytes_max = in.host_bytes = 0;
  EXPECT_EQ(settle(in), PressureRung::kNormal);
  in.cells_active = 851;
  in.cells_parked = 149;
  EXPECT_EQ(settle(in), PressureRung::kParkIdle) << "held by those that run";
  in.cells_active = 800;
  in.cells_parked = 200;
  EXPECT_EQ(settle(in), PressureRung::kNormal);
}

TEST_F(Climb, CompressesWhereHostMemoryIsShortAsWell) {
  PressureInput in = cells(300, 600, 0);
  in.host_bytes = 851;
  EXPECT_EQ(at(in).rung, PressureRung::kParkIdle);
  EXPECT_EQ(at(in).rung, PressureRung::kCompress);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kHostBytes);
  EXPECT_EQ(ladder_.state().bytes_to_compress, 52u);
  in.host_bytes = 801;
  EXPECT_EQ(settle(in), PressureRung::kCompress);
  in.host_bytes = 800;
  EXPECT_EQ(settle(in), PressureRung::kParkIdle);
  // Full host memory alone is no pressure: nothing has to go there.
  PressureInput host_only = quiet();
  host_only.host_bytes = 1000;
  EXPECT_EQ(settle(host_only), PressureRung::kNormal);
}

TEST_F(Climb, CompactsScatteredCells) {
  PressureInput in = quiet();
  in.fragmentation = 0.36;
  at(in);
  at(in);
  EXPECT_FALSE(ladder_.state().compact);
  EXPECT_EQ(at(in).rung, PressureRung::kCompact);
  EXPECT_TRUE(ladder_.state().compact);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kFragmentation);
  // What the rungs below would do is not needed here.
  EXPECT_EQ(ladder_.state().cells_to_park, 0u);
  EXPECT_EQ(ladder_.state().bytes_to_compress, 0u);
  in.fragmentation = 0.31;
  EXPECT_EQ(settle(in), PressureRung::kCompact);
  in.fragmentation = 0.30;
  EXPECT_EQ(settle(in), PressureRung::kNormal);
}

// A full queue leads to the last rung past all others: what they do begins above their own upper
// marks and ends at their own lower ones.
TEST_F(Climb, BeginsAndEndsEachActionAtItsOwnMarks) {
  PressureInput in = quiet();
  in.waiting = 30;
  in.predicted_wait = seconds(100);
  const auto actions = [this] {
    const PressureState& state = ladder_.state();
    return std::array{state.cells_to_park > 0, state.bytes_to_compress > 0, state.compact};
  };
  const auto at_measures = [&](double share, double fragmentation) {
    in.cells_parked = static_cast<std::uint32_t>(1000 * share) - in.cells_active;
    in.host_bytes = static_cast<std::uint64_t>(1000 * share);
    in.fragmentation = fragmentation;
    EXPECT_EQ(settle(in), PressureRung::kShed);
    return actions();
  };
  EXPECT_EQ(at_measures(0.84, 0.34), (std::array{false, false, false}));
  EXPECT_EQ(at_measures(0.86, 0.36), (std::array{true, true, true}));
  EXPECT_EQ(at_measures(0.81, 0.31), (std::array{true, true, true}));
  EXPECT_EQ(at_measures(0.80, 0.30), (std::array{false, false, false}));
  EXPECT_EQ(at_measures(0.84, 0.34), (std::array{false, false, false}));
}

TEST_F(Climb, ShortensAnswersOnlyWhereSomebodyAllowsIt) {
  PressureInput in = cells(900, 0, 30);
  EXPECT_EQ(settle(in), PressureRung::kParkIdle);
  in.soft_allowed = 1;
  EXPECT_EQ(settle(in), PressureRung::kSoftMaxTokens);
  EXPECT_TRUE(ladder_.state().soft_max_tokens);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kKvCells);
  in.cells_active = 841;
  EXPECT_EQ(settle(in), PressureRung::kSoftMaxTokens);
  in.cells_active = 840;
  EXPECT_EQ(settle(in), PressureRung::kParkIdle);
  EXPECT_FALSE(ladder_.state().soft_max_tokens);
  in.fragmentation = 0.41;
  EXPECT_EQ(settle(in), PressureRung::kSoftMaxTokens);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kFragmentation);
}

TEST_F(Climb, ShedsWhenANewRequestWouldWaitTooLong) {
  PressureInput in = quiet();
  in.waiting = 30;
  in.predicted_wait = seconds(61);
  for (int rung = 1; rung < kPressureRungs; ++rung) {
    EXPECT_FALSE(ladder_.state().shed);
    EXPECT_EQ(at(in).rung, PressureRung{static_cast<std::uint8_t>(rung)});
    EXPECT_EQ(ladder_.state().cause, PressureCause::kQueue);
  }
  EXPECT_TRUE(ladder_.state().shed);
  in.predicted_wait = seconds(46);
  EXPECT_EQ(settle(in), PressureRung::kShed);
  in.predicted_wait = seconds(45);
  EXPECT_EQ(settle(in), PressureRung::kNormal);
}

TEST_F(Climb, ShedsWhenFullCellsKeepSomebodyWaitingForLong) {
  PressureInput in = cells(900, 0, 80);
  in.waiting = 3;
  in.oldest_wait = seconds(60);
  EXPECT_EQ(settle(in), PressureRung::kParkIdle);  // busy, not overloaded
  in.oldest_wait = seconds(61);
  EXPECT_EQ(settle(in), PressureRung::kShed);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kKvCells);
  in.oldest_wait = seconds(1);
  in.cells_active = 845;
  EXPECT_EQ(settle(in), PressureRung::kShed);
  in.waiting = 0;
  EXPECT_EQ(settle(in), PressureRung::kParkIdle);
}

TEST_F(Climb, ComesDownOneRungATimeAndNotBeforeItsDwell) {
  PressureInput in = quiet();
  in.waiting = 1;
  in.predicted_wait = seconds(100);
  for (int i = 0; i < 5; ++i) at(in);
  ASSERT_EQ(ladder_.state().rung, PressureRung::kShed);
  const Duration dwell = PressureOptions{}.dwell_min;
  EXPECT_EQ(at(quiet(), dwell - Duration(1)).rung, PressureRung::kShed);
  EXPECT_EQ(at(quiet(), Duration(1)).rung, PressureRung::kSoftMaxTokens);
  EXPECT_EQ(at(quiet(), Duration(1)).rung, PressureRung::kSoftMaxTokens);
  EXPECT_EQ(at(quiet(), dwell).rung, PressureRung::kCompact);
  EXPECT_EQ(at(quiet(), dwell).rung, PressureRung::kCompress);
  EXPECT_EQ(at(quiet(), dwell).rung, PressureRung::kParkIdle);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kQueue);
  EXPECT_EQ(at(quiet(), dwell).rung, PressureRung::kNormal);
  EXPECT_EQ(ladder_.state().cause, PressureCause::kNone);
}

TEST_F(Climb, CountsHowOftenARungWasEnteredFromBelow) {
  for (int i = 0; i < 3; ++i) {
    settle(cells(300, 600, 0));
    settle(quiet());
  }
  EXPECT_EQ(ladder_.entries()[1], 3u);
  EXPECT_EQ(ladder_.entries()[2], 0u);
  EXPECT_EQ(ladder_.entries()[0], 0u);
}

// Every measure trembles within the width of its band: whatever rung that settles on, it stays.
TEST(PressureLadder, DoesNotFlap) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    PressureLadder ladder{PressureOptions{}};
    TimePoint now = kStart;
    const PressureInput centre = [&] {
      PressureInput in = cells(static_cast<std::uint32_t>(random.below(700)),
                               static_cast<std::uint32_t>(random.below(200)),
                               static_cast<std::uint32_t>(random.below(100)));
      in.host_bytes = random.below(1000);
      in.fragmentation = 0.5 * random.uniform();
      in.soft_allowed = static_cast<std::uint32_t>(random.below(2));
      in.waiting = 5;
      in.predicted_wait = milliseconds(random.below(120'000));
      return in;
    }();
    std::uint64_t changes = 0;
    PressureRung before = PressureRung::kNormal;
    for (int step = 0; step < 400; ++step) {
      now += milliseconds(50);
      PressureInput in = centre;
      in.cells_active += static_cast<std::uint32_t>(random.below(49));
      in.host_bytes += random.below(49);
      in.fragmentation += 0.049 * random.uniform();
      in.predicted_wait += milliseconds(random.below(14'000));
      const PressureRung rung = ladder.update(in, now).rung;
      if (rung != before) ++changes;
      before = rung;
    }
    // Up to the top and at most once down to where it stays.
    ASSERT_LE(changes, 2u * kPressureRungs) << "round " << round;
  }
}

// Whatever comes: one rung at a time, actions fit the rung, a cause exactly above the ground.
TEST(PressureLadder, KeepsItsRulesForRandomInputs) {
  Random random(6);
  PressureLadder ladder{PressureOptions{}};
  TimePoint now = kStart;
  int before = 0;
  std::array<int, kPressureRungs> seen{};
  PressureInput in;
  for (int step = 0; step < 20'000; ++step) {
    now += milliseconds(random.below(400));
    if (random.chance(0.1)) {
      in = cells(static_cast<std::uint32_t>(random.below(1000)),
                 static_cast<std::uint32_t>(random.below(300)), 0);
      if (random.chance(0.5)) in = quiet();
      in.host_bytes = random.below(1001);
      in.fragmentation = random.uniform();
      in.waiting = static_cast<std::uint32_t>(random.below(3));
      in.oldest_wait = seconds(random.below(90));
      in.predicted_wait = seconds(random.below(90));
      in.soft_allowed = static_cast<std::uint32_t>(random.below(2));
    }
    const PressureState& state = ladder.update(in, now);
    const int rung = static_cast<int>(state.rung);
    ASSERT_LE(std::abs(rung - before), 1);
    ASSERT_EQ(state.cause == PressureCause::kNone, rung == 0);
    ASSERT_EQ(state.shed, state.rung == PressureRung::kShed);
    ASSERT_EQ(state.soft_max_tokens, state.rung >= PressureRung::kSoftMaxTokens);
    ASSERT_TRUE(!state.compact || state.rung >= PressureRung::kCompact);
    ASSERT_TRUE(state.bytes_to_compress == 0 || state.rung >= PressureRung::kCompress);
    ASSERT_LE(state.cells_to_park, in.cells_parked);
    ++seen[static_cast<std::size_t>(rung)];
    before = rung;
  }
  for (const int times : seen) EXPECT_GT(times, 0);
}

}  // namespace
}  // namespace zerohop
