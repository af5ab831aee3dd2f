#include "model/llama_tokenizer.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "llama.h"

namespace zerohop {
namespace {

std::string token_bytes(const llama_vocab* vocab, Token token) {
  std::string bytes(32, '\0');
  const auto read = [&] {
    return llama_token_to_piece(vocab, token, bytes.data(), static_cast<int32_t>(bytes.size()), 0,
                                false);
  };
  int32_t size = read();
  if (size < 0) {
    bytes.resize(static_cast<std::size_t>(-size));
    size = read();
  }
  ZH_CHECK(size >= 0 && static_cast<std::size_t>(size) <= bytes.size());
  bytes.resize(static_cast<std::size_t>(size));
  return bytes;
}

bool differs_by_parsing(const llama_vocab* vocab, Token token) {
  constexpr unsigned kSpecial = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN;
  return (static_cast<unsigned>(llama_vocab_get_attr(vocab, token)) & kSpecial) != 0;
}

// As the library's own "add special": WordPiece texts end in [SEP], others in EOS where the file
// says so.
Token closing_token(const llama_vocab* vocab) {
  if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_WPM) return llama_vocab_sep(vocab);
  return llama_vocab_get_add_eos(vocab) ? llama_vocab_eos(vocab) : LLAMA_TOKEN_NULL;
}

}  // namespace

LlamaTokenizer::LlamaTokenizer(const llama_vocab* vocab) : vocab_(vocab) {
  const int32_t count = llama_vocab_n_tokens(vocab);
  for (Token token = 0; token < count; ++token) {
    const bool control = llama_vocab_is_control(vocab, token);
    table_.add(control ? std::string() : token_bytes(vocab, token), control,
               llama_vocab_is_eog(vocab, token));
    if (differs_by_parsing(vocab, token)) {
      const char* name = llama_vocab_get_text(vocab, token);
      if (name != nullptr && *name != '\0') special_texts_.emplace_back(name);
    }
  }
  std::sort(special_texts_.begin(), special_texts_.end(),
            [](const std::string& left, const std::string& right) {
              return left.size() != right.size() ? left.size() > right.size() : left < right;
            });
  special_texts_.erase(std::unique(special_texts_.begin(), special_texts_.end()),
                       special_texts_.end());
  const Token first = llama_vocab_bos(vocab);
  if (llama_vocab_get_add_bos(vocab) && table_.contains(first)) begin_of_sequence_ = first;
  const Token last = closing_token(vocab);
  if (table_.contains(last)) end_of_sequence_ = last;
}

std::vector<Token> LlamaTokenizer::tokenize(std::string_view text, SpecialTokens special) const {
  std::string repaired;
  if (!utf8_is_valid(text)) {
    repaired = utf8_replace_invalid(text);
    text = repaired;
  }
  if (text.empty()) return {};
  ZH_CHECK(text.size() < static_cast<std::size_t>(std::numeric_limits<int32_t>::max() / 2));

  // One token per byte, plus a prefixed blank, is the most that a vocabulary with byte tokens
  // needs.
  std::vector<Token> tokens(text.size() + 2);
  const auto run = [&] {
    return llama_tokenize(vocab_, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                          static_cast<int32_t>(tokens.size()), false,
                          special == SpecialTokens::kParse);
  };
  int32_t count = run();
  if (count < 0) {
    ZH_CHECK(count != std::numeric_limits<int32_t>::min());
    tokens.resize(static_cast<std::size_t>(-count));
    count = run();
  }
  ZH_CHECK(count >= 0 && static_cast<std::size_t>(count) <= tokens.size());
  tokens.resize(static_cast<std::size_t>(count));
  tokens.shrink_to_fit();
  return tokens;
}

}  // namespace zerohop
