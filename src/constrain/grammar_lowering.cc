// From expressions to rules of symbols. Whatever has no recursion and fits a small automaton
// becomes one terminal; the rest gets rules of its own:
//
//   x*  →  r: (nothing) | r x        x{2,4}  →  x x q2,  q2: (nothing) | x q1,  q1: (nothing) | x
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "constrain/grammar_draft.h"

namespace zerohop {
namespace {

using Expression = GrammarExpression;
using Kind = GrammarExpression::Kind;

// An automaton that is larger may be exponential in what was written; rules are not.
constexpr std::size_t kTerminalStatesMax = 2'000;
constexpr std::size_t kFoldedPartsMax = 2'000;
constexpr std::size_t kSymbolsMax = 200'000;

class Lowering {
 public:
  Lowering(RegexPool& pool, GrammarDraft draft, std::string_view text)
      : pool_(pool), draft_(std::move(draft)), text_(text), regular_(draft_.rules.size()) {}

  Result<GrammarText> run() {
    const std::size_t named = draft_.rules.size();
    if (!draft_.ignored.empty()) ignore();
    for (const GrammarDraft::Rule& rule : draft_.rules) {
      result_.grammar.rules.push_back({.name = rule.name, .alternatives = {}});
    }
    result_.grammar.start = draft_.start;
    for (std::uint32_t rule = 0; rule < draft_.rules.size(); ++rule) {
      result_.grammar.rules[rule].alternatives = alternatives(draft_.rules[rule].body);
      if (too_large_ || pool_.exhausted()) {
        return fault(draft_.rules[rule].at, "the grammar is too large at this rule");
      }
    }
    const std::vector<bool> productive = productive_rules(result_.grammar);
    const std::vector<bool> written = used();
    for (std::size_t rule = 0; rule < named; ++rule) {
      const GrammarDraft::Rule& draft = draft_.rules[rule];
      if (!productive[rule]) {
        return fault(draft.at, "no text can be derived from '" + draft.name + "'");
      }
      if (!written[rule]) result_.unused.push_back(draft.name);
    }
    return std::move(result_);
  }

 private:
  Error fault(std::size_t at, const std::string& what) const {
    return invalid_request({}, grammar_place(text_, at) + what);
  }

  // Of each rule as written: whether the start rule needs it. Folding hides names in terminals.
  std::vector<bool> used() const {
    std::vector<bool> seen(draft_.rules.size(), false);
    std::vector<const Expression*> waiting;
    const auto visit = [&](std::uint32_t rule) {
      if (seen[rule]) return;
      seen[rule] = true;
      waiting.push_back(&draft_.rules[rule].body);
    };
    visit(draft_.start);
    while (!waiting.empty()) {
      const Expression* expression = waiting.back();
      waiting.pop_back();
      if (expression->kind == Kind::kName) visit(expression->rule);
      for (const Expression& part : expression->parts) waiting.push_back(&part);
    }
    return seen;
  }

  // In rules, what is ignored may stand in front of each terminal, and at the end of the text.
  void ignore() {
    Expression choice{.kind = Kind::kChoice, .parts = draft_.ignored};
    Expression skip{.kind = Kind::kRepeat, .max = Expression::kUnbounded};
    skip.parts.push_back(std::move(choice));
    draft_.rules.push_back({.name = "%ignore", .defined = true, .terminal = true, .body = skip});
    const auto skip_rule = static_cast<std::uint32_t>(draft_.rules.size() - 1);
    const Expression skip_name{.kind = Kind::kName, .rule = skip_rule};
    for (GrammarDraft::Rule& rule : draft_.rules) {
      if (!rule.terminal) put_in_front(rule.body, skip_name);
    }
    Expression whole;
    whole.parts.push_back({.kind = Kind::kName, .rule = draft_.start});
    whole.parts.push_back(skip_name);
    const bool terminal = draft_.rules[draft_.start].terminal;
    if (terminal) whole.parts.insert(whole.parts.begin(), skip_name);
    draft_.rules.push_back({.name = "%start", .defined = true, .body = std::move(whole)});
    draft_.start = static_cast<std::uint32_t>(draft_.rules.size() - 1);
    regular_.resize(draft_.rules.size());
  }

  void put_in_front(Expression& expression, const Expression& skip) const {
    const bool terminal =
        expression.kind == Kind::kTerm ||
        (expression.kind == Kind::kName && draft_.rules[expression.rule].terminal);
    if (!terminal) {
      for (Expression& part : expression.parts) put_in_front(part, skip);
      return;
    }
    Expression both;
    both.parts.push_back(skip);
    both.parts.push_back(std::move(expression));
    expression = std::move(both);
  }

  struct Regular {
    enum class Progress : std::uint8_t { kNew, kOpen, kDone };
    Progress progress = Progress::kNew;
    std::optional<RegexTerm> term;
    std::size_t parts = 0;
  };

  // The expression as one regular language, if it is one without much ado. `parts` counts what it
  // is made of.
  std::optional<RegexTerm> term_of(const Expression& expression, std::size_t& parts) {
    if (++parts > kFoldedPartsMax) return std::nullopt;
    if (expression.kind == Kind::kTerm) return expression.term;
    if (expression.kind == Kind::kName) return term_of_rule(expression.rule, parts);
    std::vector<RegexTerm> terms;
    for (const Expression& part : expression.parts) {
      const std::optional<RegexTerm> term = term_of(part, parts);
      if (!term) return std::nullopt;
      terms.push_back(*term);
    }
    if (expression.kind == Kind::kChoice) return pool_.either_of(std::move(terms));
    if (expression.kind == Kind::kRepeat) {
      return pool_.repeat(terms.front(), expression.min, expression.max);
    }
    return pool_.concat_of(terms);
  }

