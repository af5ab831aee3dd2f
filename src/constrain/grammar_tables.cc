#include "constrain/grammar_tables.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"
#include "constrain/content_coding.h"

namespace zerohop {
namespace {

constexpr std::size_t kPositionsMax = 500'000;
constexpr std::uint32_t kBytesMax = 1 << 20;  // of the shortest text of any rule
constexpr std::uint32_t kUnknown = UINT32_MAX;

Error too_large(const std::string& what) {
  return invalid_request({}, "the grammar is too large: " + what);
}

}  // namespace

Result<std::shared_ptr<const GrammarTables>> GrammarTables::make(Grammar grammar) {
  if (grammar.rules.size() > kGrammarRulesMax) {
    return too_large("more than " + std::to_string(kGrammarRulesMax) + " rules");
  }
  std::size_t positions = 2;
  for (const Grammar::Rule& rule : grammar.rules) {
    for (const Grammar::Sequence& sequence : rule.alternatives) positions += sequence.size() + 1;
  }
  if (positions > kPositionsMax) {
    return too_large("more than " + std::to_string(kPositionsMax) + " symbols");
  }
  const std::vector<bool> productive = productive_rules(grammar);
  if (!productive[grammar.start]) {
    return invalid_request({}, "no text can be derived from the grammar's start rule");
  }
  auto tables = std::make_shared<GrammarTables>();
  tables->lay_out(grammar, productive);
  tables->find_shortest();
  for (const std::uint32_t bytes : tables->bytes_) {
    if (bytes > kBytesMax) return too_large("the shortest text of a rule has more than 1 MiB");
  }
  tables->memory_bytes_ = tables->count_bytes();
  return std::shared_ptr<const GrammarTables>(std::move(tables));
}

void GrammarTables::lay_out(const Grammar& grammar, const std::vector<bool>& productive) {
  const auto push = [&](Symbol symbol, std::uint32_t index) {
    symbols_.push_back(symbol);
    indices_.push_back(index);
  };
  const auto live = [&](const GrammarSymbol& symbol) {
    return has_text(grammar, productive, symbol);
  };
  push(Symbol::kRule, grammar.start);
  push(Symbol::kEnd, 0);
  alternatives_.resize(grammar.rules.size());
  for (std::size_t rule = 0; rule < grammar.rules.size(); ++rule) {
    for (const Grammar::Sequence& sequence : grammar.rules[rule].alternatives) {
      if (!std::all_of(sequence.begin(), sequence.end(), live)) continue;
      alternatives_[rule].push_back(static_cast<GrammarPosition>(symbols_.size()));
      for (const GrammarSymbol& symbol : sequence) {
        const bool is_rule = symbol.kind == GrammarSymbol::Kind::kRule;
        push(is_rule ? Symbol::kRule : Symbol::kTerminal, symbol.index);
      }
      push(Symbol::kEnd, static_cast<std::uint32_t>(rule));
    }
  }
  terminals_ = grammar.terminals;
  for (const GrammarTerminal& terminal : terminals_) {
    std::string text;
    if (!terminal.automaton->empty()) {
      const ContentDecoder decoder(*terminal.automaton, TextCoding::kUtf8);
      text = decoder.shortest_end(decoder.start());
      ZH_CHECK(!text.empty());  // nullable() relies on it
    }
    terminal_texts_.push_back(std::move(text));
  }
}

// Bytes from `position` on when all its rules are known; at most just over kBytesMax.
std::uint32_t GrammarTables::sum(GrammarPosition position) const {
  std::uint64_t total = 0;
  for (; symbols_[position] != Symbol::kEnd; ++position) {
    const std::uint32_t index = indices_[position];
    total += symbols_[position] == Symbol::kTerminal ? terminal_texts_[index].size()
                                                     : rule_bytes_[index];
    total = std::min<std::uint64_t>(total, kBytesMax + 1);
  }
  return static_cast<std::uint32_t>(total);
}

// Knuth's generalisation of Dijkstra's algorithm: rules are settled in the order of their length,
// so a shortest text is made of rules that were settled before, and never of itself.
void GrammarTables::find_shortest() {
  bytes_.assign(symbols_.size(), 0);
  rule_bytes_.assign(alternatives_.size(), kUnknown);
  shortest_.assign(alternatives_.size(), kUnknown);
  struct User {
    std::uint32_t rule;
    GrammarPosition alternative;
  };
  std::vector<std::vector<User>> users(alternatives_.size());
  std::vector<std::uint32_t> missing(symbols_.size(), 0);  // unsettled symbols of an alternative
  using Entry = std::pair<std::uint32_t, std::pair<std::uint32_t, GrammarPosition>>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (std::uint32_t rule = 0; rule < alternatives_.size(); ++rule) {
    for (const GrammarPosition start : alternatives_[rule]) {
      for (GrammarPosition at = start; symbols_[at] != Symbol::kEnd; ++at) {
        if (symbols_[at] != Symbol::kRule) continue;
        users[indices_[at]].push_back({rule, start});
        ++missing[start];
      }
      if (missing[start] == 0) queue.push({sum(start), {rule, start}});
    }
  }
  while (!queue.empty()) {
    const auto [bytes, alternative] = queue.top();
    queue.pop();
    const auto [rule, start] = alternative;
    if (shortest_[rule] != kUnknown) continue;
    shortest_[rule] = start;
    rule_bytes_[rule] = bytes;
    for (const User& user : users[rule]) {
      if (--missing[user.alternative] == 0) {
        queue.push({sum(user.alternative), {user.rule, user.alternative}});
      }
    }
  }
  for (GrammarPosition at = static_cast<GrammarPosition>(symbols_.size()); at-- > 0;) {
    if (symbols_[at] == Symbol::kEnd) {
      bytes_[at] = 0;
      continue;
    }
    const std::uint32_t index = indices_[at];
    const std::uint64_t own =
        symbols_[at] == Symbol::kTerminal ? terminal_texts_[index].size() : rule_bytes_[index];
    bytes_[at] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(own + bytes_[at + 1], kBytesMax + 1));
  }
}

std::size_t GrammarTables::count_bytes() const {
  std::size_t bytes = sizeof(*this);
  bytes += symbols_.size() * (sizeof(Symbol) + sizeof(indices_[0]) + sizeof(bytes_[0]));
  bytes += alternatives_.size() * (sizeof(alternatives_[0]) + 2 * sizeof(std::uint32_t));
  for (const auto& alternatives : alternatives_) {
    bytes += alternatives.size() * sizeof(GrammarPosition);
  }
  for (std::size_t i = 0; i < terminals_.size(); ++i) {
    bytes += sizeof(GrammarTerminal) + terminals_[i].automaton->memory_bytes();
    bytes += sizeof(std::string) + terminal_texts_[i].size();
  }
  return bytes;
}

void GrammarTables::append_text(std::string& text, GrammarPosition position) const {
  std::vector<GrammarPosition> open = {position};
  while (!open.empty()) {
    GrammarPosition& at = open.back();
    if (symbols_[at] == Symbol::kEnd) {
      open.pop_back();
      continue;
    }
    const Symbol symbol = symbols_[at];
    const std::uint32_t index = indices_[at++];
    if (symbol == Symbol::kTerminal) {
      text += terminal_texts_[index];
    } else {
      open.push_back(shortest_[index]);
    }
  }
}

}  // namespace zerohop
