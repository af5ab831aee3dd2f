#include "app/embedding_model.h"

#include <algorithm>
#include <optional>

namespace zerohop {
namespace {

// The window of a model of its own, which no key sets: enough for any that is usual.
constexpr std::uint32_t kWindowMax = 8192;
// A whole text is one step, during which every running answer pauses: 2,048 tokens take a model of
// 110 million parameters some seconds on two cores. The library also keeps room for logits of every
// token, whether the model has any or not.
constexpr std::uint64_t kWholeTextMax = 2048;
constexpr std::uint64_t kLogitBytesMax = std::uint64_t{512} << 20;

std::uint32_t own_window(const ModelInfo& info) {
  std::uint64_t window = kWindowMax;
  if (info.attention == AttentionType::kWholeText) {
    const std::uint64_t token_bytes = std::uint64_t{info.vocabulary} * sizeof(float);
    window = std::min(kWholeTextMax, kLogitBytesMax / std::max<std::uint64_t>(token_bytes, 1));
  }
  if (info.context_trained != 0) window = std::min<std::uint64_t>(window, info.context_trained);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(window, 1));
}

}  // namespace

Result<EmbeddingModel> EmbeddingModel::create(const Model& served, std::unique_ptr<Model> own,
                                              const ContextOptions& options) {
  if (own == nullptr) {
    const std::uint32_t window = options.window;
    return EmbeddingModel(served, nullptr, embedding_context_options(window, options.threads));
  }
  const Model& model = *own;
  const ModelInfo& info = model.info();
  if (info.pooling == PoolingType::kRank) {
    return Error{ErrorCode::kConfiguration,
                 "embeddings.model: '" + info.name + "' ranks pairs of texts and makes no vectors",
                 "",
                 {}};
  }
  return EmbeddingModel(
      model, std::move(own),
      embedding_context_options(own_window(info), options.threads, info.attention));
}

Result<void> check_vocabulary(TokenSpan tokens, const ModelInfo& model) {
  const auto vocabulary = static_cast<Token>(model.vocabulary);
  for (const Token token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    return invalid_request("prompt", "the token " + std::to_string(token) +
                                         " is not in the vocabulary of " +
                                         std::to_string(vocabulary) + " tokens");
  }
  return {};
}

Result<std::vector<Token>> EmbeddingModel::prepare_text(std::string_view text) const {
  return prepare_tokens(model_->tokenizer().tokenize(text, SpecialTokens::kInert));
}

Result<std::vector<Token>> EmbeddingModel::prepare_tokens(std::vector<Token> tokens) const {
  ZH_RETURN_IF_ERROR(check_vocabulary(tokens, info()));
  if (tokens.empty()) return invalid_request("prompt", "must not be empty");
  const std::optional<Token> begin = model_->tokenizer().begin_of_sequence();
  const std::optional<Token> end = model_->tokenizer().end_of_sequence();
  if (begin && tokens.front() != *begin) tokens.insert(tokens.begin(), *begin);
  if (end && tokens.back() != *end) tokens.push_back(*end);
  if (tokens.size() > window()) return prompt_too_long(tokens.size(), window());
  return tokens;
}

EmbeddingSupport EmbeddingModel::support() const {
  EmbeddingSupport support;
  support.make_context = [model = model_, options = options_] {
    return model->make_context(options);
  };
  support.pooling = info().pooling;
  support.window = options_.window;
  support.batch_rows = options_.batch_rows;
  support.attention = info().attention;
  return support;
}

}  // namespace zerohop
