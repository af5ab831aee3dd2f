#include "constrain/tag_machine.h"

#include <algorithm>
#include <compare>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "constrain/tag_plan.h"

namespace zerohop {
namespace {

// One way to read the text so far. A state is a set of them.
struct Way {
  enum class Kind : std::uint32_t {
    kText,  // position: state of the triggers' automaton
    kLead,  // nothing but white space of a text so far; sections may begin that begin nowhere else
    kTrigger,  // rule: a group; position: bytes read of `between` and the trigger
    kPart,     // position: bytes read of a literal, a state of the machine, or one of TagUntil
    kOver,     // nothing may follow
  };
  Kind kind = Kind::kText;
  std::uint32_t calls = 0;  // complete sections
  std::uint32_t rule = 0;   // as in TagPlan::parts_of()
  std::uint32_t part = 0;
  std::uint32_t position = 0;

  friend auto operator<=>(const Way&, const Way&) = default;
};
using Ways = std::vector<Way>;

struct WaysHash {
  std::size_t operator()(const Ways& ways) const {
    std::uint64_t hash = ways.size();
    for (const Way& way : ways) {
      hash = mix64(hash ^ (std::uint64_t{way.position} << 32 | way.part << 16 | way.calls << 2 |
                           static_cast<std::uint32_t>(way.kind)));
      hash ^= std::uint64_t{way.rule} << 40;
    }
    return static_cast<std::size_t>(mix64(hash));
  }
};

// No byte that a vocabulary may lack (ConstraintMachine::plain_ends()).
bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool space = byte == '\t' || byte == '\n' || byte == '\r';
    return (byte < 0x20 && !space) || byte == 0x7f || (byte >= 0xf1 && byte <= 0xf2);
  });
}

class TagMachine final : public ConstraintMachine {
 public:
  explicit TagMachine(std::shared_ptr<const TagPlan> plan);

  MachineState start() override { return start_; }
  MachineState step(MachineState state, unsigned char byte) override;
  bool accepting(MachineState state) override;
  std::string shortest_end(MachineState state) override;
  std::size_t shortest_end_bytes(MachineState state) override;
  std::string forced(MachineState state, std::size_t bytes_max) override;
  std::optional<ContentRun> content(MachineState state) override;
  std::vector<MachineState> parts(MachineState state) override;
  std::bitset<256> first_bytes(MachineState state) override;
  bool plain_ends() override;
  std::uint64_t work() const override;
  std::size_t memory_bytes() const override;
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<TagMachine>(plan_);
  }

 private:
  const std::vector<TagPart>& parts_of(std::uint32_t rule) const { return plan_->parts_of(rule); }
  std::uint32_t calls_behind(const Way& way) const;
  ConstraintMachine& machine_of(std::uint32_t rule, std::uint32_t part);
  void enter(const Way& way, Ways& ways);
  void enter_group(std::uint32_t group, std::uint32_t calls, Ways& ways);
  void enter_text(std::uint32_t calls, Ways& ways);
  void go_behind(std::uint32_t calls, Ways& ways);
  void step_way(const Way& way, unsigned char byte, Ways& ways);
  void step_text(const Way& way, unsigned char byte, Ways& ways);
  void step_part(const Way& way, unsigned char byte, Ways& ways);
  std::string end_of(const Way& way);
  std::size_t end_bytes_of(const Way& way);
  std::string forced_of(const Way& way, std::size_t bytes_max);
  std::string trigger_text(std::uint32_t group) const;
  MachineState with_position(Way way, MachineState position);
  ConstraintMachine* machine_in(const Way& way);
  MachineState intern(Ways ways);

  std::shared_ptr<const TagPlan> plan_;
  std::vector<std::vector<std::unique_ptr<ConstraintMachine>>> machines_;  // by rule and part
  std::unordered_map<Ways, MachineState, WaysHash> numbers_;
  std::vector<const Ways*> states_{nullptr};  // keys of numbers_; 0 is dead
  std::unordered_map<std::uint64_t, MachineState> steps_;
  std::size_t bytes_ = 0;
  std::uint64_t work_ = 0;  // ways that were followed by a byte
  MachineState start_ = kDeadState;
  std::vector<ConstraintMachine*> made_;  // of machines_
  std::optional<bool> plain_;             // all texts of the plan; not known so far
};

