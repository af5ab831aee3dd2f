#include "model/fake_model.h"

#include <algorithm>

#include "model/fake_context.h"
#include "model/fake_text.h"

namespace zerohop {
namespace {

class FakeModel final : public Model {
 public:
  explicit FakeModel(const FakeModelOptions& options)
      : options_(options), template_(options.template_skills) {
    info_.name = options.name;
    info_.description = "deterministic fake";
    info_.architecture = "fake";
    info_.vocabulary = static_cast<std::uint32_t>(tokenizer_.table().size());
    info_.embedding = 8;
    info_.pooling = options.pooling;
    info_.context_trained = options.context_trained;
    info_.kv_bytes_per_cell = kFakeCellBytes;
  }

  const ModelInfo& info() const override { return info_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  const ChatTemplate& chat_template() const override { return template_; }

  Result<std::unique_ptr<ModelContext>> make_context(const ContextOptions& options) const override {
    if (options.sequences == 0 || options.window == 0 || options.batch_rows == 0) {
      return Error{
          ErrorCode::kConfiguration, "a context needs sequences, a window and rows", "", {}};
    }
    return std::unique_ptr<ModelContext>(
        std::make_unique<FakeContext>(options_, tokenizer_.table(), options));
  }

 private:
  const FakeModelOptions options_;
  const FakeTokenizer tokenizer_;
  const FakeChatTemplate template_;
  ModelInfo info_;
};

}  // namespace

std::unique_ptr<Model> make_fake_model(const FakeModelOptions& options) {
  return std::make_unique<FakeModel>(options);
}

FakeScript fake_reply(const Model& model, std::string reply) {
  const Tokenizer& tokenizer = model.tokenizer();
  std::vector<Token> marker = tokenizer.tokenize("<|im_start|>assistant\n", SpecialTokens::kParse);
  std::vector<Token> answer = tokenizer.tokenize(reply, SpecialTokens::kInert);
  answer.push_back(FakeTokens::kEnd);
  return [marker, answer](TokenSpan tokens) -> std::optional<Token> {
    const auto found = std::find_end(tokens.begin(), tokens.end(), marker.begin(), marker.end());
    if (found == tokens.end()) return std::nullopt;
    const auto said = static_cast<std::size_t>(tokens.end() - found) - marker.size();
    return answer[std::min(said, answer.size() - 1)];
  };
}

}  // namespace zerohop
