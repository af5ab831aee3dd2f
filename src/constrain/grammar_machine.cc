#include "constrain/grammar_machine.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "base/utf8.h"
#include "constrain/grammar_lexicon.h"
#include "constrain/grammar_returns.h"
#include "constrain/grammar_tables.h"
#include "constrain/regex_syntax.h"

namespace zerohop {
namespace {

using Symbol = GrammarTables::Symbol;

// In front of `position`, or inside the terminal there.
struct Item {
  static constexpr std::uint32_t kNoPlace = UINT32_MAX;
  GrammarPosition position = 0;
  std::uint32_t place = kNoPlace;
  GrammarReturn back = 0;
  friend auto operator<=>(const Item&, const Item&) = default;
};

std::uint64_t hash_of(const std::vector<Item>& items) {
  std::uint64_t hash = items.size();
  for (const Item& item : items) {
    const std::uint64_t word = (std::uint64_t{item.position} << 32) | item.place;
    hash = mix64(hash ^ mix64(word ^ (std::uint64_t{item.back} << 17)));
  }
  return hash;
}

class GrammarMachine final : public ConstraintMachine {
 public:
  explicit GrammarMachine(std::shared_ptr<const GrammarTables> tables);

  MachineState start() override { return kStartState; }
  MachineState step(MachineState state, unsigned char byte) override;
  bool accepting(MachineState state) override { return closed(state).accepting; }
  std::string shortest_end(MachineState state) override;
  std::size_t shortest_end_bytes(MachineState state) override { return closed(state).end_bytes; }
  std::string forced(MachineState state, std::size_t bytes_max) override;
  std::bitset<256> first_bytes(MachineState state) override;
  std::uint64_t work() const override { return work_; }
  std::size_t memory_bytes() const override;
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<GrammarMachine>(tables_);
  }

 private:
  static constexpr MachineState kStartState = 1;
  static constexpr int kUnknown = -2, kOpen = -1;

  struct State {
    std::vector<Item> kernel;  // behind the byte that led here; sorted
    std::vector<Item> active;  // what may read the next byte; once closed
    bool closed = false;
    bool accepting = false;
    std::uint32_t end_bytes = 0;
    std::uint32_t best = 0;  // of `active`: the one that ends first
    int forced = kUnknown;   // the only byte that leads on, or kOpen
  };

  // A state being closed: its items, each once, and the rules that they wait for.
  struct Closure {
    std::vector<GrammarFrame> items;
    std::unordered_set<std::uint64_t> seen;
    std::vector<GrammarReturns::Waiting> waiting;
    std::unordered_map<std::uint32_t, std::size_t> by_rule;  // index into waiting
  };

  const State& closed(MachineState state);
  void close(State& state);
  void add(Closure& closure, const GrammarFrame& frame);
  void predict(Closure& closure, const GrammarFrame& frame);
  void activate(State& state, const Closure& closure);
  void measure(State& state);
  std::uint64_t end_bytes_of(const Item& item) const;
  void keep_readings(std::vector<Item>& items) const;
  MachineState intern(std::vector<Item> kernel);
  int only_byte(MachineState state);

  std::shared_ptr<const GrammarTables> tables_;
  GrammarLexicon lexicon_;
  GrammarReturns returns_;
  std::vector<State> states_;
  std::unordered_multimap<std::uint64_t, MachineState> by_hash_;
  std::unordered_map<std::uint64_t, MachineState> steps_;  // state × 256 + byte
  std::size_t items_ = 0;                                  // of all states
  std::uint64_t work_ = 0;                                 // items that were looked at
};

GrammarMachine::GrammarMachine(std::shared_ptr<const GrammarTables> tables)
    : tables_(std::move(tables)), lexicon_(tables_->terminals()), returns_(*tables_) {
  states_.resize(1);  // the dead one
  const MachineState start = intern({{.position = GrammarTables::kStart}});
  ZH_CHECK(start == kStartState);
}

MachineState GrammarMachine::intern(std::vector<Item> kernel) {
  const std::uint64_t hash = hash_of(kernel);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (states_[it->second].kernel == kernel) return it->second;
  }
  const auto id = static_cast<MachineState>(states_.size());
  items_ += kernel.size();
  states_.push_back({.kernel = std::move(kernel)});
  by_hash_.emplace(hash, id);
  return id;
}

const GrammarMachine::State& GrammarMachine::closed(MachineState state) {
  ZH_DCHECK(state != kDeadState && state < states_.size());
  if (!states_[state].closed) close(states_[state]);
  return states_[state];
}

