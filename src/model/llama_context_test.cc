#include "model/llama_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "model/llama_test_model.h"

namespace zerohop {
namespace {

constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};
constexpr SlotId kThird{2};

constexpr std::string_view kProse =
    "A cache keeps what was computed so that it need not be computed again. Its price is memory, and "
    "the art is to forget the right things: entries that nobody will ask for, entries that are cheap "
    "to make anew, entries that depend on others which are already gone. Every policy is a guess "
    "about the future that is made from the past, and the best guess changes with the work. ";

// The mode in which results do not depend on what else is computed: streams, no flash attention.
ContextOptions exact_options() {
  ContextOptions options;
  options.sequences = 4;
  options.window = 512;
  options.batch_rows = 256;
  options.logit_rows = 64;
  options.threads = 1;  // other tests may run at the same time
  options.layout = KvLayout::kStreams;
  options.flash_attention = FlashAttention::kOff;
  return options;
}

ContextOptions unified_options() {
  ContextOptions options = exact_options();
  options.layout = KvLayout::kUnified;
  options.flash_attention = FlashAttention::kAuto;
  return options;
}

std::vector<BatchRow> rows_of(SlotId slot, std::int32_t begin, TokenSpan tokens) {
  std::vector<BatchRow> rows;
  for (const Token token : tokens) rows.push_back({token, begin++, slot, false});
  if (!rows.empty()) rows.back().wants_logits = true;
  return rows;
}

using Logits = std::vector<float>;

bool same_bits(const Logits& left, const Logits& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

float largest_difference(const Logits& left, const Logits& right) {
  float largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    largest = std::max(largest, std::fabs(left[i] - right[i]));
  }
  return largest;
}

Token greedy(std::span<const float> logits) {
  return static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

class LlamaContextTest : public WithDefaultModel {
 protected:
  void open(const ContextOptions& options) {
    Result<std::unique_ptr<ModelContext>> made = model->make_context(options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    context = std::move(made).value();
  }

  // `count` tokens of prose.
  std::vector<Token> prose(std::size_t count) const {
    std::string text;
    while (text.size() < count * 8) text += kProse;
    std::vector<Token> all = tokens(text);
    all.resize(count);
    return all;
  }

  // Computes `tokens` at the end of `slot` in one batch; the last row's logits.
  Logits extend(SlotId slot, TokenSpan tokens) {
    const std::vector<BatchRow> rows = rows_of(slot, context->positions(slot).end, tokens);
    const DecodeStatus status = context->decode(rows);
    EXPECT_EQ(status, DecodeStatus::kOk);
    if (status != DecodeStatus::kOk) return {};
    const std::span<float> logits = context->logits(rows.size() - 1);
    return Logits(logits.begin(), logits.end());
  }

  std::vector<Token> generate(SlotId slot, TokenSpan prompt, std::size_t count) {
    std::vector<Token> text;
    Logits logits = extend(slot, prompt);
    while (text.size() < count && !logits.empty()) {
      text.push_back(greedy(logits));
      if (model->tokenizer().table().is_end_of_generation(text.back())) break;
      logits = extend(slot, {&text.back(), 1});
    }
    return text;
  }

  std::unique_ptr<ModelContext> context;
};

TEST_F(LlamaContextTest, AnswersAQuestionOfFact) {
  open(exact_options());
  // Without the opening words this small model answers in French, and differently on each processor.
  const std::vector<TemplateMessage> messages{{"user", "What is the capital of France?"},
                                              {"assistant", "The capital of France is"}};
  const Result<std::string> prompt = model->chat_template().render(messages, true);
  ASSERT_TRUE(prompt.ok());
  const std::vector<Token> answer = generate(kFirst, tokens(*prompt), 2);
  EXPECT_TRUE(model->tokenizer().detokenize(answer).starts_with(" Paris"));
}

TEST_F(LlamaContextTest, ReportsWhatTheLayoutCanDo) {
  ContextOptions options = exact_options();
  options.window = 300;
  open(options);
  KvCapabilities streams = context->capabilities();
  EXPECT_EQ(streams.slots, 4u);
  EXPECT_EQ(streams.slot_cells, 512u) << "padded to a multiple of 256 for each stream";
  EXPECT_EQ(streams.cells, 4u * 512u);
  EXPECT_FALSE(streams.pooled);
  EXPECT_FALSE(streams.can_share_range);
  EXPECT_TRUE(streams.can_cut_tail);
  EXPECT_TRUE(streams.dense_slots_matter);

  options.layout = KvLayout::kUnified;
  options.cells = 700;
  open(options);
  KvCapabilities unified = context->capabilities();
  EXPECT_EQ(unified.slot_cells, 300u);
  EXPECT_EQ(unified.cells, 768u);
  EXPECT_TRUE(unified.pooled);
  EXPECT_TRUE(unified.can_share_range);
  EXPECT_FALSE(unified.dense_slots_matter);

  options.cells = 256;
  open(options);
  EXPECT_EQ(context->capabilities().slot_cells, 256u) << "no more than the pool has";
}

TEST_F(LlamaContextTest, RefusesWhatCannotBeMade) {
  ContextOptions options = exact_options();
  options.sequences = 300;
  const Result<std::unique_ptr<ModelContext>> many = model->make_context(options);
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code, ErrorCode::kConfiguration);
  EXPECT_EQ(many.error().field, "sequences");

  options = unified_options();
  options.cells = 2'000'000'000;  // 43 TiB
  const Result<std::unique_ptr<ModelContext>> large = model->make_context(options);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kConfiguration);
  EXPECT_EQ(large.error().field, "cells");
}

TEST_F(LlamaContextTest, WorksWithFewerBatchRowsThanSequences) {
  ContextOptions options = exact_options();
  options.sequences = 8;
  options.batch_rows = 2;
  options.logit_rows = 2;
  open(options);
  const std::vector<Token> text = prose(2);
  EXPECT_FALSE(extend(kFirst, text).empty());
  EXPECT_FALSE(extend(SlotId{7}, text).empty());
}

TEST_F(LlamaContextTest, ABatchOfSequencesGivesTheTextThatEachGivesAlone) {
  const std::vector<std::vector<Token>> prompts{
      tokens("The first rule of the kitchen is"), tokens("In the year 1969,"),
      tokens("def fibonacci(n):\n"), prose(20)};
  constexpr std::size_t kSteps = 8;

  open(exact_options());
  std::vector<std::vector<Token>> alone;
  for (const std::vector<Token>& prompt : prompts) {
    alone.push_back(generate(kFirst, prompt, kSteps));
    ASSERT_TRUE(context->remove(kFirst, {0, 512}));
  }

  std::vector<std::vector<Token>> together(prompts.size());
  std::vector<BatchRow> batch;
  std::vector<std::size_t> logit_rows;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::vector<BatchRow> rows = rows_of(SlotId{static_cast<int>(i)}, 0, prompts[i]);
    batch.insert(batch.end(), rows.begin(), rows.end());
    logit_rows.push_back(batch.size() - 1);
  }
  for (std::size_t step = 0; step < kSteps; ++step) {
    ASSERT_EQ(context->decode(batch), DecodeStatus::kOk);
    std::vector<BatchRow> next;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const SlotId slot{static_cast<int>(i)};
      const Token token = greedy(context->logits(logit_rows[i]));
      together[i].push_back(token);
      next.push_back({token, context->positions(slot).end, slot, true});
    }
    batch = next;
    logit_rows = {0, 1, 2, 3};
  }
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    together[i].resize(alone[i].size());  // alone stops at an end of turn
    EXPECT_EQ(together[i], alone[i]) << "prompt " << i;
  }
}

