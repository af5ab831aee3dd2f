// Models that do not keep a cell of every layer for every token: sliding windows and running
// states. Tiny models with random weights for the rules, and the optional Gemma model, where it is,
// for a conversation.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/llama_test_context.h"
#include "model/llama_test_tiny.h"

namespace zerohop {
namespace {

class WithTinyModel : public testing::Test {
 protected:
  void open(TinyKind kind, KvLayout layout, bool full_window_cache) {
    context.reset();  // before its model
    model_ = load_tiny_model(kind);
    ASSERT_NE(model_, nullptr);
    ContextOptions options;
    options.sequences = 3;
    options.parked = 2;
    options.window = 512;
    options.batch_rows = 64;
    options.logit_rows = 8;
    options.layout = layout;
    options.flash_attention = FlashAttention::kOff;
    options.full_window_cache = full_window_cache;
    auto made = model_->make_context(options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    context = std::move(made).value();
  }

  Logits extend(SlotId slot, TokenSpan tokens) {
    Logits last;
    while (!tokens.empty()) {
      const TokenSpan piece = tokens.first(std::min<std::size_t>(tokens.size(), 40));
      const std::vector<BatchRow> rows = rows_of(slot, context->positions(slot).end, piece);
      EXPECT_EQ(context->decode(rows), DecodeStatus::kOk);
      const std::span<float> logits = context->logits(rows.size() - 1);
      last.assign(logits.begin(), logits.end());
      tokens = tokens.subspan(piece.size());
    }
    return last;
  }

  // A second turn computed behind a checkpoint of the first, with other work in between, against
  // the same two turns in a fresh slot.
  void check_two_turns() {
    const std::vector<Token> first = tiny_tokens(random_, 300);
    const std::vector<Token> second = tiny_tokens(random_, 30);
    extend(kFirst, first);
    const auto checkpoint = context->save(kFirst);
    ASSERT_TRUE(checkpoint.ok());
    extend(kSecond, tiny_tokens(random_, 200));
    extend(kFirst, tiny_tokens(random_, 100));
    ASSERT_TRUE(context->restore(kFirst, *checkpoint).ok());
    EXPECT_EQ(context->positions(kFirst).end, 300);
    const Logits cached = extend(kFirst, second);

    ASSERT_TRUE(context->remove(kSecond, {0, 1000}));
    extend(kThird, first);
    const Logits fresh = extend(kThird, second);
    EXPECT_LT(divergence(fresh, cached), 1e-6) << largest_difference(fresh, cached);
  }

  Random random_{5};
  std::unique_ptr<Model> model_;
  std::unique_ptr<ModelContext> context;
};

using LlamaWindows = WithTinyModel;

TEST_F(LlamaWindows, ACheckpointContinuesExactlyInEveryMode) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    for (const bool full : {true, false}) {
      open(TinyKind::kWindow, layout, full);
      check_two_turns();
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(LlamaWindows, WithAFullCacheTailsAreCutAndHeadsShared) {
  open(TinyKind::kWindow, KvLayout::kUnified, true);
  EXPECT_TRUE(context->capabilities().can_cut_tail);
  EXPECT_TRUE(context->capabilities().can_share_range);
  EXPECT_FALSE(context->capabilities().can_save_range);
  const std::vector<Token> text = tiny_tokens(random_, 200);
  extend(kFirst, TokenSpan(text).first(100));
  const Logits before = extend(kFirst, TokenSpan(text).subspan(100, 5));
  extend(kFirst, TokenSpan(text).subspan(105));
  ASSERT_TRUE(context->copy(kFirst, kSecond, {0, 100}));
  EXPECT_LT(divergence(before, extend(kSecond, TokenSpan(text).subspan(100, 5))), 1e-6);
  ASSERT_TRUE(context->remove(kFirst, {100, 1000}));
  EXPECT_LT(divergence(before, extend(kFirst, TokenSpan(text).subspan(100, 5))), 1e-6);
}

TEST_F(LlamaWindows, WithoutItACutThatNeedsForgottenCellsIsRefused) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    open(TinyKind::kWindow, layout, false);
    EXPECT_FALSE(context->capabilities().can_cut_tail);
    EXPECT_FALSE(context->capabilities().can_share_range);
    EXPECT_FALSE(context->capabilities().can_save_range);
    EXPECT_TRUE(context->capabilities().can_copy_whole);
    extend(kFirst, tiny_tokens(random_, 500));
    EXPECT_GT(context->positions(kFirst).begin, 0);
    EXPECT_FALSE(context->remove(kFirst, {100, 1000}));
    EXPECT_FALSE(context->copy(kFirst, kSecond, {0, 100}));
    EXPECT_EQ(context->positions(kFirst).end, 500) << "nothing changed";
    EXPECT_TRUE(context->remove(kFirst, {0, 1000}));
  }
}

TEST_F(LlamaWindows, ARestoredCheckpointHasNothingBeforeItsWindowAndSaysSo) {
  open(TinyKind::kWindow, KvLayout::kUnified, true);
  const std::vector<Token> text = tiny_tokens(random_, 120);
  extend(kFirst, text);
  const auto checkpoint = context->save(kFirst);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_TRUE(context->restore(kSecond, *checkpoint).ok());
  EXPECT_GE(context->positions(kSecond).begin, 120 - kTinyWindow - 1);
  EXPECT_FALSE(context->remove(kSecond, {60, 1000}));
  EXPECT_FALSE(context->copy(kSecond, kThird, {0, 60}));
  EXPECT_FALSE(context->restore_range(kThird, {0, 60}, *checkpoint).ok());
  EXPECT_TRUE(context->positions(kThird).empty());
  EXPECT_TRUE(context->restore_range(kThird, {0, 120}, *checkpoint).ok());
}

TEST_F(LlamaWindows, WholeCopiesStandOnTheirOwn) {
  for (const bool full : {true, false}) {
    open(TinyKind::kWindow, KvLayout::kUnified, full);
    const std::vector<Token> text = tiny_tokens(random_, 150);
    const std::vector<Token> next = tiny_tokens(random_, 60);
    extend(kFirst, text);
    ASSERT_TRUE(context->copy(kFirst, kSecond, {0, 150}));
    const Logits own = extend(kFirst, next);
    ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
    EXPECT_LT(divergence(own, extend(kSecond, next)), 1e-6);
    EXPECT_EQ(context->scan().used, 210u);
  }
}

TEST_F(LlamaWindows, NoNumberOfTurnsFillsAWindowThatForgets) {
  open(TinyKind::kWindow, KvLayout::kUnified, false);
  for (int turn = 0; turn < 12; ++turn) {
    for (const SlotId slot : {kFirst, kSecond, kThird, SlotId{3}, SlotId{4}}) {
      if (context->positions(slot).end > 200) {
        ASSERT_TRUE(context->remove(slot, {0, 1000}));
      }
      extend(slot, tiny_tokens(random_, 1 + random_.below(60)));
      if (HasFailure()) return;
    }
  }
}

TEST_F(LlamaWindows, FilledCellsAreCellsLikeAnyOther) {
  for (const TinyKind kind : {TinyKind::kDense, TinyKind::kWindow}) {
    for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
      for (const bool full : {true, false}) {
        open(kind, layout, full);
        ASSERT_TRUE(context->fill(kFirst, 100).ok());
        ASSERT_TRUE(context->fill(kSecond, 40).ok());
        EXPECT_EQ(context->positions(kFirst).end, 100);
        EXPECT_EQ(context->positions(kSecond).end, 40);
        EXPECT_EQ(context->scan().used, layout == KvLayout::kUnified ? 140u : 0u);
        EXPECT_FALSE(extend(kFirst, tiny_tokens(random_, 3)).empty());
      }
    }
  }
}

using LlamaRunningStates = WithTinyModel;

TEST_F(LlamaRunningStates, ACheckpointContinuesExactly) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    open(TinyKind::kRunningState, layout, true);
    check_two_turns();
    if (HasFatalFailure()) return;
  }
}

