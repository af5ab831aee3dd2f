// Tokenizer over libllama's vocabulary. Owned by the LlamaModel whose vocabulary it reads;
// immutable after construction, any thread (llama_tokenize is thread-safe).
//
// Properties of the library that a caller may meet:
//  - Text that is not valid UTF-8 is repaired first (U+FFFD for each broken part): the library
//    throws on encodings of surrogates and of numbers above U+10FFFF.
//  - Bytes for which a vocabulary has no token vanish: in the default model six ASCII control
//    characters (04, 06, 13, 14, 16, 1d) and the first byte of U+40000 to U+BFFFF, where nothing is
//    assigned.
//  - SentencePiece vocabularies with `add_space_prefix` (Llama 2, Mistral 7B) treat the start of
//    every call, and every place after a special token, as the start of a word: "Paris" becomes
//    "▁Paris", whose bytes begin with a space. So text that is tokenised in pieces differs from the
//    same text in one piece at the joints, unless a piece follows a special token. Byte-level
//    vocabularies (GPT-2 style: the default model, Llama 3, Qwen) have no such effect.
//  - Tokens that a vocabulary marks "user defined" (runs of blanks in Gemma, "<tool_call>" in Qwen)
//    are found in text whatever SpecialTokens says; kInert protects against *control* tokens, the
//    ones that structure a conversation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/token_table.h"
#include "model/model.h"

struct llama_vocab;

namespace zerohop {

class LlamaTokenizer final : public Tokenizer {
 public:
  /// `vocab` must outlive this and have a vocabulary type. Reads all tokens: about 10 ms for 49k.
  explicit LlamaTokenizer(const llama_vocab* vocab);

  std::vector<Token> tokenize(std::string_view text, SpecialTokens special) const override;
  const TokenTable& table() const override { return table_; }
  std::optional<Token> begin_of_sequence() const override { return begin_of_sequence_; }
  std::optional<Token> end_of_sequence() const override { return end_of_sequence_; }

  /// Names of the tokens on which kParse and kInert differ: control and unknown tokens.
  const std::vector<std::string>& special_texts() const override { return special_texts_; }

 private:
  const llama_vocab* const vocab_;
  TokenTable table_;
  std::optional<Token> begin_of_sequence_;
  std::optional<Token> end_of_sequence_;
  std::vector<std::string> special_texts_;
};

}  // namespace zerohop