// Kullback-Leibler divergence of the next-token distributions, in nats.
double divergence(const Logits& from, const Logits& to) {
  const auto log_sum = [](const Logits& logits) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - top);
    return top + std::log(sum);
  };
  const double from_sum = log_sum(from);
  const double to_sum = log_sum(to);
  double total = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double log_share = from[i] - from_sum;
    total += std::exp(log_share) * (log_share - (to[i] - to_sum));
  }
  return total;
}

TEST_F(LlamaContextTest, TheFastModeStaysCloseToTheExactOne) {
  const std::vector<Token> text = prose(64);
  std::vector<BatchRow> rows = rows_of(kFirst, 0, text);
  for (BatchRow& row : rows) row.wants_logits = true;
  std::vector<std::vector<Logits>> modes;
  for (const ContextOptions& options : {exact_options(), unified_options()}) {
    open(options);
    ASSERT_EQ(context->decode(rows), DecodeStatus::kOk);
    std::vector<Logits>& outputs = modes.emplace_back();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::span<const float> logits = context->logits(row);
      outputs.emplace_back(logits.begin(), logits.end());
    }
  }
  double worst = 0;
  float difference = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    worst = std::max(worst, divergence(modes[0][row], modes[1][row]));
    difference = std::max(difference, largest_difference(modes[0][row], modes[1][row]));
  }
  std::printf("exact against unified with flash attention: logits differ by up to %.3f, "
              "divergence up to %.5f\n",
              static_cast<double>(difference), worst);
  // Measured over 128 rows: logits up to 1.28, divergence up to 0.016, the same first choice in 125.
  EXPECT_LT(worst, 0.1);
  EXPECT_LT(difference, 4.0f);
}

