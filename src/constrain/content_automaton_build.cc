// The tables of a content automaton.
#include <algorithm>
#include <unordered_map>

#include "base/random.h"
#include "constrain/content_automaton_parts.h"

namespace zerohop {

namespace {

using Edge = ContentTerms::Edge;

// Splits the code points into symbols: first into segments at the borders of all sets that occur,
// then segments are told apart set by set.
class SymbolFinder {
 public:
  SymbolFinder(const RegexPool& pool, const ContentTerms& terms) : pool_(pool) {
    for (const auto& edges : terms.edges) {
      for (const Edge& edge : edges) sets_.push_back(edge.set);
    }
    std::sort(sets_.begin(), sets_.end());
    sets_.erase(std::unique(sets_.begin(), sets_.end()), sets_.end());
    // Not by the numbers that the pool happened to give: equal languages get equal tables.
    std::sort(sets_.begin(), sets_.end(), [&](RegexPool::SetId a, RegexPool::SetId b) {
      const auto left = pool.set(a).ranges();
      const auto right = pool.set(b).ranges();
      return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                          [](const CodePointRange& x, const CodePointRange& y) {
                                            return x.first != y.first ? x.first < y.first
                                                                      : x.last < y.last;
                                          });
    });
    cut_segments();
    for (const RegexPool::SetId set : sets_) tell_apart(set);
  }

  std::vector<char32_t> segments;
  std::vector<std::uint32_t> symbols;  // of each segment
  std::uint32_t symbol_count = 1;

  std::vector<std::uint32_t> symbols_of(RegexPool::SetId set) const {
    std::vector<std::uint32_t> found;
    for (const CodePointRange& range : pool_.set(set).ranges()) {
      for (std::size_t i = segment_at(range.first);
           i < segments.size() && segments[i] <= range.last; ++i) {
        found.push_back(symbols[i]);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  void cut_segments() {
    segments.push_back(0);
    for (const RegexPool::SetId set : sets_) {
      for (const CodePointRange& range : pool_.set(set).ranges()) {
        segments.push_back(range.first);
        if (range.last < kCodePointMax) segments.push_back(range.last + 1);
      }
    }
    std::sort(segments.begin(), segments.end());
    segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
    symbols.assign(segments.size(), 0);
    members_.assign(1, segments.size());
  }

  // Members of the set leave their old symbol, unless all of it is in the set.
  void tell_apart(RegexPool::SetId set) {
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> inside;
    std::vector<std::uint32_t> order;
    for (const CodePointRange& range : pool_.set(set).ranges()) {
      for (std::size_t i = segment_at(range.first);
           i < segments.size() && segments[i] <= range.last; ++i) {
        auto& list = inside[symbols[i]];
        if (list.empty()) order.push_back(symbols[i]);
        list.push_back(i);
      }
    }
    for (const std::uint32_t symbol : order) {
      const auto& list = inside[symbol];
      if (list.size() == members_[symbol]) continue;
      members_[symbol] -= list.size();
      for (const std::size_t segment : list) symbols[segment] = symbol_count;
      members_.push_back(list.size());
      ++symbol_count;
    }
  }

  std::size_t segment_at(char32_t first) const {
    return static_cast<std::size_t>(std::lower_bound(segments.begin(), segments.end(), first) -
                                    segments.begin());
  }

  const RegexPool& pool_;
  std::vector<RegexPool::SetId> sets_;
  std::vector<std::size_t> members_;  // segments of each symbol
};

ContentGraph graph_of(const ContentTerms& terms) {
  ContentGraph graph{.edges_begin = {0}, .edges = {}, .accepting = terms.accepting};
  for (const auto& edges : terms.edges) {
    for (const Edge& edge : edges) graph.edges.push_back(edge.target);
    graph.edges_begin.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  }
  return graph;
}

}  // namespace

void ContentAutomaton::Parts::take_symbols(std::vector<char32_t> first,
                                           std::vector<std::uint32_t> of, std::size_t count) {
  segments = std::move(first);
  segment_symbols = std::move(of);
  std::vector<std::vector<CodePointRange>> ranges(count);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const char32_t last = i + 1 < segments.size() ? segments[i + 1] - 1 : kCodePointMax;
    ranges[segment_symbols[i]].push_back({segments[i], last});
  }
  for (auto& list : ranges) symbols.push_back(CodePointSet::of(std::move(list)));
  std::size_t segment = 0;
  for (char32_t letter = 0; letter < ascii.size(); ++letter) {
    while (segment + 1 < segments.size() && segments[segment + 1] <= letter) ++segment;
    ascii[letter] = segment_symbols[segment];
  }
}

void ContentAutomaton::Parts::add_row(std::vector<Step> steps) {
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.symbol < b.symbol; });
  Row row{.begin = static_cast<std::uint32_t>(entries.size())};
  if (2 * steps.size() >= symbols.size() || symbols.size() <= 8) {
    entries.resize(entries.size() + symbols.size(), kNoState);
    for (const Step& step : steps) entries[row.begin + step.symbol] = step.target;
  } else {
    row.pairs = static_cast<std::uint32_t>(steps.size());
    row.dense = false;
    for (const Step& step : steps) entries.insert(entries.end(), {step.symbol, step.target});
  }
  rows.push_back(row);
}

