// What turns texts into vectors: the served model, or another one that was loaded beside it
// (`embeddings.model`). Owned by its Tier, whose engine computes with it. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/token.h"
#include "engine/embedding_job.h"
#include "model/model.h"

namespace zerohop {

class EmbeddingModel {
 public:
  /// `own` makes the vectors; when it is null, `served` (which must outlive this) does, for texts
  /// that fit `options`, those of its context. Errors: kConfiguration (`own` makes no vectors).
  static Result<EmbeddingModel> create(const Model& served, std::unique_ptr<Model> own,
                                       const ContextOptions& options);

  const ModelInfo& info() const { return model_->info(); }
  /// Most tokens of one input, those around its text included.
  std::uint32_t window() const { return options_.window; }

  /// A text as tokens, with those that the vocabulary wants around it; names of special tokens in
  /// it are ordinary text. Errors: kInvalidRequest (nothing in it), kPromptTooLong.
  Result<std::vector<Token>> prepare_text(std::string_view text) const;
  /// Tokens that are the text; what the vocabulary wants around them is added where it lacks.
  /// Errors: kInvalidRequest (none, or not in the vocabulary), kPromptTooLong.
  Result<std::vector<Token>> prepare_tokens(std::vector<Token> tokens) const;

  /// What the engine needs; refers to the model, not to this.
  EmbeddingSupport support() const;

 private:
  EmbeddingModel(const Model& model, std::unique_ptr<Model> own, const ContextOptions& options)
      : own_(std::move(own)), model_(&model), options_(options) {}

  std::unique_ptr<Model> own_;  // null: the served model is used
  const Model* model_;
  ContextOptions options_;
};

/// Error: kInvalidRequest when one of `tokens` is not in the vocabulary of `model`.
Result<void> check_vocabulary(TokenSpan tokens, const ModelInfo& model);

}  // namespace zerohop
