// A constraint machine for any context-free grammar, for a regular expression, and for a list of
// texts.
//
// Problem: a grammar may be ambiguous and recursive on either side, its texts are deep, and each
// state must say exactly which bytes lead on. Method: Earley's algorithm with shared returns.
//
//   item     a dotted rule, the place inside the terminal in front of the dot's next symbol if it
//            has begun, and where to go when the rule is done: a return
//   return   a set of items to go on with, each with its own return: what an Earley set is asked
//            for when a rule that began there is complete. Equal returns are one. A rule that
//            stands last in the one place that waits for it hands on its caller's return, so right
//            recursion does not grow
//   state    the set of items behind a byte, interned: two texts with the same items are in one
//            state, and the step of a known state is a look-up
//
// Example, list: item | list "," item: behind "1,2," and behind "1," stands one state.
//
// Only productive rules and terminals are kept, so every item of a state can be finished, and a
// state without items is the dead one.
//
// Bounds. An ambiguous grammar may have ever more readings of a growing text. Of the items that
// stand behind a byte a state keeps kReadingsMax at most, those that can end first; what lies
// beyond is left out, which forbids texts but allows none, and the items that are kept can be
// finished. So the promise of constraint_machine.h holds. A shortest end stays a way to the end,
// unless more than kReadingsMax readings end as early (ConstraintSession::closing_tokens() knows).
// What closing adds to these items is not cut.
//
// shortest_end() is shortest in bytes among texts whose terminals are each written with the fewest
// characters.
//
// Rules, symbols and terminals are bounded when the machine is made. One thread, as the contract
// says.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/constraint_machine.h"
#include "constrain/grammar.h"
#include "core/error.h"

namespace zerohop {

inline constexpr std::size_t kReadingsMax = 2'000;

/// Texts of the grammar, in UTF-8. The error says what is too large, or that there are none.
Result<std::unique_ptr<ConstraintMachine>> make_grammar_machine(Grammar grammar);

/// Texts that the ECMA-262 pattern matches as a whole.
Result<std::unique_ptr<ConstraintMachine>> make_regex_machine(std::string_view pattern);

/// One of the texts, exactly. They are valid UTF-8 and not empty; at least one.
Result<std::unique_ptr<ConstraintMachine>> make_choice_machine(
    const std::vector<std::string>& texts);

}  // namespace zerohop
