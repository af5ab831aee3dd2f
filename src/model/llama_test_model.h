// The real default model, for the tests of this folder: loaded once per test program. Without its
// file the tests fail, because a skipped test tests nothing.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "model/default_model_path.h"
#include "model/llama_model.h"

namespace zerohop {

/// The default model; null, with a recorded failure, when it cannot be loaded.
inline Model* default_model() {
  static Result<std::unique_ptr<Model>>* loaded = [] {
    LlamaModelOptions options;
    options.path = default_model_path();
    return new Result<std::unique_ptr<Model>>(load_llama_model(options));
  }();
  if (loaded->ok()) return loaded->value().get();
  ADD_FAILURE() << "these tests need the default model: " << loaded->error().message;
  return nullptr;
}

/// A fixture whose `model` is the default model.
class WithDefaultModel : public testing::Test {
 protected:
  void SetUp() override {
    Model* loaded = default_model();
    ASSERT_NE(loaded, nullptr);
    model = loaded;
  }

  std::vector<Token> tokens(std::string_view text) const {
    return model->tokenizer().tokenize(text, SpecialTokens::kParse);
  }

  const Model* model = nullptr;
};

}  // namespace zerohop
