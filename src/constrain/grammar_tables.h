// A grammar laid out for the machine: productive alternatives only, one flat array of symbols in
// which a position is a dotted rule.
//
//   start:  S · end        rule 0:  a · X · end      b · end
//   [0]     S  [1] end     [2] a  [3] X  [4] end   [5] b  [6] end
//
// Immutable after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/grammar.h"

namespace zerohop {

/// A place in front of a symbol of some alternative, or behind its last one.
using GrammarPosition = std::uint32_t;

class GrammarTables {
 public:
  enum class Symbol : std::uint8_t { kTerminal, kRule, kEnd };

  /// The error says that nothing can be derived, or what is too large.
  static Result<std::shared_ptr<const GrammarTables>> make(Grammar grammar);

  /// In front of the start rule.
  static constexpr GrammarPosition kStart = 0;

  Symbol symbol(GrammarPosition position) const { return symbols_[position]; }
  /// Of a terminal or rule.
  std::uint32_t index(GrammarPosition position) const { return indices_[position]; }
  /// Bytes of the shortest text from here to the end of the alternative, where each terminal is
  /// written with the fewest characters.
  std::uint32_t bytes(GrammarPosition position) const { return bytes_[position]; }
  /// Appends that text.
  void append_text(std::string& text, GrammarPosition position) const;

  std::size_t rules() const { return alternatives_.size(); }
  const std::vector<GrammarPosition>& alternatives(std::uint32_t rule) const {
    return alternatives_[rule];
  }
  bool nullable(std::uint32_t rule) const { return rule_bytes_[rule] == 0; }
  const std::vector<GrammarTerminal>& terminals() const { return terminals_; }
  /// With the automata of the terminals.
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  void lay_out(const Grammar& grammar, const std::vector<bool>& productive);
  void find_shortest();
  std::uint32_t sum(GrammarPosition position) const;
  std::size_t count_bytes() const;

  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint32_t> bytes_;
  std::vector<std::vector<GrammarPosition>> alternatives_;  // of each rule
  std::vector<GrammarPosition> shortest_;                   // alternative of each rule
  std::vector<std::uint32_t> rule_bytes_;                   // of each rule's shortest text
  std::vector<GrammarTerminal> terminals_;
  std::vector<std::string> terminal_texts_;  // the shortest of each
  std::size_t memory_bytes_ = 0;
};

}  // namespace zerohop