void GrammarMachine::add(Closure& closure, const GrammarFrame& frame) {
  const std::uint64_t key = (std::uint64_t{frame.position} << 32) | frame.back;
  if (closure.seen.insert(key).second) closure.items.push_back(frame);
}

// The item waits for a rule: its alternatives begin here, and if it may be empty the item goes on.
void GrammarMachine::predict(Closure& closure, const GrammarFrame& frame) {
  const std::uint32_t rule = tables_->index(frame.position);
  const GrammarFrame behind{frame.position + 1, frame.back};
  const auto [place, first] = closure.by_rule.try_emplace(rule, closure.waiting.size());
  if (first) {
    closure.waiting.push_back({.rule = rule, .frames = {}});
    for (const GrammarPosition alternative : tables_->alternatives(rule)) {
      add(closure, {alternative, GrammarReturns::kHere + rule});
    }
  }
  closure.waiting[place->second].frames.push_back(behind);
  if (tables_->nullable(rule)) add(closure, behind);
}

void GrammarMachine::close(State& state) {
  Closure closure;
  for (const Item& item : state.kernel) {
    if (item.place == Item::kNoPlace) {
      add(closure, {item.position, item.back});
    } else {
      state.active.push_back(item);
    }
  }
  for (std::size_t i = 0; i < closure.items.size(); ++i) {
    const GrammarFrame frame = closure.items[i];
    switch (tables_->symbol(frame.position)) {
      case Symbol::kTerminal: break;
      case Symbol::kRule: predict(closure, frame); break;
      case Symbol::kEnd:
        // A rule that began here is empty: predict() has seen to it.
        if (frame.back >= GrammarReturns::kHere) break;
        if (frame.back == GrammarReturns::kWhole) state.accepting = true;
        for (std::size_t k = 0; k < returns_.frames(frame.back).size(); ++k) {
          add(closure, returns_.frames(frame.back)[k]);
        }
        break;
    }
  }
  work_ += closure.items.size();
  activate(state, closure);
  measure(state);
  state.closed = true;
}

// The items in front of terminals, with the returns of the rules that began here.
void GrammarMachine::activate(State& state, const Closure& closure) {
  const std::vector<GrammarReturn> made = returns_.add(closure.waiting);
  for (const GrammarFrame& frame : closure.items) {
    if (tables_->symbol(frame.position) != Symbol::kTerminal) continue;
    GrammarReturn back = frame.back;
    if (back >= GrammarReturns::kHere) {
      back = made[closure.by_rule.at(back - GrammarReturns::kHere)];
    }
    const std::uint32_t terminal = tables_->index(frame.position);
    state.active.push_back({frame.position, lexicon_.start(terminal), back});
  }
  std::sort(state.active.begin(), state.active.end());
  state.active.erase(std::unique(state.active.begin(), state.active.end()), state.active.end());
  items_ += state.active.size();
}

void GrammarMachine::measure(State& state) {
  if (state.accepting) return;
  ZH_CHECK(!state.active.empty());
  std::uint64_t least = UINT64_MAX;
  for (std::size_t i = 0; i < state.active.size(); ++i) {
    const std::uint64_t bytes = end_bytes_of(state.active[i]);
    if (bytes >= least) continue;
    least = bytes;
    state.best = static_cast<std::uint32_t>(i);
  }
  state.end_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(least, INT32_MAX));
}

// Of the shortest way to the end of the text that begins with the item.
std::uint64_t GrammarMachine::end_bytes_of(const Item& item) const {
  if (item.place == Item::kNoPlace) {
    return std::uint64_t{tables_->bytes(item.position)} + returns_.bytes(item.back);
  }
  return std::uint64_t{lexicon_.shortest_end_bytes(item.place)} +
         tables_->bytes(item.position + 1) + returns_.bytes(item.back);
}

// Those that end first: whoever follows a shortest end must not find that it was left out.
void GrammarMachine::keep_readings(std::vector<Item>& items) const {
  if (items.size() <= kReadingsMax) return;
  std::vector<std::pair<std::uint64_t, Item>> ordered;
  ordered.reserve(items.size());
  for (const Item& item : items) ordered.emplace_back(end_bytes_of(item), item);
  std::sort(ordered.begin(), ordered.end());
  items.clear();
  for (std::size_t i = 0; i < kReadingsMax; ++i) items.push_back(ordered[i].second);
  std::sort(items.begin(), items.end());
}