TagMachine::TagMachine(std::shared_ptr<const TagPlan> plan) : plan_(std::move(plan)) {
  for (std::uint32_t rule = 0; rule < plan_->rule_count(); ++rule) {
    machines_.emplace_back(parts_of(rule).size());
  }
  Ways ways;
  enter({.kind = Way::Kind::kPart, .rule = plan_->prologue()}, ways);
  if (plan_->set.prologue_presence == TagSet::Presence::kOptional) go_behind(0, ways);
  start_ = intern(std::move(ways));
  ZH_CHECK(start_ != kDeadState);
}

// Complete sections once the parts of the way's rule are over; the prologue is none.
std::uint32_t TagMachine::calls_behind(const Way& way) const {
  return way.rule == plan_->prologue() ? 0 : std::min(way.calls + 1, plan_->calls_cap);
}

ConstraintMachine& TagMachine::machine_of(std::uint32_t rule, std::uint32_t part) {
  std::unique_ptr<ConstraintMachine>& machine = machines_[rule][part];
  if (!machine) {
    machine = parts_of(rule)[part].machine->renew();
    made_.push_back(machine.get());
  }
  return *machine;
}

std::string TagMachine::trigger_text(std::uint32_t group) const {
  return plan_->set.between + plan_->groups[group].trigger;
}

// Adds a way at the beginning of a part, and what may come instead where the part may be over.
void TagMachine::enter(const Way& way, Ways& ways) {
  const std::vector<TagPart>& parts = parts_of(way.rule);
  if (way.part == parts.size()) {
    if (way.rule < plan_->first_alternative()) return go_behind(calls_behind(way), ways);
    ways.push_back({.kind = Way::Kind::kOver});
    return;
  }
  Way next = way;
  const TagPart& part = parts[way.part];
  if (part.kind == TagPart::Kind::kMachine) {
    ConstraintMachine& machine = machine_of(way.rule, way.part);
    if (way.position == kDeadState) next.position = machine.start();
    ways.push_back(next);
    if (!machine.accepting(next.position)) return;
  } else if (part.kind == TagPart::Kind::kUntil) {
    const StopAutomaton& marks = *plan_->untils[way.rule][way.part]->marks;
    const std::optional<std::size_t> mark = marks.match(way.position);
    if (!mark) ways.push_back(next);
    if (mark != 0) return;  // the first one is the end, the others must not come
  } else if (way.position < part.text.size()) {
    ways.push_back(next);
    return;
  }
  enter({way.kind, way.calls, way.rule, way.part + 1, 0}, ways);
}

void TagMachine::enter_group(std::uint32_t group, std::uint32_t calls, Ways& ways) {
  for (const std::uint32_t rule : plan_->groups[group].rules) {
    enter({.kind = Way::Kind::kPart, .calls = calls, .rule = rule}, ways);
  }
}

void TagMachine::enter_text(std::uint32_t calls, Ways& ways) {
  const Way::Kind kind = plan_->any_at_beginning ? Way::Kind::kLead : Way::Kind::kText;
  ways.push_back({.kind = kind, .calls = calls});
}

void TagMachine::go_behind(std::uint32_t calls, Ways& ways) {
  if (plan_->text_allowed(calls)) return enter_text(calls, ways);
  if (!plan_->set.alternatives.empty()) {
    for (std::uint32_t rule = plan_->first_alternative(); rule < plan_->rule_count(); ++rule) {
      enter({.kind = Way::Kind::kPart, .rule = rule}, ways);
    }
    return;
  }
  if (calls >= plan_->set.calls_min) ways.push_back({.kind = Way::Kind::kOver, .calls = calls});
  if (!plan_->more_allowed(calls)) return;
  const std::size_t read = calls == 0 ? plan_->set.between.size() : 0;
  for (std::uint32_t group = 0; group < plan_->groups.size(); ++group) {
    if (plan_->groups[group].rules.empty()) continue;
    ways.push_back({.kind = Way::Kind::kTrigger,
                    .calls = calls,
                    .rule = group,
                    .position = static_cast<std::uint32_t>(read)});
  }
}

