#include "constrain/tag_plan.h"

#include <algorithm>
#include <utility>

namespace zerohop {
namespace {

// Those that stand at the beginning alone come last: the automaton knows the others.
std::vector<TagGroup> group_rules(const TagSet& set) {
  std::vector<TagGroup> groups;
  for (std::uint32_t i = 0; i < set.rules.size(); ++i) {
    const TagRule& rule = set.rules[i];
    const bool beginning = rule.place == TagRule::Place::kBeginning;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const TagGroup& group) {
      return group.trigger == rule.trigger && group.beginning == beginning;
    });
    if (same != groups.end()) {
      same->rules.push_back(i);
    } else {
      groups.push_back({rule.trigger, {i}, {}, beginning});
    }
  }
  for (const std::string& text : set.never_in_text) groups.push_back({text, {}, {}, false});
  std::stable_partition(groups.begin(), groups.end(),
                        [](const TagGroup& group) { return !group.beginning; });
  return groups;
}

std::vector<std::string> triggers_of(const std::vector<TagGroup>& groups) {
  std::vector<std::string> triggers;
  for (const TagGroup& group : groups) {
    if (!group.beginning) triggers.push_back(group.trigger);
  }
  return triggers;
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

std::vector<std::shared_ptr<const TagUntil>> untils_of(const std::vector<TagPart>& parts) {
  std::vector<std::shared_ptr<const TagUntil>> untils;
  for (const TagPart& part : parts) {
    const bool until = part.kind == TagPart::Kind::kUntil;
    untils.push_back(until ? std::make_shared<const TagUntil>(part) : nullptr);
  }
  return untils;
}

std::shared_ptr<const StopAutomaton> marks_of(const TagPart& part) {
  std::vector<std::string> marks{part.text};
  marks.insert(marks.end(), part.never.begin(), part.never.end());
  return StopAutomaton::compile(marks);
}

}  // namespace

bool shorter(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

TagUntil::TagUntil(const TagPart& part) : marks(marks_of(part)) {
  std::vector<std::optional<std::string>> behind(marks->stop_count());
  behind.front() = std::string();  // the end
  const MarkWays ways(marks, std::move(behind));
  always_ends = ways.never_stuck();
  if (!always_ends) return;
  for (StopAutomaton::State state = 0; state < marks->state_count(); ++state) {
    rest.push_back(marks->match(state) ? std::string() : ways.from(state));
  }
}

TagPlan::TagPlan(TagSet tags)
    : set(std::move(tags)),
      groups(group_rules(set)),
      triggers(StopAutomaton::compile(triggers_of(groups))),
      any_at_beginning(!groups.empty() && groups.back().beginning) {
  for (std::uint32_t rule = 0; rule < rule_count(); ++rule) {
    tails.push_back(shortest_tails(parts_of(rule)));
    untils.push_back(untils_of(parts_of(rule)));
  }
  for (TagGroup& group : groups) {
    if (group.rules.empty()) continue;
    group.shortest = tails[group.rules.front()][0];
    for (const std::uint32_t rule : group.rules) {
      if (shorter(tails[rule][0], group.shortest)) group.shortest = tails[rule][0];
    }
    const std::string call = group.trigger + group.shortest;
    if (shortest_call.empty() || shorter(call, shortest_call)) shortest_call = call;
  }
  for (std::uint32_t rule = first_alternative(); rule < rule_count(); ++rule) {
    const std::string& text = tails[rule][0];
    if (rule == first_alternative() || shorter(text, shortest_alternative)) {
      shortest_alternative = text;
    }
  }
  calls_cap = set.calls_max == TagSet::kAnyNumber ? std::max(set.calls_min, 1u) : set.calls_max;
  if (set.calls_min > 0 && set.text != TagSet::Text::kNone) find_ways_to_calls();
  memory_bytes = bytes_of_texts();
}

// A shortest text may have a million bytes, and stands in each tail in front of it.
std::size_t TagPlan::bytes_of_texts() const {
  std::size_t bytes = sizeof(*this) + shortest_call.size() + shortest_alternative.size();
  for (const TagGroup& group : groups) {
    bytes += sizeof(group) + group.trigger.size();
    bytes += group.shortest.size() * (ways_to_calls ? 2 : 1);
  }
  for (std::uint32_t rule = 0; rule < rule_count(); ++rule) {
    for (const TagPart& part : parts_of(rule)) bytes += sizeof(part) + part.text.size();
    for (const std::string& tail : tails[rule]) bytes += sizeof(tail) + tail.size();
  }
  return bytes;
}

void TagPlan::find_ways_to_calls() {
  std::vector<std::optional<std::string>> sections;
  for (const TagGroup& group : groups) {
    if (group.beginning) continue;
    sections.push_back(group.rules.empty() ? std::nullopt : std::optional(group.shortest));
  }
  ways_to_calls = std::make_unique<const MarkWays>(triggers, std::move(sections));
}

bool TagPlan::always_ends() const {
  if (ways_to_calls && !ways_to_calls->never_stuck()) return false;
  for (const auto& parts : untils) {
    for (const auto& until : parts) {
      if (until && !until->always_ends) return false;
    }
  }
  return true;
}

const std::vector<TagPart>& TagPlan::parts_of(std::uint32_t rule) const {
  if (rule < set.rules.size()) return set.rules[rule].parts;
  return rule == prologue() ? set.prologue : set.alternatives[rule - first_alternative()];
}

std::string TagPlan::shortest_behind(std::uint32_t calls) const {
  std::string text = shortest_alternative;
  while (calls < set.calls_min) {
    if (!text_allowed(calls) && calls > 0) text += set.between;
    text += shortest_call;
    ++calls;
  }
  return text;
}

std::string TagPlan::shortest_text(std::uint32_t calls, StopAutomaton::State state) const {
  if (calls >= set.calls_min) return {};
  return ways_to_calls->from(state) + shortest_behind(calls + 1);
}

bool TagPlan::text_allowed(std::uint32_t calls) const {
  if (!set.alternatives.empty()) return false;
  return set.text == TagSet::Text::kAnywhere ||
         (set.text == TagSet::Text::kBeforeCalls && calls == 0);
}

}  // namespace zerohop
