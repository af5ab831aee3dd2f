// What is measured: schemas with texts, one JSON object a line, and the results likewise.
//
//   {"set": "tools", "name": "...", "schema": "{...}",
//    "texts": [{"text": "...", "valid": true, "tokens": [1, 2]}]}
//
// A line with "tools": [{"name": "...", "parameters": "{...}"}] instead of "schema" is a set of
// tools, and its texts are calls.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/token.h"

namespace zerohop::bench {

struct CorpusText {
  std::string text;
  bool valid = false;         ///< what an independent validator says
  std::vector<Token> tokens;  ///< `text` in tokens of the vocabulary
};

struct CorpusTool {
  std::string name;
  std::string parameters;  ///< a JSON Schema
};

struct CorpusCase {
  std::string set;
  std::string name;
  std::string schema;
  std::vector<CorpusTool> tools;
  std::vector<CorpusText> texts;
};

Result<std::vector<CorpusCase>> read_corpus(const std::string& path);

}  // namespace zerohop::bench