void TagMachine::step_way(const Way& way, unsigned char byte, Ways& ways) {
  switch (way.kind) {
    case Way::Kind::kOver: return;
    case Way::Kind::kText:
    case Way::Kind::kLead: step_text(way, byte, ways); return;
    case Way::Kind::kTrigger: {
      const std::string text = trigger_text(way.rule);
      if (static_cast<unsigned char>(text[way.position]) != byte) return;
      Way next = way;
      if (++next.position < text.size()) {
        ways.push_back(next);
      } else {
        enter_group(way.rule, way.calls, ways);
      }
      return;
    }
    case Way::Kind::kPart: step_part(way, byte, ways); return;
  }
}

void TagMachine::step_text(const Way& way, unsigned char byte, Ways& ways) {
  if (way.kind == Way::Kind::kLead) {
    if (is_tag_space(byte)) return ways.push_back(way);
    for (std::uint32_t group = 0; group < plan_->groups.size(); ++group) {
      const TagGroup& leading = plan_->groups[group];
      if (!leading.beginning || static_cast<unsigned char>(leading.trigger[0]) != byte) continue;
      if (plan_->more_allowed(way.calls)) enter_group(group, way.calls, ways);
      return;
    }
  }
  const StopAutomaton::State next = plan_->triggers->next(way.position, byte);
  const std::optional<std::size_t> group = plan_->triggers->match(next);
  if (!group) {
    ways.push_back({.kind = Way::Kind::kText, .calls = way.calls, .position = next});
  } else if (plan_->more_allowed(way.calls)) {
    enter_group(static_cast<std::uint32_t>(*group), way.calls, ways);
  }
}

void TagMachine::step_part(const Way& way, unsigned char byte, Ways& ways) {
  const TagPart& part = parts_of(way.rule)[way.part];
  Way next = way;
  switch (part.kind) {
    case TagPart::Kind::kLiteral:
      if (static_cast<unsigned char>(part.text[way.position]) != byte) return;
      ++next.position;
      break;
    case TagPart::Kind::kMachine:
      next.position = machine_of(way.rule, way.part).step(way.position, byte);
      if (next.position == kDeadState) return;
      break;
    case TagPart::Kind::kUntil:
      next.position = plan_->untils[way.rule][way.part]->marks->next(way.position, byte);
      break;
  }
  enter(next, ways);
}

MachineState TagMachine::step(MachineState state, unsigned char byte) {
  if (state == kDeadState) return kDeadState;
  const std::uint64_t key = std::uint64_t{state} << 8 | byte;
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  Ways next;
  work_ += states_[state]->size();
  for (const Way& way : *states_[state]) step_way(way, byte, next);
  const MachineState reached = intern(std::move(next));
  steps_.emplace(key, reached);
  return reached;
}

MachineState TagMachine::intern(Ways ways) {
  if (ways.empty()) return kDeadState;
  std::sort(ways.begin(), ways.end());
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  const std::size_t bytes = ways.size() * sizeof(Way);
  const auto number = static_cast<MachineState>(states_.size());
  const auto [entry, added] = numbers_.try_emplace(std::move(ways), number);
  if (added) {
    states_.push_back(&entry->first);
    bytes_ += bytes + 64;
  }
  return entry->second;
}

bool TagMachine::accepting(MachineState state) {
  const Ways& ways = *states_[state];
  return std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    return way.kind == Way::Kind::kOver ||
           ((way.kind == Way::Kind::kText || way.kind == Way::Kind::kLead) &&
            way.calls >= plan_->set.calls_min);
  });
}

