// Vectors of a model that looks at whole texts, beside a served one.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine_harness.h"
#include "model/llama_test_bert.h"

namespace zerohop {
namespace {

using Vector = std::vector<float>;

// A loop that serves the fake model and makes vectors with a tiny BERT.
class BertLoop {
 public:
  explicit BertLoop(const TestBert& bert, Exactness exactness = Exactness::kFast)
      : file_(bert), bert_(file_.load()), served_(make_fake_model({})) {
    const ContextOptions options = harness_context();
    const ContextOptions embedding =
        embedding_context_options(bert_->info().context_trained, 1, bert_->info().attention);
    EngineParts parts;
    parts.context = served_->make_context(options).value();
    parts.tokens = &served_->tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    parts.embedding.make_context = [this, embedding] { return bert_->make_context(embedding); };
    parts.embedding.pooling = bert_->info().pooling;
    parts.embedding.window = embedding.window;
    parts.embedding.batch_rows = embedding.batch_rows;
    parts.embedding.attention = bert_->info().attention;
    EngineOptions engine_options;
    engine_options.window = options.window;
    engine_options.batch_rows = options.batch_rows;
    engine_options.logit_rows = options.logit_rows;
    engine_options.exactness = exactness;
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(engine_options));
  }
  ~BertLoop() {
    loop_->stop();
    loop_->fail_all();
  }

  Result<std::vector<Vector>> embed(const std::vector<std::string>& texts) {
    std::optional<Result<Embeddings>> done;
    EmbeddingRequest request;
    for (const std::string& text : texts) {
      std::vector<Token> input{TestBert::kBegin};
      for (const Token token : bert_->tokenizer().tokenize(text, SpecialTokens::kInert)) {
        input.push_back(token);
      }
      input.push_back(TestBert::kEnd);
      request.inputs.push_back(std::move(input));
    }
    request.on_done = [&done](Result<Embeddings> result) { done = std::move(result); };
    ZH_RETURN_IF_ERROR(loop_->submit_embedding(std::move(request)));
    while (loop_->step()) {
    }
    ZH_CHECK(done.has_value());
    if (!done->ok()) return done->error();
    return (*done)->vectors;
  }

 private:
  const TestBertFile file_;
  const std::unique_ptr<Model> bert_;
  const std::unique_ptr<Model> served_;
  VirtualClock clock_;
  CountingWaker waker_;
  std::unique_ptr<EngineLoop> loop_;
};

// Of every length up to the longest that fits, two tokens around the text included. Neighbours have
// different letters.
std::vector<std::string> texts_of_every_length(std::uint32_t tokens_max) {
  std::vector<std::string> texts;
  for (std::uint32_t length = 1; length + 2 <= tokens_max; ++length) {
    const char letters[]{static_cast<char>('a' + length % 26),
                         static_cast<char>('a' + length * 7 % 26)};
    std::string text;
    while (text.size() < length) text.push_back(letters[text.size() % 2]);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(EmbeddingsOfAnEncoder, AreTheSameTogetherAndAloneWhateverThePooling) {
  for (const PoolingType pooling : {PoolingType::kMean, PoolingType::kFirst, PoolingType::kLast}) {
    BertLoop loop({.pooling = pooling});
    const std::vector<std::string> texts = texts_of_every_length(48);
    const auto together = loop.embed(texts);
    ASSERT_TRUE(together.ok());
    ASSERT_EQ(together->size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Vector& vector = (*together)[i];
      ASSERT_EQ(vector.size(), TestBert::kWidth);
      EXPECT_NEAR(cosine(vector, vector), 1.0, 1e-5);
      const auto alone = loop.embed({texts[i]});
      ASSERT_TRUE(alone.ok());
      for (std::size_t d = 0; d < vector.size(); ++d) EXPECT_NEAR((*alone)[0][d], vector[d], 1e-4);
      if (i == 0) continue;
      EXPECT_LT(cosine(vector, (*together)[i - 1]), 0.999) << "of different texts";
    }
  }
}

TEST(EmbeddingsOfAnEncoder, AreTheSameInExactMode) {
  BertLoop fast({});
  BertLoop exact({}, Exactness::kExact);
  const std::vector<std::string> texts = texts_of_every_length(48);
  const auto expected = fast.embed(texts);
  const auto made = exact.embed(texts);
  ASSERT_TRUE(expected.ok() && made.ok());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_GT(cosine((*made)[i], (*expected)[i]), 0.9999);
  }
}

TEST(EmbeddingsOfAnEncoder, RefuseAnInputThatDoesNotFitItsBatch) {
  BertLoop loop({});
  EXPECT_TRUE(loop.embed({std::string(46, 'a')}).ok());
  const auto refused = loop.embed({"a", std::string(47, 'a')});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(refused.error().field, "input[1]");
}

}  // namespace
}  // namespace zerohop
