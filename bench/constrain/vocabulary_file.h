// A vocabulary as a file of bytes, the same for every engine that is measured:
//
//   zerohop-vocabulary WIDTH COUNT END[,END...]\n
//   then for each of COUNT tokens: its length (two bytes, little-endian) and its bytes
//
// Tokens without bytes (special ones) have length 0. tools/dev/constrain_bench/vocabulary.py reads
// and writes the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/token.h"

namespace zerohop::bench {

struct Vocabulary {
  std::vector<std::string> bytes;  ///< by token
  std::vector<Token> end_tokens;
  std::size_t width = 0;  ///< of the logits
};

/// The error says what is wrong with the file.
Result<Vocabulary> read_vocabulary(const std::string& path);

/// False: the file cannot be written.
bool write_vocabulary(const Vocabulary& vocabulary, const std::string& path);

/// Of the model in the GGUF file `path`.
Result<Vocabulary> vocabulary_of_model(const std::string& path);

}  // namespace zerohop::bench
