#include "constrain/grammar.h"

#include <algorithm>

namespace zerohop {
Result<GrammarTerminal> make_terminal(RegexPool& pool, RegexTerm term, std::size_t states_max) {
  const RegexPool::Counted counted = pool.split_length(term);
  ContentAutomaton::Length length{counted.min, counted.max};
  if (pool.nullable(term)) length.min = std::max(length.min, 1U);
  ZH_ASSIGN_OR_RETURN(auto automaton, ContentAutomaton::make(pool, counted.rest, length,
                                                             {.states_max = states_max}));
  return GrammarTerminal{std::move(automaton), length};
}

bool has_text(const Grammar& grammar, const std::vector<bool>& productive,
              const GrammarSymbol& symbol) {
  if (symbol.kind == GrammarSymbol::Kind::kRule) return productive[symbol.index];
  return !grammar.terminals[symbol.index].automaton->empty();
}

// Each alternative counts the symbols that have no text, as far as is known; a rule becomes
// productive once and tells the alternatives in which it stands, for each place there.
std::vector<bool> productive_rules(const Grammar& grammar) {
  struct Alternative {
    std::uint32_t rule = 0;
    std::size_t missing = 0;
  };
  std::vector<bool> productive(grammar.rules.size(), false);
  std::vector<Alternative> alternatives;
  std::vector<std::vector<std::size_t>> users(grammar.rules.size());  // alternatives, by rule
  std::vector<std::uint32_t> waiting;                                 // have an alternative
  for (std::uint32_t rule = 0; rule < grammar.rules.size(); ++rule) {
    for (const Grammar::Sequence& sequence : grammar.rules[rule].alternatives) {
      Alternative alternative{.rule = rule};
      for (const GrammarSymbol& symbol : sequence) {
        if (has_text(grammar, productive, symbol)) continue;
        ++alternative.missing;
        if (symbol.kind != GrammarSymbol::Kind::kRule) continue;
        users[symbol.index].push_back(alternatives.size());
      }
      if (alternative.missing == 0) waiting.push_back(rule);
      alternatives.push_back(alternative);
    }
  }
  while (!waiting.empty()) {
    const std::uint32_t rule = waiting.back();
    waiting.pop_back();
    if (productive[rule]) continue;
    productive[rule] = true;
    for (const std::size_t user : users[rule]) {
      Alternative& alternative = alternatives[user];
      if (--alternative.missing == 0) waiting.push_back(alternative.rule);
    }
  }
  return productive;
}

}  // namespace zerohop
