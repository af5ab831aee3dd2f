#include "constrain/tag_plan.h"

#include <algorithm>
#include <deque>
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

bool shorter(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

PatternTable::PatternTable(const std::vector<std::string>& patterns) {
  const auto add_node = [&](std::string read) {
    next_.emplace_back().fill(0);
    hits_.push_back(kNone);
    read_.push_back(std::move(read));
    return static_cast<std::uint32_t>(next_.size() - 1);
  };
  add_node("");
  for (std::uint32_t i = 0; i < patterns.size(); ++i) {
    std::uint32_t node = 0;
    for (const char letter : patterns[i]) {
      const auto byte = static_cast<unsigned char>(letter);
      if (next_[node][byte] == 0) {
        const std::uint32_t made = add_node(read_[node] + letter);
        next_[node][byte] = made;
      }
      node = next_[node][byte];
    }
    hits_[node] = i;
  }
  // Breadth first, so that the node to fall back to is complete before it is copied from.
  std::vector<std::uint32_t> fallback(next_.size(), 0);
  std::deque<std::uint32_t> open;
  for (const std::uint32_t child : next_[0]) {
    if (child != 0) open.push_back(child);
  }
  while (!open.empty()) {
    const std::uint32_t node = open.front();
    open.pop_front();
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::uint32_t child = next_[node][byte];
      const std::uint32_t other = next_[fallback[node]][byte];
      if (child != 0) {
        fallback[child] = other;
        open.push_back(child);
      } else {
        next_[node][byte] = other;
      }
    }
  }
}

std::size_t PatternTable::read_of(std::uint32_t node, const std::string& pattern) const {
  const std::string& read = read_[node];
  for (std::size_t length = std::min(read.size(), pattern.size()); length > 0; --length) {
    if (read.ends_with(std::string_view(pattern).substr(0, length))) return length;
  }
  return 0;
}

TagPlan::TagPlan(TagSet tags)
    : set(std::move(tags)), groups(group_rules(set.rules)), triggers(triggers_of(groups)) {
  for (const TagRule& rule : set.rules) tails.push_back(shortest_tails(rule.parts));
  tails.push_back(shortest_tails(set.prologue));
  for (TagGroup& group : groups) {
    group.shortest = tails[group.rules.front()][0];
    for (const std::uint32_t rule : group.rules) {
      if (shorter(tails[rule][0], group.shortest)) group.shortest = tails[rule][0];
    }
  }
  calls_cap = set.calls_max == TagSet::kAnyNumber ? std::max(set.calls_min, 1u) : set.calls_max;
}

std::string TagPlan::shortest_behind(std::uint32_t calls) const {
  std::string text;
  while (calls < set.calls_min) {
    if (!text_allowed(calls) && calls > 0) text += set.between;
    const TagGroup* best = &groups.front();
    for (const TagGroup& group : groups) {
      if (shorter(group.trigger + group.shortest, best->trigger + best->shortest)) best = &group;
    }
    text += best->trigger + best->shortest;
    ++calls;
  }
  return text;
}

std::string TagPlan::shortest_text(std::uint32_t calls, std::uint32_t node) const {
  if (calls >= set.calls_min) return {};
  std::string best;
  for (const TagGroup& group : groups) {
    const std::size_t read = triggers.read_of(node, group.trigger);
    std::string text = group.trigger.substr(read) + group.shortest;
    if (best.empty() || shorter(text, best)) best = std::move(text);
  }
  return best + shortest_behind(calls + 1);
}

bool TagPlan::text_allowed(std::uint32_t calls) const {
  return set.text == TagSet::Text::kAnywhere ||
         (set.text == TagSet::Text::kBeforeCalls && calls == 0);
}

}  // namespace zerohop
