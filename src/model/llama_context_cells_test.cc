// Cells: cutting, copying, saving, restoring, running out.
#include <gtest/gtest.h>

#include "model/llama_context.h"
#include "model/llama_test_context.h"

namespace zerohop {
namespace {

using LlamaContextCells = WithContext;

TEST_F(LlamaContextCells, ACutTailComputedAgainGivesTheSameBits) {
  for (const ContextOptions& options : {exact_options(), unified_options()}) {
    open(options);
    const std::vector<Token> text = prose(50);
    extend(kFirst, TokenSpan(text).first(30));
    const Logits before = extend(kFirst, TokenSpan(text).subspan(30));
    ASSERT_TRUE(context->remove(kFirst, {30, 1000}));
    EXPECT_EQ(context->positions(kFirst), (PositionRange{0, 30}));
    const Logits after = extend(kFirst, TokenSpan(text).subspan(30));
    EXPECT_TRUE(same_bits(before, after)) << largest_difference(before, after);
  }
}

TEST_F(LlamaContextCells, OnlyTailsAndWholeSequencesCanBeRemoved) {
  open(exact_options());
  const std::vector<Token> text = prose(10);
  extend(kFirst, text);
  EXPECT_FALSE(context->remove(kFirst, {2, 5})) << "it would leave a hole";
  EXPECT_FALSE(context->remove(kFirst, {0, 5}));
  EXPECT_EQ(context->positions(kFirst), (PositionRange{0, 10}));
  EXPECT_TRUE(context->remove(kFirst, {10, 20})) << "nothing is there";
  EXPECT_TRUE(context->remove(kFirst, {4, 4}));
  EXPECT_EQ(context->positions(kFirst), (PositionRange{0, 10}));
  EXPECT_TRUE(context->remove(kFirst, {0, 10}));
  EXPECT_TRUE(context->positions(kFirst).empty());
  EXPECT_TRUE(context->remove(kFirst, {0, 10})) << "nothing is there";
}

TEST_F(LlamaContextCells, ASavedSequenceGoesOnAsIfItHadNeverLeft) {
  for (const ContextOptions& options : {exact_options(), unified_options()}) {
    open(options);
    const std::vector<Token> text = prose(40);
    const std::vector<Token> next = tokens(" policy");
    extend(kFirst, text);
    const Result<std::vector<std::byte>> saved = context->save(kFirst);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const Logits before = extend(kFirst, next);

    ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
    ASSERT_TRUE(context->restore(kSecond, *saved).ok());
    EXPECT_EQ(context->positions(kSecond), (PositionRange{0, 40}));
    EXPECT_TRUE(same_bits(before, extend(kSecond, next)));

    // 40 cells and a few bytes for each of them
    const double cell = static_cast<double>(saved->size()) / 40;
    EXPECT_NEAR(cell, static_cast<double>(model->info().kv_bytes_per_cell), 64.0);
  }
}

TEST_F(LlamaContextCells, RestoringReplacesTheSequenceAlsoByAnEmptyOne) {
  open(exact_options());
  const Result<std::vector<std::byte>> nothing = context->save(kThird);
  ASSERT_TRUE(nothing.ok());
  extend(kFirst, prose(6));
  const Result<std::vector<std::byte>> six = context->save(kFirst);
  extend(kSecond, prose(9));
  ASSERT_TRUE(context->restore(kSecond, *six).ok());
  EXPECT_EQ(context->positions(kSecond), (PositionRange{0, 6}));
  ASSERT_TRUE(context->restore(kSecond, *nothing).ok());
  EXPECT_TRUE(context->positions(kSecond).empty());
}

TEST_F(LlamaContextCells, RefusesStatesThatAreNotItsOwn) {
  open(exact_options());
  extend(kFirst, prose(6));
  Result<std::vector<std::byte>> saved = context->save(kFirst);
  ASSERT_TRUE(saved.ok());
  const std::span<const std::byte> state(*saved);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, state.size() - 1}) {
    const Result<void> restored = context->restore(kSecond, state.first(size));
    ASSERT_FALSE(restored.ok()) << size;
    EXPECT_EQ(restored.error().code, ErrorCode::kInternal);
  }
  ContextOptions other = exact_options();
  other.sequences = 2;
  open(other);
  EXPECT_FALSE(context->restore(kFirst, state).ok()) << "another number of streams";
  EXPECT_TRUE(context->positions(kFirst).empty());
}