std::string TagMachine::end_of(const Way& way) {
  switch (way.kind) {
    case Way::Kind::kOver: return {};
    case Way::Kind::kText: return plan_->shortest_text(way.calls, way.position);
    case Way::Kind::kLead: return plan_->shortest_behind(way.calls);
    case Way::Kind::kTrigger:
      return trigger_text(way.rule).substr(way.position) + plan_->groups[way.rule].shortest +
             plan_->shortest_behind(way.calls + 1);
    case Way::Kind::kPart: break;
  }
  std::string text;
  switch (parts_of(way.rule)[way.part].kind) {
    case TagPart::Kind::kLiteral:
      text = parts_of(way.rule)[way.part].text.substr(way.position);
      break;
    case TagPart::Kind::kMachine:
      text = machine_of(way.rule, way.part).shortest_end(way.position);
      break;
    case TagPart::Kind::kUntil: text = plan_->untils[way.rule][way.part]->rest[way.position]; break;
  }
  text += plan_->tails[way.rule][way.part + 1];
  if (way.rule >= plan_->first_alternative()) return text;
  return text + plan_->shortest_behind(calls_behind(way));
}

// The size of end_of(); does not write the text where the answer stands in a machine.
std::size_t TagMachine::end_bytes_of(const Way& way) {
  if (way.kind != Way::Kind::kPart) return end_of(way).size();
  if (parts_of(way.rule)[way.part].kind != TagPart::Kind::kMachine) return end_of(way).size();
  const std::size_t bytes = machine_of(way.rule, way.part).shortest_end_bytes(way.position) +
                            plan_->tails[way.rule][way.part + 1].size();
  if (way.rule >= plan_->first_alternative()) return bytes;
  return bytes + plan_->shortest_behind(calls_behind(way)).size();
}

std::size_t TagMachine::shortest_end_bytes(MachineState state) {
  std::size_t best = SIZE_MAX;
  for (const Way& way : *states_[state]) best = std::min(best, end_bytes_of(way));
  return best;
}

std::string TagMachine::shortest_end(MachineState state) {
  std::string best;
  bool first = true;
  for (const Way& way : *states_[state]) {
    std::string text = end_of(way);
    if (first || shorter(text, best)) best = std::move(text);
    first = false;
  }
  return best;
}

// What a way asks for next, as far as it leaves no choice; another way may.
std::string TagMachine::forced_of(const Way& way, std::size_t bytes_max) {
  switch (way.kind) {
    case Way::Kind::kOver:
    case Way::Kind::kLead:
    case Way::Kind::kText: return {};
    case Way::Kind::kTrigger: return trigger_text(way.rule).substr(way.position, bytes_max);
    case Way::Kind::kPart: break;
  }
  const TagPart& part = parts_of(way.rule)[way.part];
  switch (part.kind) {
    case TagPart::Kind::kLiteral: return part.text.substr(way.position, bytes_max);
    case TagPart::Kind::kMachine:
      return machine_of(way.rule, way.part).forced(way.position, bytes_max);
    case TagPart::Kind::kUntil: break;
  }
  return {};
}

std::string TagMachine::forced(MachineState state, std::size_t bytes_max) {
  std::string text;
  while (text.size() < bytes_max && !accepting(state)) {
    std::optional<std::string> common;
    for (const Way& way : *states_[state]) {
      // A machine that may be over and cannot go on has nothing to say; what comes behind it has.
      if (way.kind == Way::Kind::kPart &&
          parts_of(way.rule)[way.part].kind == TagPart::Kind::kMachine) {
        ConstraintMachine& machine = machine_of(way.rule, way.part);
        if (machine.accepting(way.position) && !goes_on(machine, way.position)) continue;
      }
      const std::string wanted = forced_of(way, bytes_max - text.size());
      if (!common) common = wanted;
      const auto [end, ignored] =
          std::mismatch(common->begin(), common->end(), wanted.begin(), wanted.end());
      common->erase(end, common->end());
    }
    if (!common || common->empty()) break;
    text += *common;
    state = step_all(*this, state, *common);
  }
  return text;
}

