// The mirror against the library: the same random things are done to a real context (a tiny model)
// and to a mirror of its own, and what the library lets out is compared. That is the order of the
// positions in a saved state, which lists cells in ascending order, and whether there is room.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/random.h"
#include "model/cell_mirror.h"
#include "model/llama_test_tiny.h"
#include "model/saved_state.h"
#include "model/state_layout.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kCells = 768;
constexpr std::int32_t kSlots = 9;
constexpr std::int32_t kWindow = 400;

class MirroredContext : public testing::Test {
 protected:
  void SetUp() override {
    model_ = load_tiny_model(TinyKind::kDense);
    ASSERT_NE(model_, nullptr);
    ContextOptions options;
    options.sequences = 4;
    options.parked = kSlots - 4;
    options.window = kWindow;
    options.cells = kCells;
    options.batch_rows = 128;
    options.logit_rows = 8;
    auto made = model_->make_context(options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    context_ = std::move(made).value();
    twin_ = CellMirror(kCells, kSlots);
  }

  SlotId any_slot() { return SlotId(static_cast<std::int32_t>(random_.below(kSlots))); }
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }

  void decode() {
    std::vector<BatchRow> rows;
    std::vector<std::int32_t> ends(kSlots);
    for (std::int32_t slot = 0; slot < kSlots; ++slot) ends[static_cast<std::size_t>(slot)] = -1;
    const std::int32_t pieces = 1 + below(3);
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
      const SlotId slot = any_slot();
      std::int32_t& end = ends[static_cast<std::size_t>(slot.value)];
      if (end < 0) end = twin_.length(slot);
      const std::int32_t count = std::min(1 + below(random_.chance(0.2) ? 40 : 4), kWindow - end);
      for (const Token token : tiny_tokens(random_, static_cast<std::size_t>(count))) {
        rows.push_back({token, end++, slot, false});
      }
    }
    if (rows.empty()) return;
    const bool aborted = random_.chance(0.05);
    if (aborted) context_->set_abort([] { return true; });
    const DecodeStatus status = context_->decode(rows);
    context_->set_abort({});
    const bool room = twin_.append(rows);
    ASSERT_EQ(status == DecodeStatus::kNoRoom, !room);
    if (!room) return;
    ASSERT_EQ(status, aborted ? DecodeStatus::kAborted : DecodeStatus::kOk);
    if (!aborted) return;
    for (const BatchRow& row : rows) twin_.cut(row.slot, row.position);
  }

  void cut() {
    const SlotId slot = any_slot();
    const std::int32_t from = random_.chance(0.5) ? 0 : below(twin_.length(slot) + 1);
    ASSERT_TRUE(context_->remove(slot, {from, kWindow}));
    twin_.cut(slot, from);
  }

  void share() {
    const SlotId from = any_slot();
    const SlotId to = any_slot();
    if (from == to || twin_.length(to) != 0) return;
    const PositionRange range{0, below(twin_.length(from) + 1)};
    ASSERT_TRUE(context_->copy(from, to, range));
    twin_.share(from, to, range);
  }

  void save() {
    const SlotId slot = any_slot();
    const std::int32_t begin = below(twin_.length(slot) + 1);
    saved_range_ = {begin, begin + below(twin_.length(slot) - begin + 1)};
    auto state = context_->save_range(slot, saved_range_);
    ASSERT_TRUE(state.ok());
    saved_ = std::move(state).value();
    compare_order(slot, saved_range_, saved_);
  }

  void restore() {
    const SlotId slot = any_slot();
    const std::int32_t held = twin_.length(slot);
    if (saved_.empty() || held < saved_range_.begin || held >= saved_range_.end) return;
    const PositionRange range{held, held + 1 + below(saved_range_.end - held)};
    const bool room = context_->restore_range(slot, range, saved_).ok();
    const auto opened = open_state(saved_, context_->state_fingerprint());
    ASSERT_TRUE(opened.has_value());
    const auto layout = parse_state(opened->payload);
    ASSERT_TRUE(layout.has_value());
    const bool expected =
        twin_.restore(slot, layout->positions, range.begin == 0 ? saved_range_ : range);
    ASSERT_EQ(room, expected);
    if (room) twin_.cut(slot, range.end);
  }

  // A saved state lists cells in ascending order.
  void compare_order(SlotId slot, PositionRange range, std::span<const std::byte> state) {
    const auto opened = open_state(state, context_->state_fingerprint());
    ASSERT_TRUE(opened.has_value());
    if (range.empty()) return;
    const auto layout = parse_state(opened->payload);
    ASSERT_TRUE(layout.has_value());
    std::vector<std::int32_t> expected(static_cast<std::size_t>(range.size()));
    std::iota(expected.begin(), expected.end(), range.begin);
    const auto held = twin_.held(slot);
    std::ranges::sort(expected, {}, [&held](std::int32_t position) {
      return held[static_cast<std::size_t>(position)];
    });
    ASSERT_EQ(layout->positions, expected);
  }

  void compare() {
    twin_.check_integrity();
    for (std::int32_t slot = 0; slot < kSlots; ++slot) {
      ASSERT_EQ(context_->positions(SlotId(slot)).end, twin_.length(SlotId(slot)));
    }
    const CellScan scan = context_->scan();
    ASSERT_EQ(scan.used, twin_.used());
    ASSERT_EQ(scan.scanned, (twin_.top() + 255) / 256 * 256);
  }

  Random random_{20};
  std::unique_ptr<Model> model_;
  std::unique_ptr<ModelContext> context_;
  CellMirror twin_;
  std::vector<std::byte> saved_;
  PositionRange saved_range_;
};

TEST_F(MirroredContext, PutsEveryTokenWhereTheLibraryPutsIt) {
  for (int step = 0; step < 3000 && !HasFatalFailure(); ++step) {
    const std::uint64_t dice = random_.below(100);
    if (dice < 55) {
      decode();
    } else if (dice < 70) {
      cut();
    } else if (dice < 80) {
      share();
    } else if (dice < 90) {
      save();
    } else {
      restore();
    }
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    compare();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
}

}  // namespace
}  // namespace zerohop