MachineState GrammarMachine::step(MachineState state, unsigned char byte) {
  const std::uint64_t key = (std::uint64_t{state} << 8) | byte;
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  std::vector<Item> kernel;
  work_ += closed(state).active.size();
  for (const Item& item : closed(state).active) {
    const std::uint32_t place = lexicon_.step(item.place, byte);
    if (place == GrammarLexicon::kNone) continue;
    if (lexicon_.accepts(place)) kernel.push_back({item.position + 1, Item::kNoPlace, item.back});
    if (lexicon_.goes_on(place)) kernel.push_back({item.position, place, item.back});
  }
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  keep_readings(kernel);
  const MachineState next = kernel.empty() ? kDeadState : intern(std::move(kernel));
  steps_.emplace(key, next);
  return next;
}

std::string GrammarMachine::shortest_end(MachineState state) {
  const State& from = closed(state);
  if (from.accepting) return {};
  const Item& item = from.active[from.best];
  std::string text = lexicon_.shortest_end(item.place);
  tables_->append_text(text, item.position + 1);
  returns_.append_text(text, item.back);
  return text;
}

std::bitset<256> GrammarMachine::first_bytes(MachineState state) {
  std::bitset<256> bytes;
  if (state == kDeadState) return bytes;
  const State& from = closed(state);
  work_ += from.active.size();
  for (const Item& item : from.active) bytes |= lexicon_.bytes(item.place);
  return bytes;
}

int GrammarMachine::only_byte(MachineState state) {
  const State& from = closed(state);
  if (from.forced != kUnknown) return from.forced;
  std::bitset<256> bytes;
  if (!from.accepting) bytes = first_bytes(state);
  int only = kOpen;
  if (bytes.count() == 1) only = static_cast<int>(bytes._Find_first());
  return states_[state].forced = only;
}

std::string GrammarMachine::forced(MachineState state, std::size_t bytes_max) {
  std::string text;
  while (text.size() < bytes_max) {
    const int byte = only_byte(state);
    if (byte == kOpen) break;
    text.push_back(static_cast<char>(byte));
    state = step(state, static_cast<unsigned char>(byte));
  }
  return text;
}

std::size_t GrammarMachine::memory_bytes() const {
  constexpr std::size_t kNodeBytes = 48;  // of a hash map, about
  return sizeof(*this) + tables_->memory_bytes() + lexicon_.memory_bytes() +
         returns_.memory_bytes() + states_.capacity() * sizeof(State) + items_ * sizeof(Item) +
         (by_hash_.size() + steps_.size()) * kNodeBytes;
}

// One terminal, or nothing where the language has the empty text.
Result<std::unique_ptr<ConstraintMachine>> make_terminal_machine(RegexPool& pool, RegexTerm term) {
  constexpr std::size_t kStatesMax = 50'000;
  ZH_ASSIGN_OR_RETURN(GrammarTerminal terminal, make_terminal(pool, term, kStatesMax));
  Grammar grammar;
  grammar.rules.push_back({.name = "root", .alternatives = {{terminal_symbol(0)}}});
  if (pool.nullable(term)) grammar.rules.front().alternatives.emplace_back();
  grammar.terminals.push_back(std::move(terminal));
  return make_grammar_machine(std::move(grammar));
}

}  // namespace

Result<std::unique_ptr<ConstraintMachine>> make_grammar_machine(Grammar grammar) {
  ZH_ASSIGN_OR_RETURN(auto tables, GrammarTables::make(std::move(grammar)));
  return std::unique_ptr<ConstraintMachine>(std::make_unique<GrammarMachine>(std::move(tables)));
}

Result<std::unique_ptr<ConstraintMachine>> make_regex_machine(std::string_view pattern) {
  RegexPool pool;
  ZH_ASSIGN_OR_RETURN(const RegexTerm term, parse_whole_pattern(pool, pattern));
  return make_terminal_machine(pool, term);
}

Result<std::unique_ptr<ConstraintMachine>> make_choice_machine(
    const std::vector<std::string>& texts) {
  if (texts.empty()) return invalid_request({}, "a choice needs at least one text");
  RegexPool pool;
  std::vector<RegexTerm> terms;
  for (const std::string& text : texts) {
    if (!utf8_is_valid(text)) return invalid_request({}, "a choice's text is not UTF-8");
    terms.push_back(pool.text(utf8_decode(text)));
  }
  const RegexTerm term = pool.either_of(std::move(terms));
  if (pool.exhausted()) return invalid_request({}, "the choice is too large");
  return make_terminal_machine(pool, term);
}

}  // namespace zerohop