// The machine that a way is in, or nullptr.
ConstraintMachine* TagMachine::machine_in(const Way& way) {
  if (way.kind != Way::Kind::kPart) return nullptr;
  if (parts_of(way.rule)[way.part].kind != TagPart::Kind::kMachine) return nullptr;
  return &machine_of(way.rule, way.part);
}

// The way's state with its machine in another one.
MachineState TagMachine::with_position(Way way, MachineState position) {
  way.position = position;
  Ways ways;
  enter(way, ways);
  return intern(std::move(ways));
}

std::optional<ContentRun> TagMachine::content(MachineState state) {
  const Ways& ways = *states_[state];
  ConstraintMachine* machine = ways.size() == 1 ? machine_in(ways[0]) : nullptr;
  if (!machine) return std::nullopt;
  const Way way = ways[0];
  std::optional<ContentRun> run = machine->content(way.position);
  if (run && run->behind != kDeadState) run->behind = with_position(way, run->behind);
  return run;
}

std::vector<MachineState> TagMachine::parts(MachineState state) {
  const Ways ways = *states_[state];
  std::vector<MachineState> parts;
  if (ways.size() == 1) {
    ConstraintMachine* machine = machine_in(ways[0]);
    if (!machine) return {};
    for (const MachineState part : machine->parts(ways[0].position)) {
      parts.push_back(with_position(ways[0], part));
    }
    return parts;
  }
  const bool split = std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    ConstraintMachine* machine = machine_in(way);
    return machine && (machine->content(way.position) || !machine->parts(way.position).empty());
  });
  if (!split) return {};
  for (const Way& way : ways) parts.push_back(intern({way}));
  return parts;
}

bool TagMachine::plain_ends() {
  if (!plain_) {
    bool plain = is_plain(plan_->set.between);
    for (const TagGroup& group : plan_->groups) {
      plain = plain && is_plain(group.trigger) && is_plain(group.shortest);
    }
    for (std::uint32_t rule = 0; rule < plan_->rule_count(); ++rule) {
      for (const TagPart& part : parts_of(rule)) plain = plain && is_plain(part.text);
      for (const std::string& tail : plan_->tails[rule]) plain = plain && is_plain(tail);
    }
    plain_ = plain;
  }
  return *plain_ && std::all_of(made_.begin(), made_.end(),
                                [](ConstraintMachine* machine) { return machine->plain_ends(); });
}

std::bitset<256> TagMachine::first_bytes(MachineState state) {
  std::bitset<256> bytes;
  for (const Way& way : *states_[state]) {
    if (way.kind == Way::Kind::kOver) continue;
    if (ConstraintMachine* machine = machine_in(way)) {
      bytes |= machine->first_bytes(way.position);
    } else if (way.kind == Way::Kind::kTrigger) {
      bytes.set(static_cast<unsigned char>(trigger_text(way.rule)[way.position]));
    } else if (way.kind == Way::Kind::kPart &&
               parts_of(way.rule)[way.part].kind == TagPart::Kind::kLiteral) {
      bytes.set(static_cast<unsigned char>(parts_of(way.rule)[way.part].text[way.position]));
    } else {
      bytes.set();
    }
  }
  return bytes;
}

std::uint64_t TagMachine::work() const {
  std::uint64_t work = work_;
  for (const ConstraintMachine* machine : made_) work += machine->work();
  return work;
}

std::size_t TagMachine::memory_bytes() const {
  std::size_t bytes = plan_->memory_bytes + bytes_ + steps_.size() * 40;
  for (const auto& machines : machines_) {
    for (const auto& machine : machines) bytes += machine ? machine->memory_bytes() : 0;
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<ConstraintMachine>> make_tag_machine(TagSet set) {
  ZH_RETURN_IF_ERROR(check_tag_set(set));
  auto plan = std::make_shared<const TagPlan>(std::move(set));
  if (!plan->always_ends()) {
    return invalid_request("", "texts that must not come leave no way to a section or an end");
  }
  return std::unique_ptr<ConstraintMachine>(std::make_unique<TagMachine>(std::move(plan)));
}

}  // namespace zerohop
