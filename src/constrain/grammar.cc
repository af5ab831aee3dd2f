#include "constrain/grammar.h"

#include <algorithm>

namespace zerohop {
namespace {

bool has_text(const Grammar& grammar, const std::vector<bool>& productive,
              const Grammar::Sequence& sequence) {
  return std::all_of(sequence.begin(), sequence.end(), [&](const GrammarSymbol& symbol) {
    if (symbol.kind == GrammarSymbol::Kind::kRule) return bool{productive[symbol.index]};
    return !grammar.terminals[symbol.index].automaton->empty();
  });
}

}  // namespace

Result<GrammarTerminal> make_terminal(RegexPool& pool, RegexTerm term, std::size_t states_max) {
  const RegexPool::Counted counted = pool.split_length(term);
  ContentAutomaton::Length length{counted.min, counted.max};
  if (pool.nullable(term)) length.min = std::max(length.min, 1U);
  ZH_ASSIGN_OR_RETURN(auto automaton, ContentAutomaton::make(pool, counted.rest, length,
                                                             {.states_max = states_max}));
  return GrammarTerminal{std::move(automaton), length};
}

std::vector<bool> productive_rules(const Grammar& grammar) {
  // Where a rule is used, so that each becomes productive once and tells those alone.
  const std::size_t count = grammar.rules.size();
  std::vector<std::vector<std::uint32_t>> users(count);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t rule = 0; rule < count; ++rule) {
    for (const Grammar::Sequence& sequence : grammar.rules[rule].alternatives) {
      for (const GrammarSymbol& symbol : sequence) {
        if (symbol.kind == GrammarSymbol::Kind::kRule) users[symbol.index].push_back(rule);
      }
    }
    waiting.push_back(rule);
  }
  std::vector<bool> productive(count, false);
  while (!waiting.empty()) {
    const std::uint32_t rule = waiting.back();
    waiting.pop_back();
    if (productive[rule]) continue;
    const auto& alternatives = grammar.rules[rule].alternatives;
    productive[rule] = std::any_of(
        alternatives.begin(), alternatives.end(),
        [&](const Grammar::Sequence& sequence) { return has_text(grammar, productive, sequence); });
    if (productive[rule]) waiting.insert(waiting.end(), users[rule].begin(), users[rule].end());
  }
  return productive;
}

std::vector<bool> reachable_rules(const Grammar& grammar) {
  std::vector<bool> reachable(grammar.rules.size(), false);
  std::vector<std::uint32_t> waiting = {grammar.start};
  reachable[grammar.start] = true;
  while (!waiting.empty()) {
    const std::uint32_t rule = waiting.back();
    waiting.pop_back();
    for (const Grammar::Sequence& sequence : grammar.rules[rule].alternatives) {
      for (const GrammarSymbol& symbol : sequence) {
        if (symbol.kind != GrammarSymbol::Kind::kRule || reachable[symbol.index]) continue;
        reachable[symbol.index] = true;
        waiting.push_back(symbol.index);
      }
    }
  }
  return reachable;
}

}  // namespace zerohop
