// A machine for JSON documents of a schema form.
//
// The problem: alternatives of a schema may differ late. Of
//
//   {"kind": "a", "value": integer}   or   {"kind": "b", "value": string}   or   {"kind": "a"}
//
// the text `{"kind":"a"` rules out the second one only. Trying one and going back is no way here:
// a byte that is allowed must stay right. So all alternatives that are still possible are followed
// at once. They all stand at the same lexical place, because JSON is read the same way whatever the
// schema says; what differs is how far each has come (json_progress.h) and what it lies in
// (json_stacks.h). A state is the lexical position and the interned stack of these sets
// (json_machine_parts.h draws the positions).
//
// A byte is allowed when some alternative survives it, and one survives only if it can still be
// finished: an array knows whether enough items can follow, an object whether its due properties
// can come, a counting one searches a way (path_search.h), a string asks its automaton, a number
// its language. Deep in the document, alternatives are narrowed to those that need no more
// containers than may be opened (json_shortest_nodes.cc). So a state other than the dead one always
// has a shortest end, which json_shortest.h measures.
//
// The trade: states differ by everything that may matter later (the names an object has used, the
// characters of a string with a bound), 200 to 300 bytes each; a table of successors (1 KB) is made
// only for those that are stepped on a few times. Measured on four usual tools: 5 ns for a byte
// that was stepped on before, 140 to 190 ns for the first time, 1 us to make a machine.
#include "constrain/json_machine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

using Lex = JsonPosition::Lex;
using White = JsonPosition::White;

// Steps from one state before it gets a row of all its successors.
constexpr std::uint32_t kStepsWithoutRow = 3;
constexpr MachineState kNotKnown = UINT32_MAX;

std::uint64_t hash_of(const JsonPosition& at) {
  std::uint64_t hash = static_cast<std::uint64_t>(at.lex);
  hash = hash << 8 | static_cast<std::uint64_t>(at.white);
  hash = hash << 8 | static_cast<std::uint64_t>(at.character.stage);
  hash = hash << 8 | at.character.digits;
  hash = hash_more(hash, static_cast<std::uint64_t>(at.character.value) << 32 | at.number);
  return hash_more(hash, static_cast<std::uint64_t>(at.text) << 32 | at.stack);
}

bool is_white(unsigned char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

bool spaced(const JsonMachineOptions& options) {
  return options.white_space == JsonMachineOptions::WhiteSpace::kSpaced;
}

JsonShortest::Options shortest_options(const JsonMachineOptions& options) {
  return {.comma = spaced(options) ? ", " : ",",
          .colon = spaced(options) ? ": " : ":",
          .depth_max = options.depth_max};
}

}  // namespace

std::unique_ptr<ConstraintMachine> make_json_machine(std::shared_ptr<const SchemaForm> form,
                                                     const JsonMachineOptions& options) {
  return std::make_unique<JsonMachine>(std::move(form), options);
}

bool json_machine_follows(std::shared_ptr<const SchemaForm> form,
                          const JsonMachineOptions& options) {
  return JsonMachine(std::move(form), options).follows();
}

JsonMachine::JsonMachine(std::shared_ptr<const SchemaForm> form, const JsonMachineOptions& options)
    : options_(options),
      forms_(std::move(form)),
      numbers_(texts_),
      progress_(forms_, texts_, options.key_order),
      shortest_({forms_, texts_, progress_, stacks_, numbers_}, shortest_options(options)),
      states_(1),
      rows_(1) {
  level_.add(kRootProgress, StackLink{});
  start_ = intern({.stack = stacks_.intern(kNoStack, 0, level_)});
}

std::unique_ptr<ConstraintMachine> JsonMachine::renew() const {
  return std::make_unique<JsonMachine>(forms_.shared(), options_);
}

MachineState JsonMachine::start() { return start_; }

// One budget for all places that count: a schema may have thousands of them.
bool JsonMachine::follows() {
  constexpr std::uint64_t kSearchCostMax = 100'000;
  progress_.bound_searches(kSearchCostMax);
  return shortest_.all_end_within(kShortestBytesMax) && progress_.search_budget_left() > 0;
}

MachineState JsonMachine::intern(const JsonPosition& position) {
  const std::uint64_t hash = hash_of(position);
  const std::uint32_t found =
      index_.find(hash, [&](std::uint32_t id) { return states_[id].position == position; });
  if (found != HashIndex::kNone) return found;
  const auto id = static_cast<MachineState>(states_.size());
  states_.push_back({.position = position});
  index_.insert(hash, id);
  return id;
}

MachineState JsonMachine::step(MachineState state, unsigned char byte) {
  if (const std::uint32_t row = states_[state].row; row != 0) {
    const MachineState known = rows_[row][byte];
    if (known != kNotKnown) return known;
  }
  return slow_step(state, byte);
}

MachineState JsonMachine::slow_step(MachineState state, unsigned char byte) {
  if (state == kDeadState) return kDeadState;
  const JsonPosition at = states_[state].position;
  work_ += stacks_.entries(at.stack).size();
  const Next found = next(at, byte);
  const MachineState behind = found ? intern(*found) : kDeadState;
  State& from = states_[state];
  if (from.row == 0 && ++from.steps > kStepsWithoutRow) {
    from.row = static_cast<std::uint32_t>(rows_.size());
    rows_.emplace_back().fill(kNotKnown);
  }
  if (from.row != 0) rows_[from.row][byte] = behind;
  return behind;
}