TEST_F(LlamaRunningStates, OnlyWholeSequencesMove) {
  open(TinyKind::kRunningState, KvLayout::kUnified, true);
  EXPECT_FALSE(context->capabilities().can_cut_tail);
  EXPECT_FALSE(context->capabilities().can_share_range);
  EXPECT_FALSE(context->capabilities().can_save_range);
  EXPECT_TRUE(context->capabilities().can_copy_whole);
  EXPECT_FALSE(context->fill(kSecond, 10).ok());
  extend(kFirst, tiny_tokens(random_, 50));
  EXPECT_FALSE(context->remove(kFirst, {20, 1000}));
  EXPECT_FALSE(context->copy(kFirst, kSecond, {0, 20}));
  const auto state = context->save(kFirst);
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(context->compress(*state).empty()) << "its numbers are exact or nothing";
  EXPECT_FALSE(context->restore_range(kSecond, {0, 20}, *state).ok());
  EXPECT_TRUE(context->positions(kSecond).empty());
  EXPECT_TRUE(context->restore_range(kSecond, {0, 50}, *state).ok());
  EXPECT_EQ(context->positions(kSecond).end, 50);
}

// The optional model, where it is; `zerohop pull gemma3-270m` gets it.
std::vector<std::string> optional_models() {
  const auto path = std::filesystem::path(default_model_path()).parent_path() / "gemma3-270m.gguf";
  if (std::filesystem::exists(path)) return {path.string()};
  return {};
}

