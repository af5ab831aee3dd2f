// The decode call: results, rules, threads, abort. Cells and states: llama_context_cells_test.cc.
#include "model/llama_context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>

#include "model/llama_test_context.h"

namespace zerohop {
namespace {

using LlamaContextTest = WithContext;

TEST_F(LlamaContextTest, AnswersAQuestionOfFact) {
  open(exact_options());
  // Without the opening words this small model answers in French, and differently on each
  // processor.
  const std::vector<TemplateMessage> messages{{"user", "What is the capital of France?"},
                                              {"assistant", "The capital of France is"}};
  const Result<std::string> prompt =
      model->chat_template().render({.messages = messages, .continue_last = true});
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
  const std::vector<std::vector<Token>> prompts{tokens("The first rule of the kitchen is"),
                                                tokens("In the year 1969,"),
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
  std::printf(
      "exact against unified with flash attention: logits differ by up to %.3f, "
      "divergence up to %.5f\n",
      static_cast<double>(difference), worst);
  // Measured over 128 rows: logits up to 1.28, divergence up to 0.016, the same first choice in
  // 125.
  EXPECT_LT(worst, 0.1);
  EXPECT_LT(difference, 4.0f);
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