TEST_F(LlamaContextTest, ACutTailComputedAgainGivesTheSameBits) {
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

TEST_F(LlamaContextTest, OnlyTailsAndWholeSequencesCanBeRemoved) {
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

TEST_F(LlamaContextTest, ASavedSequenceGoesOnAsIfItHadNeverLeft) {
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

TEST_F(LlamaContextTest, RestoringReplacesTheSequenceAlsoByAnEmptyOne) {
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

TEST_F(LlamaContextTest, RefusesStatesThatAreNotItsOwn) {
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

TEST_F(LlamaContextTest, APoolSharesAPrefixBetweenSequences) {
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

TEST_F(LlamaContextTest, StreamsCopyWholeSequencesAtOnce) {
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

TEST_F(LlamaContextTest, AnAbortedDecodeLeavesASequenceThatCanBeUsedAgain) {
  open(exact_options());
  const std::vector<Token> text = prose(40);
  const Logits expected = extend(kFirst, text);
  ASSERT_TRUE(context->remove(kFirst, {0, 1000}));

  std::atomic<int> polls{0};
  context->set_abort([&polls] { return polls.fetch_add(1) >= 100; });
  EXPECT_EQ(context->decode(rows_of(kFirst, 0, text)), DecodeStatus::kAborted);
  EXPECT_GT(polls.load(), 100);
  ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
  EXPECT_TRUE(context->positions(kFirst).empty());

  context->set_abort({});
  EXPECT_TRUE(same_bits(expected, extend(kFirst, text)));
}

TEST_F(LlamaContextTest, AFullPoolRefusesTheBatchAndChangesNothing) {
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

TEST_F(LlamaContextTest, ABatchLargerThanThePoolFindsNoRoom) {
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

TEST_F(LlamaContextTest, ThreadsChangeBetweenStepsAndKeepTheResultClose) {
  open(exact_options());
  const std::vector<Token> text = prose(4);
  EXPECT_EQ(context->threads(), 1u);
  const Logits one = extend(kFirst, text);
  for (const std::uint32_t count : {2u, 1u}) {
    context->set_threads(count);
    EXPECT_EQ(context->threads(), count);
    ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
    EXPECT_LT(divergence(one, extend(kFirst, text)), 0.1);
  }
}

TEST_F(LlamaContextTest, LogitsBelongToTheRowThatAskedForThem) {
  open(exact_options());
  const std::vector<Token> text = prose(12);
  std::vector<BatchRow> rows = rows_of(kFirst, 0, text);
  rows[3].wants_logits = true;
  rows[7].wants_logits = true;
  ASSERT_EQ(context->decode(rows), DecodeStatus::kOk);
  const std::span<float> third = context->logits(3);
  const std::span<float> seventh = context->logits(7);
  EXPECT_EQ(third.size(), model->info().vocabulary);
  const Logits of_third(third.begin(), third.end());
  EXPECT_FALSE(same_bits(of_third, Logits(seventh.begin(), seventh.end())));
  // The caller may write: the engine puts biases and bans there.
  std::fill(third.begin(), third.end(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isfinite(context->logits(7)[0]));

  ASSERT_TRUE(context->remove(kFirst, {0, 1000}));
  EXPECT_LT(divergence(of_third, extend(kFirst, TokenSpan(text).first(4))), 0.1);
}

TEST_F(LlamaContextTest, HiddenStatesComeForEveryRowWhenAskedFor) {
  ContextOptions options = exact_options();
  options.embeddings = true;
  options.logit_rows = 1;
  open(options);
  ASSERT_EQ(context->decode(rows_of(kFirst, 0, prose(8))), DecodeStatus::kOk);
  const std::span<const float> first = context->embedding(0);
  EXPECT_EQ(first.size(), model->info().embedding);
  EXPECT_NE(first[0], context->embedding(7)[0]);
  EXPECT_EQ(context->logits(7).size(), model->info().vocabulary);
}

using LlamaContextDeathTest = LlamaContextTest;

TEST_F(LlamaContextDeathTest, RowsThatBreakTheRulesAreABug) {
  open(exact_options());
  const std::vector<Token> text = prose(4);
  extend(kFirst, text);
  const auto decode = [this](BatchRow row) { context->decode({&row, 1}); };
  EXPECT_DEATH(decode({text[0], 9, kFirst, false}), "row.position");
  EXPECT_DEATH(decode({text[0], 3, kFirst, false}), "row.position");
  EXPECT_DEATH(decode({text[0], 0, SlotId{4}, false}), "slot.value");
  EXPECT_DEATH(decode({49152, 4, kFirst, false}), "row.token");
  EXPECT_DEATH(context->decode({}), "rows.empty");
  EXPECT_DEATH(context->logits(0), "outputs_");
}

}  // namespace
}  // namespace zerohop