  std::optional<RegexTerm> term_of_rule(std::uint32_t rule, std::size_t& parts) {
    Regular& known = regular_[rule];
    if (known.progress == Regular::Progress::kOpen) return std::nullopt;  // recursive
    if (known.progress == Regular::Progress::kNew) {
      known.progress = Regular::Progress::kOpen;
      known.term = term_of(draft_.rules[rule].body, known.parts);
      known.progress = Regular::Progress::kDone;
    }
    parts += known.parts;
    return parts > kFoldedPartsMax ? std::nullopt : known.term;
  }

  // The terminal of the expression, and whether it may also be empty; nothing where it has to be
  // written as rules.
  struct Folded {
    std::optional<std::uint32_t> terminal;
    bool nullable = false;
  };
  std::optional<Folded> fold(const Expression& expression) {
    std::size_t parts = 0;
    const std::optional<RegexTerm> term = term_of(expression, parts);
    if (!term || pool_.exhausted()) return std::nullopt;
    const auto [place, added] = terminals_.try_emplace(*term);
    Folded& folded = place->second;
    if (!added) return folded.terminal || folded.nullable ? std::optional(folded) : std::nullopt;
    auto made = make_terminal(pool_, *term, kTerminalStatesMax);
    if (!made.ok()) return std::nullopt;
    folded.nullable = pool_.nullable(*term);
    if (!made->automaton->empty() || !folded.nullable) {
      folded.terminal = static_cast<std::uint32_t>(result_.grammar.terminals.size());
      result_.grammar.terminals.push_back(std::move(made).value());
    }
    return folded;
  }

  std::vector<Grammar::Sequence> alternatives(const Expression& expression) {
    std::vector<Grammar::Sequence> result;
    if (const std::optional<Folded> folded = fold(expression)) {
      if (folded->terminal) result.push_back({terminal_symbol(*folded->terminal)});
      if (folded->nullable) result.emplace_back();
      return result;
    }
    if (expression.kind == Kind::kChoice) {
      for (const Expression& part : expression.parts) {
        std::vector<Grammar::Sequence> more = alternatives(part);
        std::move(more.begin(), more.end(), std::back_inserter(result));
      }
      return result;
    }
    result.emplace_back();
    append(result.front(), expression);
    return result;
  }

  void append(Grammar::Sequence& sequence, const Expression& expression) {
    if (too_large_) return;
    if (const std::optional<Folded> folded = fold(expression)) {
      if (folded->nullable) {
        if (folded->terminal) sequence.push_back(rule_for(expression));
      } else {
        push(sequence, terminal_symbol(*folded->terminal));
      }
      return;
    }
    switch (expression.kind) {
      case Kind::kName: push(sequence, rule_symbol(expression.rule)); return;
      case Kind::kSequence:
        for (const Expression& part : expression.parts) append(sequence, part);
        return;
      case Kind::kRepeat: repeat(sequence, expression); return;
      case Kind::kTerm: too_large_ = true; return;  // an automaton alone that does not fit
      case Kind::kChoice: push(sequence, rule_for(expression)); return;
    }
  }

  void push(Grammar::Sequence& sequence, GrammarSymbol symbol) {
    if (++symbols_ > kSymbolsMax) too_large_ = true;
    if (!too_large_) sequence.push_back(symbol);
  }

  GrammarSymbol rule_for(const Expression& expression) {
    const GrammarSymbol symbol = new_rule();
    std::vector<Grammar::Sequence> all = alternatives(expression);
    result_.grammar.rules[symbol.index].alternatives = std::move(all);
    return symbol;
  }

  GrammarSymbol new_rule() {
    if (result_.grammar.rules.size() >= kGrammarRulesMax) too_large_ = true;
    result_.grammar.rules.emplace_back();
    return rule_symbol(static_cast<std::uint32_t>(result_.grammar.rules.size() - 1));
  }

  void repeat(Grammar::Sequence& sequence, const Expression& expression) {
    const Expression& part = expression.parts.front();
    Grammar::Sequence one;
    append(one, part);
    if (one.size() != 1) {
      const GrammarSymbol symbol = new_rule();
      result_.grammar.rules[symbol.index].alternatives = {one};
      one = {symbol};
    }
    const GrammarSymbol item = one.front();
    for (std::uint32_t i = 0; i < expression.min && !too_large_; ++i) push(sequence, item);
    if (expression.max == Expression::kUnbounded) {
      const GrammarSymbol more = new_rule();
      result_.grammar.rules[more.index].alternatives = {{}, {more, item}};
      push(sequence, more);
      return;
    }
    std::optional<GrammarSymbol> rest;
    for (std::uint32_t i = expression.min; i < expression.max && !too_large_; ++i) {
      const GrammarSymbol more = new_rule();
      Grammar::Sequence longer = {item};
      if (rest) longer.push_back(*rest);
      result_.grammar.rules[more.index].alternatives = {{}, std::move(longer)};
      rest = more;
    }
    if (rest) push(sequence, *rest);
  }

  RegexPool& pool_;
  GrammarDraft draft_;
  std::string_view text_;
  GrammarText result_;
  std::vector<Regular> regular_;
  std::map<RegexTerm, Folded> terminals_;
  std::size_t symbols_ = 0;
  bool too_large_ = false;
};

}  // namespace

Result<GrammarText> lower_grammar(RegexPool& pool, GrammarDraft draft, std::string_view text) {
  return Lowering(pool, std::move(draft), text).run();
}

}  // namespace zerohop