TEST_F(LlamaContextCells, APoolSharesAPrefixBetweenSequences) {
  ContextOptions options = unified_options();
  options.cells = 256;
  options.window = 256;
  open(options);
  const std::vector<Token> text = prose(110);
  const std::vector<Token> next = tokens(" policy");
  extend(kFirst, text);
  ASSERT_TRUE(context->copy(kFirst, kSecond, {0, 100}));
  ASSERT_TRUE(context->copy(kFirst, kThird, {0, 1000}));
  EXPECT_EQ(context->positions(kSecond), (PositionRange{0, 100}));
  EXPECT_EQ(context->positions(kThird), (PositionRange{0, 110}));

  // 320 positions stand in 110 of the 256 cells.
  const Logits shared = extend(kThird, next);
  const Logits own = extend(kFirst, next);
  EXPECT_TRUE(same_bits(shared, own)) << largest_difference(shared, own);
  const Logits prefix = extend(kSecond, TokenSpan(text).subspan(100));
  EXPECT_FALSE(prefix.empty());

  ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
  EXPECT_EQ(context->positions(kThird), (PositionRange{0, 111})) << "its cells are its own too";
}

TEST_F(LlamaContextCells, StreamsCopyWholeSequencesAtOnce) {
  open(exact_options());
  const std::vector<Token> text = prose(24);
  const std::vector<Token> next = tokens(" policy");
  extend(kFirst, text);
  EXPECT_FALSE(context->copy(kFirst, kSecond, {0, 12}));
  EXPECT_TRUE(context->positions(kSecond).empty());
  ASSERT_TRUE(context->copy(kFirst, kSecond, {0, 24}));
  EXPECT_EQ(context->positions(kSecond), (PositionRange{0, 24}));
  // The source may change at once: nothing of the copy is left for later.
  const Logits own = extend(kFirst, next);
  ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
  extend(kFirst, prose(30));
  EXPECT_TRUE(same_bits(own, extend(kSecond, next)));
  EXPECT_TRUE(context->copy(kThird, SlotId{3}, {0, 24})) << "nothing to copy";
}

TEST_F(LlamaContextCells, AFullPoolRefusesTheBatchAndChangesNothing) {
  ContextOptions options = unified_options();
  options.sequences = 8;
  options.cells = 256;
  options.window = 256;
  open(options);
  // Restored states take cells of their own: 7 × 36 of 256.
  extend(kFirst, prose(36));
  const Result<std::vector<std::byte>> state = context->save(kFirst);
  ASSERT_TRUE(state.ok());
  for (int slot = 1; slot < 7; ++slot) {
    ASSERT_TRUE(context->restore(SlotId{slot}, *state).ok());
  }
  const SlotId last{7};
  EXPECT_EQ(context->decode(rows_of(last, 0, prose(5))), DecodeStatus::kNoRoom);
  EXPECT_TRUE(context->positions(last).empty());
  EXPECT_FALSE(context->restore(last, *state).ok());
  EXPECT_TRUE(context->positions(last).empty());
  EXPECT_EQ(context->positions(kFirst), (PositionRange{0, 36}));
  EXPECT_FALSE(extend(last, prose(4)).empty()) << "exactly what is left";
  EXPECT_EQ(context->decode(rows_of(kFirst, 36, prose(1))), DecodeStatus::kNoRoom);
}

TEST_F(LlamaContextCells, ABatchLargerThanThePoolFindsNoRoom) {
  ContextOptions options = unified_options();
  options.cells = 256;
  options.window = 256;
  options.batch_rows = 512;
  open(options);
  std::vector<BatchRow> rows = rows_of(kFirst, 0, prose(200));
  const std::vector<BatchRow> more = rows_of(kSecond, 0, prose(200));
  rows.insert(rows.end(), more.begin(), more.end());
  EXPECT_EQ(context->decode(rows), DecodeStatus::kNoRoom);
}

}  // namespace
}  // namespace zerohop
