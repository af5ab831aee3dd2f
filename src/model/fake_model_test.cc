#include "model/fake_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zerohop {
namespace {

ContextOptions small(KvLayout layout) {
  ContextOptions options;
  options.sequences = 3;
  options.window = 16;
  options.cells = layout == KvLayout::kUnified ? 20 : 0;
  options.batch_rows = 32;
  options.logit_rows = 8;
  options.layout = layout;
  return options;
}

std::unique_ptr<ModelContext> context_of(const Model& model, const ContextOptions& options) {
  return std::move(model.make_context(options)).value();
}

std::vector<BatchRow> rows_for(SlotId slot, const std::vector<Token>& tokens, std::int32_t from) {
  std::vector<BatchRow> rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back(
        BatchRow{tokens[i], from + static_cast<std::int32_t>(i), slot, i + 1 == tokens.size()});
  }
  return rows;
}

std::vector<float> logits_after(ModelContext& context, const std::vector<BatchRow>& rows) {
  EXPECT_EQ(context.decode(rows), DecodeStatus::kOk);
  const std::span<float> logits = context.logits(rows.size() - 1);
  return {logits.begin(), logits.end()};
}

TEST(FakeTokenizer, RoundTripsAnyBytes) {
  const auto model = make_fake_model({});
  const std::string text = "the Paris STOP caf\xc3\xa9 \xf0\x9f\x98\x80 \xff end";
  const auto tokens = model->tokenizer().tokenize(text, SpecialTokens::kInert);
  EXPECT_EQ(model->tokenizer().detokenize(tokens), text);
}

TEST(FakeTokenizer, ParsesControlTextOnlyWhenAsked) {
  const auto model = make_fake_model({});
  EXPECT_EQ(model->tokenizer().tokenize("<|im_end|>", SpecialTokens::kParse),
            std::vector<Token>{FakeTokens::kEnd});
  EXPECT_EQ(model->tokenizer().tokenize("<|im_end|>", SpecialTokens::kInert).size(), 10u);
}

TEST(FakeModel, GivesTheSameLogitsInOnePieceAndInChunks) {
  const auto model = make_fake_model({});
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    auto whole = context_of(*model, small(layout));
    auto chunked = context_of(*model, small(layout));
    const auto expected = logits_after(*whole, rows_for(SlotId(0), {1, 2, 3, 4}, 0));
    logits_after(*chunked, rows_for(SlotId(2), {1, 2}, 0));
    EXPECT_EQ(logits_after(*chunked, rows_for(SlotId(2), {3, 4}, 2)), expected);
  }
}

TEST(FakeModel, SharesCellsInTheUnifiedLayout) {
  const auto model = make_fake_model({});
  auto context = context_of(*model, small(KvLayout::kUnified));
  logits_after(*context, rows_for(SlotId(0), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0));
  ASSERT_TRUE(context->copy(SlotId(0), SlotId(1), {0, 11}));
  // 12 cells are used, not 23: nine more fit into a pool of 20 only because of that.
  EXPECT_EQ(context->decode(rows_for(SlotId(1), {13, 14, 15}, 11)), DecodeStatus::kOk);
}

TEST(FakeModel, CopiesOnlyWholeSequencesBetweenStreams) {
  const auto model = make_fake_model({});
  auto context = context_of(*model, small(KvLayout::kStreams));
  logits_after(*context, rows_for(SlotId(0), {1, 2, 3}, 0));
  EXPECT_FALSE(context->copy(SlotId(0), SlotId(1), {0, 2}));
  EXPECT_TRUE(context->copy(SlotId(0), SlotId(1), {0, 3}));
}

TEST(FakeModel, SaysNoRoomAndChangesNothing) {
  const auto model = make_fake_model({});
  auto context = context_of(*model, small(KvLayout::kUnified));
  logits_after(*context, rows_for(SlotId(0), std::vector<Token>(15, 1), 0));
  EXPECT_EQ(context->decode(rows_for(SlotId(1), std::vector<Token>(6, 1), 0)),
            DecodeStatus::kNoRoom);
  EXPECT_TRUE(context->positions(SlotId(1)).empty());
}

TEST(FakeModel, KeepsFinishedRowsWhenAborted) {
  VirtualClock clock;
  FakeModelOptions options;
  options.clock = &clock;
  const auto model = make_fake_model(options);
  auto context = context_of(*model, small(KvLayout::kStreams));
  int polls = 0;
  context->set_abort([&polls] { return ++polls > 3; });
  EXPECT_EQ(context->decode(rows_for(SlotId(0), {1, 2, 3, 4, 5}, 0)), DecodeStatus::kAborted);
  EXPECT_EQ(context->positions(SlotId(0)), (PositionRange{0, 2}));
  EXPECT_GT(clock.now().time_since_epoch().count(), 0);
}

TEST(FakeModel, RestoresASavedSequence) {
  const auto model = make_fake_model({});
  auto context = context_of(*model, small(KvLayout::kStreams));
  logits_after(*context, rows_for(SlotId(0), {1, 2, 3}, 0));
  const auto state = std::move(context->save(SlotId(0))).value();
  const auto expected = logits_after(*context, rows_for(SlotId(0), {4}, 3));
  ASSERT_TRUE(context->restore(SlotId(1), state).ok());
  EXPECT_EQ(logits_after(*context, rows_for(SlotId(1), {4}, 3)), expected);
  EXPECT_FALSE(context->restore(SlotId(1), std::vector<std::byte>(3)).ok());
}

TEST(FakeModel, ScriptsAnAnswer) {
  FakeModelOptions plain;
  const auto vocabulary = make_fake_model(plain);
  FakeModelOptions options;
  options.script = fake_reply(*vocabulary, "Paris");
  const auto model = make_fake_model(options);
  auto context = context_of(*model, small(KvLayout::kStreams));
  auto prompt = model->tokenizer().tokenize("<|im_start|>assistant\n", SpecialTokens::kParse);
  auto logits = logits_after(*context, rows_for(SlotId(0), prompt, 0));
  const auto next =
      static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  EXPECT_EQ(model->tokenizer().table().bytes(next), "Paris");
}

TEST(FakeModelDeathTest, CrashesOnMisuseThatTheLibraryWouldPunish) {
  const auto model = make_fake_model({});
  auto context = context_of(*model, small(KvLayout::kStreams));
  EXPECT_DEATH((void)context->decode(rows_for(SlotId(0), {1}, 1)), "check failed");
  EXPECT_DEATH((void)context->decode(rows_for(SlotId(3), {1}, 0)), "check failed");
  EXPECT_DEATH((void)context->decode({}), "check failed");
  logits_after(*context, rows_for(SlotId(0), {1, 2}, 0));
  EXPECT_DEATH((void)context->logits(0), "check failed");
}

}  // namespace
}  // namespace zerohop
