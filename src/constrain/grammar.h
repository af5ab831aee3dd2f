// A context-free grammar over terminals, each a set of non-empty texts given by a content
// automaton.
//
// Written by grammar_syntax.h or by hand, read by grammar_machine.h. Plain values; immutable once
// they are shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/content_automaton.h"
#include "constrain/regex_algebra.h"
#include "core/error.h"

namespace zerohop {

/// In one grammar. Returns are found by recursion over rules (grammar_returns.cc).
inline constexpr std::size_t kGrammarRulesMax = 10'000;

struct GrammarSymbol {
  enum class Kind : std::uint8_t { kTerminal, kRule };
  Kind kind = Kind::kTerminal;
  std::uint32_t index = 0;

  friend bool operator==(const GrammarSymbol&, const GrammarSymbol&) = default;
};

/// Its texts are not empty: whoever writes a grammar gives a rule an empty alternative instead.
struct GrammarTerminal {
  std::shared_ptr<ContentAutomaton> automaton;
  ContentAutomaton::Length length;  ///< which the automaton was made with
};

struct Grammar {
  using Sequence = std::vector<GrammarSymbol>;
  struct Rule {
    std::string name;
    std::vector<Sequence> alternatives;
  };
  std::vector<Rule> rules;
  std::vector<GrammarTerminal> terminals;
  std::uint32_t start = 0;  ///< a rule
};

inline GrammarSymbol terminal_symbol(std::uint32_t index) {
  return {GrammarSymbol::Kind::kTerminal, index};
}
inline GrammarSymbol rule_symbol(std::uint32_t index) {
  return {GrammarSymbol::Kind::kRule, index};
}

/// The terminal of a regular language's texts but the empty one; the error says that it needs more
/// than `states_max` states.
Result<GrammarTerminal> make_terminal(RegexPool& pool, RegexTerm term, std::size_t states_max);

/// Of each rule: whether some text is derived from it. Time: linear in the symbols.
std::vector<bool> productive_rules(const Grammar& grammar);

/// Whether some text is derived from `symbol`. `productive`: of the grammar's productive_rules().
bool has_text(const Grammar& grammar, const std::vector<bool>& productive,
              const GrammarSymbol& symbol);

}  // namespace zerohop
