// The saved states, layouts and faults of the fake model. Its text and its decode:
// fake_model_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "model/fake_model.h"

namespace zerohop {
namespace {

constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};
constexpr SlotId kParked{40};

struct Fake {
  explicit Fake(FakeModelOptions options = {}, KvLayout layout = KvLayout::kUnified)
      : model(make_fake_model(options)) {
    ContextOptions shape;
    shape.sequences = 3;
    shape.parked = 100;
    shape.window = 64;
    shape.cells = layout == KvLayout::kUnified ? 100 : 0;
    shape.batch_rows = 64;
    shape.logit_rows = 8;
    shape.layout = layout;
    context = std::move(model->make_context(shape)).value();
  }

  // Computes `count` tokens at the end of `slot`, counted up from `token`; the last row's logits.
  std::vector<float> extend(SlotId slot, Token token, int count = 1) const {
    std::vector<BatchRow> rows;
    std::int32_t position = context->positions(slot).end;
    for (int i = 0; i < count; ++i) rows.push_back({token++, position++, slot, false});
    rows.back().wants_logits = true;
    EXPECT_EQ(context->decode(rows), DecodeStatus::kOk);
    const std::span<float> logits = context->logits(rows.size() - 1);
    return {logits.begin(), logits.end()};
  }

  std::vector<std::byte> save(SlotId slot, PositionRange range) const {
    return std::move(context->save_range(slot, range)).value();
  }

  std::unique_ptr<Model> model;
  std::unique_ptr<ModelContext> context;
};

TEST(FakeState, ARangeComesBackAsItWas) {
  const Fake fake;
  EXPECT_EQ(fake.context->capabilities().slots, 103u);
  EXPECT_EQ(fake.context->capabilities().sequences, 3u);
  fake.extend(kFirst, 10, 20);
  const auto tail = fake.save(kFirst, {8, 20});
  const auto expected = fake.extend(kFirst, 99);
  ASSERT_TRUE(fake.context->copy(kFirst, kParked, {0, 8}));
  ASSERT_TRUE(fake.context->remove(kFirst, {0, 64}));
  ASSERT_TRUE(fake.context->restore_range(kParked, {8, 15}, tail).ok());
  ASSERT_TRUE(fake.context->restore_range(kParked, {15, 20}, tail).ok());
  EXPECT_EQ(fake.extend(kParked, 99), expected);
}

TEST(FakeState, ARangeBehindAnotherPrefixShowsAsOtherText) {
  const Fake fake;
  fake.extend(kFirst, 10, 20);
  const auto tail = fake.save(kFirst, {8, 20});
  const auto right = fake.extend(kFirst, 99);
  fake.extend(kSecond, 11, 8);
  ASSERT_TRUE(fake.context->restore_range(kSecond, {8, 20}, tail).ok());
  EXPECT_NE(fake.extend(kSecond, 99), right);
}

TEST(FakeState, CompressingHalvesAndLosesNothing) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    const Fake fake({}, layout);
    fake.extend(kFirst, 10, 40);
    const auto plain = fake.save(kFirst, {0, 40});
    const auto small = fake.context->compress(plain);
    EXPECT_LT(small.size(), plain.size() * 6 / 10);
    EXPECT_TRUE(fake.context->compress(small).empty());
    const auto expected = fake.extend(kFirst, 99);
    ASSERT_TRUE(fake.context->restore_range(kSecond, {0, 40}, small).ok());
    EXPECT_EQ(fake.extend(kSecond, 99), expected);
  }
}

TEST(FakeState, DamagedBytesAreRefused) {
  const Fake fake;
  fake.extend(kFirst, 10, 5);
  const auto good = fake.save(kFirst, {0, 5});
  for (const auto& state : {good, fake.context->compress(good)}) {
    for (std::size_t at = 0; at < state.size(); ++at) {
      std::vector<std::byte> bad = state;
      bad[at] ^= std::byte{1};
      EXPECT_FALSE(fake.context->restore_range(kSecond, {0, 5}, bad).ok());
      EXPECT_FALSE(fake.context->restore(kSecond, std::span(state).first(at)).ok());
    }
  }
  FakeModelOptions other;
  other.seed = 2;
  EXPECT_FALSE(Fake(other).context->restore(kFirst, good).ok()) << "another model's";
  EXPECT_FALSE(Fake({}, KvLayout::kStreams).context->restore(kFirst, good).ok());
}

TEST(FakeState, NeedsRoomForAllThatWasSaved) {
  const Fake fake;
  fake.extend(kFirst, 10, 60);
  const auto tail = fake.save(kFirst, {10, 60});
  ASSERT_TRUE(fake.context->copy(kFirst, kParked, {0, 10}));
  EXPECT_FALSE(fake.context->restore_range(kParked, {10, 20}, tail).ok()) << "40 are free";
  EXPECT_EQ(fake.context->positions(kParked).end, 10);
  ASSERT_TRUE(fake.context->remove(kFirst, {30, 64}));
  EXPECT_TRUE(fake.context->restore_range(kParked, {10, 20}, tail).ok());
  EXPECT_EQ(fake.context->scan().used, 40u);
}

