// Inside of content_automaton.h: its tables. Not for other users.
//
// All code points that no state tells apart are one symbol. A state's row is dense (a target for
// each symbol) where it has many targets, else a sorted list of (symbol, target).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "constrain/code_point_set.h"
#include "constrain/content_automaton.h"
#include "constrain/content_lengths.h"

namespace zerohop {

struct ContentAutomaton::Parts {
  struct Row {
    std::uint32_t begin = 0;  // in `entries`
    std::uint32_t pairs = 0;  // when not dense
    bool dense = true;
  };
  struct Step {
    std::uint32_t symbol = 0;
    std::uint32_t target = 0;
  };

  std::uint32_t symbol_of(char32_t code_point) const;
  std::uint32_t target(std::uint32_t state, std::uint32_t symbol) const;
  /// Sorted by symbol.
  std::vector<Step> steps(std::uint32_t state) const;
  /// The lengths that the rest of a word may have.
  std::uint32_t rest_min(std::uint32_t count) const {
    return length.min > count ? length.min - count : 0;
  }

  void take_symbols(std::vector<char32_t> first, std::vector<std::uint32_t> of, std::size_t count);
  void add_row(std::vector<Step> steps);
  void find_identity();
  void find_open();
  void find_plain();
  void find_beyond_ascii();

  Length length;
  bool empty = true;
  std::array<std::uint32_t, 128> ascii{};  // symbol of each ASCII character
  std::vector<char32_t> segments;          // first code points, ascending, the first one 0
  std::vector<std::uint32_t> segment_symbols;
  std::vector<CodePointSet> symbols;        // members of each symbol
  std::vector<std::uint32_t> beyond_ascii;  // symbols with a scalar value from U+0080 on
  std::vector<Row> rows;
  std::vector<std::uint32_t> entries;
  std::vector<std::uint8_t> accepting;
  ContentLengths lengths;
  std::uint64_t identity = 0;
  std::vector<std::uint8_t> open;  // of each state; empty: none
  bool endless = false;
  bool plain = false;
};

/// States of a language as terms: what the tables are made from.
struct ContentTerms {
  struct Edge {
    RegexPool::SetId set = 0;
    std::uint32_t target = 0;
  };
  std::vector<std::vector<Edge>> edges;
  std::vector<std::uint8_t> accepting;
};

/// All states of `term`, the first one its own, without those that do not reach acceptance; without
/// any when the language is empty. The error is the reason.
Result<ContentTerms> explore_term(RegexPool& pool, RegexTerm term, std::size_t states_max);

}  // namespace zerohop
