// `zerohop tokenize`.
#include <iostream>
#include <iterator>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "app/tokenize_text.h"

namespace zerohop {
namespace {

// Twice the largest request body; a text beyond it is a mistake, and tokens take four bytes each.
constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;

Result<std::string> read_text(const TokenizeOptions& options, std::istream& input) {
  if (options.text && *options.text != "-") return *options.text;
  std::string text;
  std::string chunk(std::size_t{64} << 10, '\0');
  while (input.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) ||
         input.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(input.gcount()));
    if (text.size() > kTextBytesMax) {
      return Error{ErrorCode::kInvalidRequest, "the text is longer than 64 MiB", {}, {}};
    }
  }
  return text;
}

Result<std::string> tokenize(const Config& config, const TokenizeOptions& options) {
  ZH_ASSIGN_OR_RETURN(const auto file, resolve_model(config.model.name, PullPolicy::kIfMissing));
  LlamaModelOptions model_options = llama_model_options(config.model, file);
  model_options.load = LlamaLoad::kTokenizerOnly;
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, load_llama_model(model_options));
  ZH_ASSIGN_OR_RETURN(const std::string text, read_text(options, std::cin));
  const Tokenizer& tokenizer = model->tokenizer();
  const std::vector<Token> tokens = tokenizer.tokenize(text, SpecialTokens::kInert);
  return tokenize_output(tokens, tokenizer.table(), options);
}

}  // namespace

int run_tokenize(const Config& config, const TokenizeOptions& options) {
  const auto output = tokenize(config, options);
  if (!output.ok()) return report_failure(output.error());
  std::cout << *output << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