class RealWindow : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealWindow);
INSTANTIATE_TEST_SUITE_P(Optional, RealWindow, testing::ValuesIn(optional_models()),
                         [](const auto&) { return "gemma3_270m"; });

// A second turn behind a checkpoint gives the text that it gives without the cache.
TEST_P(RealWindow, AnAgentsSecondTurnGivesTheUncachedTextInBothModes) {
  LlamaModelOptions load;
  load.path = GetParam();
  const auto model = load_llama_model(load);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto text = [&](std::size_t count) {
    std::string prose;
    while (prose.size() < count * 8) prose += kProse;
    auto tokens = (*model)->tokenizer().tokenize(prose, SpecialTokens::kInert);
    tokens.resize(count);
    return tokens;
  };
  for (const bool full : {true, false}) {
    ContextOptions options = exact_options();
    options.sequences = 2;
    options.window = 1280;
    options.batch_rows = 128;
    options.logit_rows = 4;
    options.full_window_cache = full;
    auto made = (*model)->make_context(options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const std::unique_ptr<ModelContext> context = std::move(made).value();
    const auto extend = [&](SlotId slot, TokenSpan tokens) {
      Token next = 0;
      for (; !tokens.empty(); tokens = tokens.subspan(std::min<std::size_t>(tokens.size(), 128))) {
        const TokenSpan piece = tokens.first(std::min<std::size_t>(tokens.size(), 128));
        const auto rows = rows_of(slot, context->positions(slot).end, piece);
        EXPECT_EQ(context->decode(rows), DecodeStatus::kOk);
        next = greedy(context->logits(rows.size() - 1));
      }
      return next;
    };
    const auto answer = [&](SlotId slot, TokenSpan prompt) {
      std::vector<Token> words{extend(slot, prompt)};
      while (words.size() < 6) words.push_back(extend(slot, {&words.back(), 1}));
      return words;
    };
    const std::vector<Token> first = text(540);  // more than the window of 512
    const std::vector<Token> second = text(24);
    extend(kFirst, first);
    const auto checkpoint = context->save(kFirst);
    ASSERT_TRUE(checkpoint.ok());
    const std::vector<Token> uncached = answer(kFirst, second);
    extend(kFirst, text(230));  // more than the 768 cells that the window's layers have
    if (!full) {
      EXPECT_FALSE(context->remove(kFirst, {300, 2000})) << "cut inside what is forgotten";
    }
    ASSERT_TRUE(context->restore(kSecond, *checkpoint).ok());
    EXPECT_EQ(answer(kSecond, second), uncached);
  }
}

}  // namespace
}  // namespace zerohop
