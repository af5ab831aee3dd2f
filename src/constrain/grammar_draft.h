// A grammar text as it was written, before it is laid out: expressions over names.
//
// Made by grammar_parser.cc, turned into a Grammar by grammar_lowering.cc; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "constrain/grammar_syntax.h"
#include "constrain/regex_algebra.h"

namespace zerohop {

struct GrammarExpression {
  enum class Kind : std::uint8_t { kTerm, kName, kSequence, kChoice, kRepeat };
  static constexpr std::uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;  // of nothing: the empty text
  RegexTerm term = 0;
  std::uint32_t rule = 0;  // of a name
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::vector<GrammarExpression> parts;  // one of a repetition
};

struct GrammarDraft {
  struct Rule {
    std::string name;
    std::size_t at = 0;  // byte of the definition, or of the first use
    bool defined = false;
    bool terminal = false;  // a TERMINAL of Lark: nothing is ignored inside
    GrammarExpression body;
  };
  std::vector<Rule> rules;
  std::uint32_t start = 0;
  std::vector<GrammarExpression> ignored;
};

/// "line L, column C: " of a byte.
std::string grammar_place(std::string_view text, std::size_t at);

Result<GrammarDraft> parse_grammar_draft(RegexPool& pool, std::string_view text);

/// `text` is what the draft was read from, for places.
Result<GrammarText> lower_grammar(RegexPool& pool, GrammarDraft draft, std::string_view text);

}  // namespace zerohop
