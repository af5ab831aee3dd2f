#include "constrain/tag_plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace zerohop {
namespace {

std::vector<TagGroup> group_rules(const std::vector<TagRule>& rules) {
  std::vector<TagGroup> groups;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const TagGroup& group) {
      return group.trigger == rules[i].trigger;
    });
    if (same != groups.end()) {
      same->rules.push_back(i);
    } else {
      groups.push_back({rules[i].trigger, {i}, {}});
    }
  }
  return groups;
}

std::vector<std::string> triggers_of(const std::vector<TagGroup>& groups) {
  std::vector<std::string> triggers;
  for (const TagGroup& group : groups) triggers.push_back(group.trigger);
  return triggers;
}

// What was read of a trigger at each state of their automaton.
std::vector<std::string> read_by_state(const StopAutomaton& automaton) {
  std::vector<std::string> read(automaton.state_count());
  for (std::size_t i = 0; i < automaton.stop_count(); ++i) {
    const std::string& trigger = automaton.stop(i);
    StopAutomaton::State state = StopAutomaton::kStart;
    for (std::size_t size = 1; size <= trigger.size(); ++size) {
      state = automaton.next(state, static_cast<unsigned char>(trigger[size - 1]));
      read[state] = trigger.substr(0, size);
    }
  }
  return read;
}

// How much of the beginning of `trigger` stands at the end of `read`.
std::size_t read_of(std::string_view read, std::string_view trigger) {
  for (std::size_t size = std::min(read.size(), trigger.size()); size > 0; --size) {
    if (read.ends_with(trigger.substr(0, size))) return size;
  }
  return 0;
}

std::vector<std::string> shortest_tails(const std::vector<TagPart>& parts) {
  std::vector<std::string> tails(parts.size() + 1);
  for (std::size_t i = parts.size(); i > 0; --i) {
    const TagPart& part = parts[i - 1];
    std::string text = part.text;
    if (part.kind == TagPart::Kind::kMachine) {
      const std::unique_ptr<ConstraintMachine> machine = part.machine->renew();
      text = machine->shortest_end(machine->start());
    }
    tails[i - 1] = text + tails[i];
  }
  return tails;
}

}  // namespace

bool shorter(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

TagPlan::TagPlan(TagSet tags)
    : set(std::move(tags)),
      groups(group_rules(set.rules)),
      triggers(StopAutomaton::compile(triggers_of(groups))),
      read(read_by_state(*triggers)) {
  for (const TagRule& rule : set.rules) tails.push_back(shortest_tails(rule.parts));
  tails.push_back(shortest_tails(set.prologue));
  for (TagGroup& group : groups) {
    group.shortest = tails[group.rules.front()][0];
    for (const std::uint32_t rule : group.rules) {
      if (shorter(tails[rule][0], group.shortest)) group.shortest = tails[rule][0];
    }
    const std::string call = group.trigger + group.shortest;
    if (shortest_call.empty() || shorter(call, shortest_call)) shortest_call = call;
  }
  calls_cap = set.calls_max == TagSet::kAnyNumber ? std::max(set.calls_min, 1u) : set.calls_max;
}

std::string TagPlan::shortest_behind(std::uint32_t calls) const {
  std::string text;
  while (calls < set.calls_min) {
    if (!text_allowed(calls) && calls > 0) text += set.between;
    text += shortest_call;
    ++calls;
  }
  return text;
}

std::string TagPlan::shortest_text(std::uint32_t calls, StopAutomaton::State state) const {
  if (calls >= set.calls_min) return {};
  std::string best;
  for (const TagGroup& group : groups) {
    const std::size_t begun = read_of(read[state], group.trigger);
    std::string text = group.trigger.substr(begun) + group.shortest;
    if (best.empty() || shorter(text, best)) best = std::move(text);
  }
  return best + shortest_behind(calls + 1);
}

bool TagPlan::text_allowed(std::uint32_t calls) const {
  return set.text == TagSet::Text::kAnywhere ||
         (set.text == TagSet::Text::kBeforeCalls && calls == 0);
}

}  // namespace zerohop