bool JsonMachine::accepting(MachineState state) {
  return state != kDeadState && accepts(states_[state].position);
}

bool JsonMachine::accepts(const JsonPosition& at) const {
  if (at.lex == Lex::kDone) return true;
  if (at.lex != Lex::kNumber || stacks_.outside(stacks_.outside(at.stack)) != kNoStack) {
    return false;
  }
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    if (number_ends(progress_[entry.progress])) return true;
  }
  return false;
}

std::size_t JsonMachine::memory_bytes() const {
  return sizeof(*this) + forms_.memory_bytes() + texts_.memory_bytes() + numbers_.memory_bytes() +
         progress_.memory_bytes() + stacks_.memory_bytes() + shortest_.memory_bytes() +
         states_.capacity() * sizeof(State) + index_.memory_bytes() + rows_.size() * sizeof(Row);
}

// --- What may follow.

JsonMachine::Next JsonMachine::next(const JsonPosition& at, unsigned char byte) {
  switch (at.lex) {
    case Lex::kString: return string(at, byte);
    case Lex::kKeyText: return key(at, byte);
    case Lex::kNumber: return number(at, byte);
    case Lex::kLiteral: return literal(at, byte);
    case Lex::kDone: return std::nullopt;
    default: break;
  }
  if (is_white(byte)) return white(at, byte);
  if (at.white == White::kMustBlank || at.white == White::kCarriage) return std::nullopt;
  switch (at.lex) {
    case Lex::kBegin:
    case Lex::kValue: return begin_value(at, byte);
    case Lex::kFirstItem: return byte == ']' ? close(at, byte) : begin_value(at, byte);
    case Lex::kFirstKey:
      if (byte == '}') return close(at, byte);
      [[fallthrough]];
    case Lex::kKey: return byte == '"' ? begin_key(at) : std::nullopt;
    case Lex::kColon:
      if (byte != ':') return std::nullopt;
      return JsonPosition{.lex = Lex::kValue,
                          .white = spaced(options_) ? White::kMustBlank : white_of(White::kBlank),
                          .stack = at.stack};
    case Lex::kAfter: return after(at, byte);
    default: return close(at, byte);
  }
}

// Optional white space, where there is any.
JsonMachine::White JsonMachine::white_of(White wanted) const {
  const bool free = options_.white_space == JsonMachineOptions::WhiteSpace::kFree;
  return free ? wanted : White::kNone;
}

std::uint32_t JsonMachine::indent(StackId stack) const {
  const std::uint64_t most = std::uint64_t{options_.indent_max} * stacks_.depth(stack);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, UINT32_MAX));
}

JsonMachine::Next JsonMachine::white(const JsonPosition& at, unsigned char byte) {
  JsonPosition behind = at;
  const bool breaks = at.white == White::kBreak || at.white == White::kBlankOrBreak;
  if (at.white == White::kIndent && (byte == ' ' || byte == '\t')) {
    if (at.number == 0) return std::nullopt;
    --behind.number;
    return behind;
  }
  if (byte == ' ' && (at.white == White::kBlank || at.white == White::kBlankOrBreak ||
                      at.white == White::kMustBlank)) {
    behind.white = White::kNone;
    return behind;
  }
  if (byte == '\r' && breaks) {
    behind.white = White::kCarriage;
  } else if (byte == '\n' && (breaks || at.white == White::kCarriage)) {
    behind.white = White::kIndent;
    behind.number = indent(at.stack);
  } else {
    return std::nullopt;
  }
  if (at.lex != Lex::kAfter) return behind;
  behind.lex = Lex::kBeforeClose;
  behind.stack =
      kept(at.stack, [&](ProgressId container) { return progress_.can_close(container); });
  if (behind.stack == kNoStack) return std::nullopt;
  return behind;
}

// The stack with those entries of its top level for which `keep`; kNoStack: none.
template <typename Keep>
StackId JsonMachine::kept(StackId stack, const Keep& keep) {
  const std::span<const StackEntry> entries = stacks_.entries(stack);
  std::size_t good = 0;
  level_.clear();
  for (const StackEntry& entry : entries) {
    if (!keep(entry.progress)) continue;
    ++good;
    level_.add(entry.progress, stacks_.links(entry));
  }
  if (good == entries.size()) return stack;
  if (good == 0) return kNoStack;
  return stacks_.replace_top(stack, level_);
}

bool JsonMachine::in_array(StackId stack) const {
  return progress_[stacks_.entry(stack, 0).progress].kind == Progress::Kind::kArray;
}

JsonMachine::Next JsonMachine::after(const JsonPosition& at, unsigned char byte) {
  if (byte == ',') return comma(at);
  return close(at, byte);
}

JsonMachine::Next JsonMachine::comma(const JsonPosition& at) {
  const bool array = in_array(at.stack);
  const StackId stack = kept(at.stack, [&](ProgressId container) {
    return array ? progress_.can_have_item(container) : progress_.can_have_key(container);
  });
  if (stack == kNoStack) return std::nullopt;
  return JsonPosition{
      .lex = array ? Lex::kValue : Lex::kKey,
      .white = spaced(options_) ? White::kMustBlank : white_of(White::kBlankOrBreak),
      .stack = stack};
}

}  // namespace zerohop