void ContentAutomaton::Parts::find_identity() {
  std::uint64_t sum = mix64(static_cast<std::uint64_t>(length.min) << 32 | length.max);
  sum = mix64(sum ^ rows.size());
  for (const std::uint32_t entry : entries) sum = mix64(sum ^ entry);
  for (const std::uint8_t accepts : accepting) sum = mix64(sum ^ accepts);
  for (const CodePointSet& set : symbols) sum = mix64(sum ^ set.hash());
  identity = sum;
}

// States that every character leads on from, then away with those of which one leads elsewhere.
void ContentAutomaton::Parts::find_open() {
  constexpr int kRounds = 16;  // a language that needs more is not worth the time
  const auto count = static_cast<std::uint32_t>(rows.size());
  endless = length.max == kUnbounded;
  for (std::uint32_t state = 0; endless && state < count; ++state) {
    endless = lengths.longest(state) == ContentLengths::kUnbounded;
  }
  if (!endless) return;
  std::vector<std::uint32_t> letters;  // symbols with a character that is no half of a pair
  for (std::uint32_t symbol = 0; symbol < symbols.size(); ++symbol) {
    const auto ranges = symbols[symbol].ranges();
    const bool halves = std::all_of(ranges.begin(), ranges.end(), [](const CodePointRange& range) {
      return range.first >= kSurrogateFirst && range.last <= kSurrogateLast;
    });
    if (!halves) letters.push_back(symbol);
  }
  open.assign(count, 0);
  for (std::uint32_t state = 0; state < count; ++state) open[state] = rows[state].dense ? 1 : 0;
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (std::uint32_t state = count; state-- > 0;) {
      if (open[state] == 0) continue;
      const std::uint32_t* row = entries.data() + rows[state].begin;
      const bool stays = std::all_of(letters.begin(), letters.end(), [&](std::uint32_t symbol) {
        return row[symbol] != kNoState && open[row[symbol]] != 0;
      });
      if (stays) continue;
      open[state] = 0;
      changed = true;
    }
  }
  if (changed) open.clear();
}

void ContentAutomaton::Parts::find_beyond_ascii() {
  const CodePointSet wanted{{0x80, kSurrogateFirst - 1}, {kSurrogateLast + 1, kCodePointMax}};
  for (std::uint32_t symbol = 0; symbol < symbols.size(); ++symbol) {
    if (!(symbols[symbol] & wanted).empty()) beyond_ascii.push_back(symbol);
  }
}

// Characters that read well are picked first (readability_rank), so a symbol with enough of those
// never gives another.
void ContentAutomaton::Parts::find_plain() {
  const CodePointSet rare{{0x7f, 0x7f}, {0x40000, 0xbffff}};
  const CodePointSet readable{{0x20, 0x7e}};
  plain = std::all_of(symbols.begin(), symbols.end(), [&](const CodePointSet& symbol) {
    return (symbol & rare).empty() || (symbol & readable).size() >= kPlainChoices;
  });
}

Result<std::shared_ptr<ContentAutomaton>> ContentAutomaton::make(RegexPool& pool, RegexTerm term,
                                                                 const Length& length,
                                                                 const Budget& budget) {
  const RegexPool::Counted counted = pool.split_length(term);
  if (pool.exhausted()) return invalid_request("", "it is too complex");
  auto parts = std::make_unique<Parts>();
  parts->length = {std::max(length.min, counted.min), std::min(length.max, counted.max)};
  ZH_ASSIGN_OR_RETURN(const ContentTerms terms,
                      explore_term(pool, counted.rest, budget.states_max));
  if (!terms.edges.empty() && parts->length.min <= parts->length.max) {
    auto lengths = ContentLengths::make(graph_of(terms), parts->length.min, parts->length.max);
    if (!lengths) return invalid_request("", "its lengths are too complex");
    parts->lengths = std::move(*lengths);
    if (parts->length.min <= parts->lengths.shortest(0)) parts->length.min = 0;
    parts->accepting = terms.accepting;
    SymbolFinder finder(pool, terms);
    std::unordered_map<RegexPool::SetId, std::vector<std::uint32_t>> symbols_of;
    parts->take_symbols(finder.segments, finder.symbols, finder.symbol_count);
    for (const auto& edges : terms.edges) {
      std::vector<Parts::Step> steps;
      for (const Edge& edge : edges) {
        const auto [entry, added] = symbols_of.try_emplace(edge.set);
        if (added) entry->second = finder.symbols_of(edge.set);
        for (const std::uint32_t symbol : entry->second) steps.push_back({symbol, edge.target});
      }
      parts->add_row(std::move(steps));
    }
    parts->find_identity();
    parts->find_open();
    parts->find_plain();
    parts->find_beyond_ascii();
    const auto shortest = parts->lengths.first_in(0, parts->rest_min(0), parts->length.max);
    if (shortest && *shortest > kShortestMax) {
      return invalid_request("",
                             "its shortest text has " + std::to_string(*shortest) + " characters");
    }
    parts->empty = !shortest;
  }
  return std::shared_ptr<ContentAutomaton>(new ContentAutomaton(std::move(parts)));
}

}  // namespace zerohop
