// How much one mask may take, whatever the constraint: a grammar may have thousands of readings at
// every place, a union thousands of alternatives, and a walk of the vocabulary makes a state of
// each for every node that is alive. What is bounded is work that the machine had to do for the
// first time, which is also what its tables grow by, and nodes that were looked at; never time, so
// that equal walks end at equal places.
//
// A walk that has used up its budget ends, and what it has found is legal but not all (one token at
// least: mask_walk.h). Usual masks take some hundredth of it (bench/constrain: 1.7 ms at most); one
// that uses it up takes some 50 ms.
//
// One owner (mask_walk.h); not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "constrain/constraint_machine.h"

namespace zerohop {

class WalkBudget {
 public:
  static constexpr std::uint64_t kWorkMax = 50'000;      ///< of ConstraintMachine::work()
  static constexpr std::uint64_t kNodesMax = 8'000'000;  ///< of tries
  /// What the tokens of one automaton cost beside the nodes that are looked at for them.
  static constexpr std::uint64_t kNodesOfContent = 20'000;

  /// For a walk with `machine`, which is followed to its end before the next one.
  void begin(const ConstraintMachine& machine) {
    nodes_ = 0;
    work_end_ = machine.work() + kWorkMax;
    spent_ = false;
  }

  /// One more node. True: the walk should end.
  bool take_node(const ConstraintMachine& machine) {
    if (++nodes_ % kNodesALook == 0) look(machine);
    return spent_;
  }
  /// Nodes that were looked at elsewhere.
  void take_nodes(std::size_t nodes) {
    nodes_ += nodes;
    spent_ = spent_ || nodes_ > kNodesMax;
  }
  bool spent() const { return spent_; }
  void look(const ConstraintMachine& machine) {
    spent_ = spent_ || nodes_ > kNodesMax || machine.work() > work_end_;
  }

 private:
  static constexpr std::uint64_t kNodesALook = 16;

  std::uint64_t nodes_ = 0;
  std::uint64_t work_end_ = 0;
  bool spent_ = false;
};

}  // namespace zerohop
