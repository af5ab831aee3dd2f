// What a walk of a vocabulary has found out about an automaton's states (content_walk.h): where
// each ASCII byte leads, where most of them do, and of which bytes nothing dies. Made state by
// state when first asked for, and kept from one walk to the next.
//
// One owner; not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "constrain/constraint_machine.h"
#include "constrain/content_automaton.h"
#include "constrain/trie_summary.h"

namespace zerohop {

class ContentTables {
 public:
  /// In Row::next: what the byte means depends on the bytes behind it.
  static constexpr std::uint32_t kAsk = ContentAutomaton::kNoState - 2;

  struct Row {
    std::array<std::uint32_t, 128> next;  ///< by ASCII byte: a state, kNoState or kAsk
    std::uint32_t home = 0;               ///< where the bytes of `to_home` lead
    TrieSummary::ClassSet to_home = 0;    ///< classes of which all bytes do
    TrieSummary::ClassSet alive = 0;      ///< classes of which no byte dies
    std::uint32_t targets_begin = 0;      // in targets_
    std::uint32_t targets_end = 0;
    bool safe_known = false;
    TrieSummary::ClassSet safe = 0;  ///< whatever is made of these does not die; see safe_row()
    std::uint32_t safe_end = 0;      ///< the longest shortest end behind such; see safe_row()
  };

  /// Of texts in `coding`. The automaton, or one with the same identity(), is there whenever
  /// something is asked.
  ContentTables(const ContentAutomaton& automaton, TextCoding coding);

  /// From now on `automaton`, which has the identity() of the one before, is asked.
  void use(const ContentAutomaton& automaton) { automaton_ = &automaton; }

  /// Valid until the next call.
  Row& row(std::uint32_t state) {
    const std::uint32_t known = row_of_[state];
    return rows_[known != 0 ? known : make_row(state)];
  }
  /// The same with `safe` and `safe_end` filled in.
  const Row& safe_row(std::uint32_t state);

  /// Of the automaton.
  std::size_t states() const { return row_of_.size(); }
  /// States that were looked at.
  std::size_t rows() const { return rows_.size() - 1; }
  std::size_t memory_bytes() const;

 private:
  struct Target {
    std::uint32_t state = 0;
    unsigned bytes = 0;
    TrieSummary::ClassSet classes = 0;  // with a byte that leads there
  };

  std::uint32_t make_row(std::uint32_t state);
  void find_targets(std::uint32_t state, Row& row);
  void find_home(std::uint32_t state, Row& row) const;
  bool reach(std::uint32_t state, TrieSummary::ClassSet classes);

  const ContentAutomaton* automaton_;
  const TextCoding coding_;
  std::vector<std::uint32_t> row_of_;  // by state; 0: not made
  std::vector<Row> rows_;              // the first one is none
  std::vector<Target> targets_;
  std::vector<std::uint32_t> beyond_;   // scratch of find_targets()
  std::vector<std::uint32_t> reached_;  // by reach()
};

}  // namespace zerohop
