// Vectors of the real default model, made through the step loop. Without its file they fail.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine_harness.h"
#include "model/llama_test_model.h"

namespace zerohop {
namespace {

class EmbeddingsOfTheDefaultModel : public WithDefaultModel {
 protected:
  void SetUp() override {
    WithDefaultModel::SetUp();
    ASSERT_NE(model, nullptr);
    ContextOptions options = harness_context();
    EngineParts parts;
    parts.context = model->make_context(options).value();
    parts.tokens = &model->tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    const ContextOptions embedding = embedding_context_options(512, 1);
    parts.embedding = {[this, embedding] { return model->make_context(embedding); },
                       model->info().pooling, embedding.window, embedding.batch_rows};
    EngineOptions engine_options;
    engine_options.window = options.window;
    engine_options.batch_rows = options.batch_rows;
    engine_options.logit_rows = options.logit_rows;
    loop_ = std::make_unique<EngineLoop>(std::move(parts), std::move(engine_options));
  }
  void TearDown() override {
    if (!loop_) return;
    loop_->stop();
    loop_->fail_all();
  }

  Embeddings embed(const std::vector<std::string>& texts) {
    Embeddings embeddings;
    EmbeddingRequest request;
    for (const std::string& text : texts) request.inputs.push_back(tokens(text));
    request.on_done = [&embeddings](Result<Embeddings> result) {
      ASSERT_TRUE(result.ok()) << result.error().message;
      embeddings = std::move(result).value();
    };
    EXPECT_TRUE(loop_->submit_embedding(std::move(request)).ok());
    while (loop_->step()) {
    }
    return embeddings;
  }

 private:
  VirtualClock clock_;
  CountingWaker waker_;
  std::unique_ptr<EngineLoop> loop_;
};

TEST_F(EmbeddingsOfTheDefaultModel, HaveTheModelsWidthAndLengthOne) {
  const Embeddings made = embed({"The cat sleeps on the sofa.", "x"});
  ASSERT_EQ(made.vectors.size(), 2u);
  for (const std::vector<float>& vector : made.vectors) {
    EXPECT_EQ(vector.size(), model->info().embedding);
    EXPECT_NEAR(cosine(vector, vector), 1.0, 1e-5);
  }
}

TEST_F(EmbeddingsOfTheDefaultModel, AreTheSameForTheSameText) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "A long text is cut into several pieces, number ";
  const Embeddings alone = embed({text});
  ASSERT_GT(alone.tokens, 250u);
  const Embeddings beside = embed({"Something else first.", text, text});
  EXPECT_GT(cosine(alone.vectors[0], beside.vectors[1]), 0.9999);
  EXPECT_GT(cosine(alone.vectors[0], beside.vectors[2]), 0.9999);
}

TEST_F(EmbeddingsOfTheDefaultModel, AreCloserForSimilarTexts) {
  const Embeddings made = embed({
      "The cat is sleeping on the sofa in the living room.",
      "A kitten sleeps on the couch in the sitting room.",
      "def quicksort(xs): return xs if len(xs) < 2 else merge(split(xs))",
      "Interest rates rose by a quarter point, the central bank said on Thursday.",
  });
  const double similar = cosine(made.vectors[0], made.vectors[1]);
  EXPECT_GT(similar, cosine(made.vectors[0], made.vectors[2]) + 0.02);
  EXPECT_GT(similar, cosine(made.vectors[0], made.vectors[3]) + 0.02);
}

}  // namespace
}  // namespace zerohop
