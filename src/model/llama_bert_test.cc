// A model that makes vectors and keeps no cells: what the interfaces of model.h say about it.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/llama_test_bert.h"

namespace zerohop {
namespace {

constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};

std::vector<BatchRow> rows_of(SlotId slot, TokenSpan tokens) {
  std::vector<BatchRow> rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back({tokens[i], static_cast<std::int32_t>(i), slot, false});
  }
  return rows;
}

ContextOptions vector_options() {
  ContextOptions options;
  options.sequences = 2;
  options.window = 48;
  options.batch_rows = 48;
  options.logit_rows = 48;
  options.cells = 48;
  options.embeddings = true;
  return options;
}

class LlamaBert : public testing::Test {
 protected:
  std::vector<Token> tokens(std::string_view text) const {
    return model_->tokenizer().tokenize(text, SpecialTokens::kInert);
  }

  const TestBertFile file_;
  const std::unique_ptr<Model> model_ = file_.load();
};

std::vector<float> hidden(ModelContext& context, std::size_t row) {
  const std::span<const float> values = context.embedding(row);
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<float>& left, const std::vector<float>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], 1e-4);
}

TEST_F(LlamaBert, SaysThatItLooksAtWholeTextsAndKeepsNoCells) {
  const ModelInfo& info = model_->info();
  EXPECT_EQ(info.attention, AttentionType::kWholeText);
  EXPECT_EQ(info.pooling, PoolingType::kMean);
  EXPECT_EQ(info.embedding, TestBert::kWidth);
  EXPECT_EQ(info.context_trained, 48u);
  EXPECT_EQ(info.kv_bytes_per_cell, 0u);
}

TEST_F(LlamaBert, HasTokensThatStandAroundAText) {
  EXPECT_EQ(model_->tokenizer().begin_of_sequence(), TestBert::kBegin);
  EXPECT_EQ(model_->tokenizer().end_of_sequence(), TestBert::kEnd);
  EXPECT_EQ(tokens("Ab b").size(), 3u);
  EXPECT_EQ(tokens("ab b"), tokens("AB B"));
  EXPECT_EQ(tokens("1"), std::vector<Token>{TestBert::kUnknown});
}

TEST_F(LlamaBert, MakesNoContextThatWouldHaveToKeepText) {
  ContextOptions options = vector_options();
  options.embeddings = false;
  const auto context = model_->make_context(options);
  ASSERT_FALSE(context.ok());
  EXPECT_EQ(context.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(context.error().message.find("no KV cache"), std::string::npos);
}

TEST_F(LlamaBert, ComputesTextsTogetherAsEachAlone) {
  const auto context = model_->make_context(vector_options()).value();
  const std::vector<Token> first = tokens("some words");
  const std::vector<Token> second = tokens("other");
  ASSERT_EQ(context->decode(rows_of(kFirst, first)), DecodeStatus::kOk);
  const std::vector<float> alone = hidden(*context, 2);
  ASSERT_EQ(alone.size(), TestBert::kWidth);
  EXPECT_TRUE(context->positions(kFirst).empty()) << "nothing is kept";

  std::vector<BatchRow> both = rows_of(kSecond, second);
  const std::vector<BatchRow> more = rows_of(kFirst, first);
  both.insert(both.end(), more.begin(), more.end());
  ASSERT_EQ(context->decode(both), DecodeStatus::kOk);
  expect_near(hidden(*context, second.size() + 2), alone);
  EXPECT_TRUE(context->remove(kFirst, {0, 100}));
}

TEST_F(LlamaBert, LetsATokenSeeThoseBehindIt) {
  const auto context = model_->make_context(vector_options()).value();
  ASSERT_EQ(context->decode(rows_of(kFirst, tokens("abc"))), DecodeStatus::kOk);
  const std::vector<float> before = hidden(*context, 0);
  ASSERT_EQ(context->decode(rows_of(kFirst, tokens("abx"))), DecodeStatus::kOk);
  double distance = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    distance += std::abs(static_cast<double>(hidden(*context, 0)[i] - before[i]));
  }
  EXPECT_GT(distance, 1e-2);
}

TEST_F(LlamaBert, HasNoStateToSave) {
  const auto context = model_->make_context(vector_options()).value();
  ASSERT_EQ(context->decode(rows_of(kFirst, tokens("abc"))), DecodeStatus::kOk);
  const auto saved = context->save(kFirst);
  ASSERT_TRUE(saved.ok());
  EXPECT_TRUE(context->restore(kSecond, *saved).ok());
  EXPECT_TRUE(context->copy(kFirst, kSecond, {0, 3}));
  EXPECT_TRUE(context->positions(kSecond).empty());
}

}  // namespace
}  // namespace zerohop
