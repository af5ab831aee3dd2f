#include "constrain/content_automaton.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "constrain/content_automaton_parts.h"

namespace zerohop {

std::uint32_t ContentAutomaton::Parts::symbol_of(char32_t code_point) const {
  if (code_point < ascii.size()) return ascii[code_point];
  const auto behind = std::upper_bound(segments.begin(), segments.end(), code_point);
  return segment_symbols[static_cast<std::size_t>(behind - segments.begin()) - 1];
}

std::uint32_t ContentAutomaton::Parts::target(std::uint32_t state, std::uint32_t symbol) const {
  const Row row = rows[state];
  if (row.dense) return entries[row.begin + symbol];
  std::uint32_t low = 0;
  std::uint32_t high = row.pairs;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (entries[row.begin + 2 * middle] < symbol) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = low < row.pairs && entries[row.begin + 2 * low] == symbol;
  return found ? entries[row.begin + 2 * low + 1] : kNoState;
}

std::vector<ContentAutomaton::Parts::Step> ContentAutomaton::Parts::steps(
    std::uint32_t state) const {
  const Row row = rows[state];
  std::vector<Step> found;
  if (row.dense) {
    for (std::uint32_t symbol = 0; symbol < symbols.size(); ++symbol) {
      const std::uint32_t next = entries[row.begin + symbol];
      if (next != kNoState) found.push_back({symbol, next});
    }
    return found;
  }
  for (std::uint32_t i = 0; i < row.pairs; ++i) {
    found.push_back({entries[row.begin + 2 * i], entries[row.begin + 2 * i + 1]});
  }
  return found;
}

ContentAutomaton::ContentAutomaton(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ContentAutomaton::~ContentAutomaton() = default;

bool ContentAutomaton::empty() const { return parts_->empty; }

std::uint32_t ContentAutomaton::start() const {
  ZH_CHECK(!parts_->empty);
  return 0;
}

std::uint32_t ContentAutomaton::step(std::uint32_t state, char32_t code_point) const {
  if (code_point >= 128 && !is_scalar_value(code_point)) return kNoState;
  return parts_->target(state, parts_->symbol_of(code_point));
}

bool ContentAutomaton::can_step(std::uint32_t state, std::uint32_t count, char32_t first,
                                char32_t last) const {
  const Parts& parts = *parts_;
  const auto behind = std::upper_bound(parts.segments.begin(), parts.segments.end(), first);
  std::size_t segment = static_cast<std::size_t>(behind - parts.segments.begin()) - 1;
  std::uint32_t looked_at = UINT32_MAX;
  for (; segment < parts.segments.size() && parts.segments[segment] <= last; ++segment) {
    const std::uint32_t symbol = std::exchange(looked_at, parts.segment_symbols[segment]);
    if (symbol == looked_at) continue;
    const char32_t from = std::max(first, parts.segments[segment]);
    const char32_t to = segment + 1 < parts.segments.size()
                            ? std::min<char32_t>(last, parts.segments[segment + 1] - 1)
                            : last;
    if (from >= kSurrogateFirst && to <= kSurrogateLast) {
      looked_at = UINT32_MAX;
      continue;
    }
    const std::uint32_t next = parts.target(state, looked_at);
    if (next != kNoState && live(next, count + 1)) return true;
  }
  return false;
}

bool ContentAutomaton::accepts(std::uint32_t state, std::uint32_t count) const {
  return parts_->accepting[state] != 0 && count >= parts_->length.min &&
         count <= parts_->length.max;
}

bool ContentAutomaton::live(std::uint32_t state, std::uint32_t count) const {
  const Length& length = parts_->length;
  if (count >= length.min) {
    if (length.max == kUnbounded) return true;
    return count <= length.max && parts_->lengths.shortest(state) <= length.max - count;
  }
  return parts_->lengths.first_in(state, length.min - count, characters_max(count)).has_value();
}

std::uint32_t ContentAutomaton::characters_max(std::uint32_t count) const {
  if (parts_->length.max == kUnbounded) return kUnbounded;
  return parts_->length.max > count ? parts_->length.max - count : 0;
}

std::uint32_t ContentAutomaton::characters_min(std::uint32_t state, std::uint32_t count) const {
  return parts_->lengths.endless(state) ? 0 : parts_->rest_min(count);
}

bool ContentAutomaton::open(std::uint32_t state) const {
  return !parts_->open.empty() && parts_->open[state] != 0;
}

bool ContentAutomaton::endless() const { return parts_->endless; }

bool ContentAutomaton::plain() const { return parts_->plain; }

std::optional<char32_t> ContentAutomaton::shortest_step(std::uint32_t state, std::uint32_t count,
                                                        const CodePointSet& wanted) const {
  const Parts& parts = *parts_;
  if (count >= parts.length.max) return std::nullopt;
  const std::uint32_t from = parts.rest_min(count + 1);
  const std::uint32_t to = characters_max(count + 1);
  std::uint32_t best_length = kUnbounded;
  std::optional<char32_t> best;
  for (const Parts::Step& step : parts.steps(state)) {
    const auto length = parts.lengths.first_in(step.target, from, to);
    if (!length || *length > best_length) continue;
    const CodePointSet members = parts.symbols[step.symbol] & wanted;
    if (members.empty()) continue;
    const char32_t letter = members.pick();
    if (best && *length == best_length && readability_rank(letter) >= readability_rank(*best)) {
      continue;
    }
    best = letter;
    best_length = *length;
  }
  return best;
}

std::uint32_t ContentAutomaton::shortest_length(std::uint32_t state, std::uint32_t count) const {
  const auto length =
      parts_->lengths.first_in(state, parts_->rest_min(count), characters_max(count));
  ZH_CHECK(length.has_value());
  return *length;
}

std::uint32_t ContentAutomaton::nearest_end(std::uint32_t state) const {
  return parts_->lengths.shortest(state);
}

std::uint32_t ContentAutomaton::nearest_end_max() const { return parts_->lengths.shortest_max(); }

bool ContentAutomaton::beyond_ascii(std::uint32_t state,
                                    std::vector<std::uint32_t>& targets) const {
  targets.clear();
  for (const std::uint32_t symbol : parts_->beyond_ascii) {
    const std::uint32_t next = parts_->target(state, symbol);
    if (next == kNoState) {
      targets.clear();
      return false;
    }
    if (std::find(targets.begin(), targets.end(), next) == targets.end()) targets.push_back(next);
  }
  return true;
}

std::u32string ContentAutomaton::shortest_end(std::uint32_t state, std::uint32_t count) const {
  const CodePointSet everything = CodePointSet::all();
  std::u32string word;
  while (!accepts(state, count)) {
    const auto letter = shortest_step(state, count, everything);
    ZH_CHECK(letter.has_value());
    word.push_back(*letter);
    state = step(state, *letter);
    ++count;
  }
  return word;
}

std::uint32_t ContentAutomaton::walk(std::u32string_view word) const {
  if (empty()) return kNoState;
  std::uint32_t state = start();
  std::uint32_t count = 0;
  for (const char32_t letter : word) {
    state = step(state, letter);
    if (state == kNoState || !live(state, ++count)) return kNoState;
  }
  return state;
}

bool ContentAutomaton::contains(std::u32string_view word) const {
  const std::uint32_t state = walk(word);
  return state != kNoState && accepts(state, static_cast<std::uint32_t>(word.size()));
}

std::size_t ContentAutomaton::states() const { return parts_->rows.size(); }

std::uint64_t ContentAutomaton::identity() const { return parts_->identity; }

std::size_t ContentAutomaton::memory_bytes() const {
  std::size_t bytes = sizeof(Parts) + parts_->lengths.memory_bytes();
  bytes += parts_->segments.size() * (sizeof(char32_t) + sizeof(std::uint32_t));
  bytes += parts_->rows.size() * (sizeof(Parts::Row) + 2);
  bytes += (parts_->entries.size() + parts_->beyond_ascii.size()) * sizeof(std::uint32_t);
  for (const CodePointSet& set : parts_->symbols) {
    bytes += sizeof(set) + set.ranges().size() * sizeof(CodePointRange);
  }
  return bytes;
}

}  // namespace zerohop
