// The shortest way from a place of a free text to one of its marks.
//
// Some marks are ends, behind which a text of their own follows; the others must not come. Writing
// the rest of an end is not always a way: with the end "<t" and "b<" that must not come, what is
// shortest behind "b" is " <t". So the way is looked for in the automaton of all marks.
//
// Immutable after construction; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "constrain/stop_automaton.h"

namespace zerohop {

class MarkWays {
 public:
  /// `behind[i]`: the text behind mark i of `marks`; nothing: it must not come. Marks that end at
  /// the same place are the first of them. Time: states times different bytes of the marks, some
  /// rounds.
  MarkWays(std::shared_ptr<const StopAutomaton> marks,
           std::vector<std::optional<std::string>> behind);

  /// An end can be reached from everywhere.
  bool never_stuck() const { return never_stuck_; }

  /// The shortest text from `state`, where no mark is complete, up to and with an end and what is
  /// behind it; of equally long ones always the same. Only where never_stuck().
  std::string from(StopAutomaton::State state) const;

 private:
  using State = StopAutomaton::State;
  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t cost(State state) const;
  bool shorten(std::span<const unsigned char> bytes);

  std::shared_ptr<const StopAutomaton> marks_;
  std::vector<std::optional<std::string>> behind_;
  std::vector<std::size_t> bytes_;   // of the way from each state; kNone: there is none
  std::vector<unsigned char> step_;  // its first byte
  bool never_stuck_ = true;
};

}  // namespace zerohop