TEST(FakeState, ScanSeesHoles) {
  const Fake fake;
  fake.extend(kFirst, 10, 30);
  fake.extend(kSecond, 10, 10);
  ASSERT_TRUE(fake.context->remove(kFirst, {5, 64}));
  const CellScan scan = fake.context->scan();
  EXPECT_EQ(scan.scanned, 40u);
  EXPECT_EQ(scan.used, 15u);
}

TEST(FakeState, WithoutCutsOnlyWholeSequencesMove) {
  FakeModelOptions options;
  options.can_cut_tail = false;
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    const Fake fake(options, layout);
    const KvCapabilities& can = fake.context->capabilities();
    EXPECT_FALSE(can.can_cut_tail || can.can_share_range || can.can_save_range);
    EXPECT_TRUE(can.can_copy_whole);
    fake.extend(kFirst, 10, 20);
    EXPECT_FALSE(fake.context->remove(kFirst, {19, 64}));
    EXPECT_TRUE(fake.context->remove(kFirst, {20, 64})) << "nothing is there";
    EXPECT_FALSE(fake.context->copy(kFirst, kSecond, {0, 19}));
    const auto state = fake.save(kFirst, {0, 20});
    ASSERT_TRUE(fake.context->copy(kFirst, kSecond, {0, 20}));
    const auto expected = fake.extend(kFirst, 99);
    EXPECT_EQ(fake.extend(kSecond, 99), expected);
    ASSERT_TRUE(fake.context->remove(kSecond, {0, 64}));
    ASSERT_TRUE(fake.context->restore_range(kSecond, {0, 20}, state).ok());
    EXPECT_EQ(fake.extend(kSecond, 99), expected);
  }
}

TEST(FakeState, FillsCellsForMeasurements) {
  const Fake fake;
  ASSERT_TRUE(fake.context->fill(kFirst, 60).ok());
  EXPECT_EQ(fake.context->positions(kFirst).end, 60);
  EXPECT_FALSE(fake.context->fill(kSecond, 60).ok()) << "40 are free";
  EXPECT_TRUE(fake.context->positions(kSecond).empty());
}

TEST(FakeState, FaultsStrikeWhereTheHookSays) {
  FakeModelOptions options;
  bool failing = true;
  FakeStateCall last;
  options.state_fault = [&](const FakeStateCall& call) {
    last = call;
    return failing;
  };
  options.not_finite = [](const BatchRow& row) { return row.token == 13; };
  const Fake fake(options);
  fake.extend(kFirst, 20, 10);
  EXPECT_FALSE(fake.context->save_range(kFirst, {2, 10}).ok());
  EXPECT_EQ(last.kind, FakeStateCallKind::kSave);
  EXPECT_EQ(last.range, (PositionRange{2, 10}));
  failing = false;
  const auto tail = fake.save(kFirst, {2, 10});
  ASSERT_TRUE(fake.context->remove(kFirst, {2, 64}));
  failing = true;
  EXPECT_FALSE(fake.context->restore_range(kFirst, {2, 6}, tail).ok());
  EXPECT_EQ(last.kind, FakeStateCallKind::kRestore);
  EXPECT_EQ(fake.context->positions(kFirst).end, 2);
  EXPECT_TRUE(std::isnan(fake.extend(kFirst, 13)[7]));
  EXPECT_TRUE(std::isfinite(fake.extend(kFirst, 14)[7]));
}

TEST(FakeState, HoldsTensOfThousandsOfSlots) {
  const auto model = make_fake_model({});
  ContextOptions options;
  options.parked = 50'000;
  options.window = 4096;
  options.cells = 200'000;
  const auto context = std::move(model->make_context(options)).value();
  const BatchRow row{1, 0, SlotId{50'007}, true};
  EXPECT_EQ(context->decode({&row, 1}), DecodeStatus::kOk);
  for (int slot = 0; slot < 50'000; ++slot) {
    ASSERT_TRUE(context->copy(SlotId{50'007}, SlotId{slot}, {0, 1}));
  }
  EXPECT_EQ(context->scan().used, 1u);
}

TEST(FakeStateDeathTest, MisuseOfRangesIsABug) {
  const Fake fake;
  fake.extend(kFirst, 10, 20);
  const auto tail = fake.save(kFirst, {8, 20});
  EXPECT_DEATH((void)fake.context->save_range(kFirst, {8, 21}), "check failed");
  EXPECT_DEATH((void)fake.context->restore_range(kSecond, {8, 20}, tail), "check failed");
  EXPECT_DEATH((void)fake.context->restore_range(kSecond, {0, 20}, tail), "check failed");
  EXPECT_DEATH((void)fake.context->restore_range(SlotId{103}, {8, 20}, tail), "check failed");
  const Fake streams({}, KvLayout::kStreams);
  streams.extend(kFirst, 10, 20);
  EXPECT_DEATH((void)streams.context->save_range(kFirst, {8, 20}), "check failed");
}

}  // namespace
}  // namespace zerohop
