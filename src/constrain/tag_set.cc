// What a TagSet is made of, and whether it makes sense.
#include <algorithm>
#include <string_view>
#include <utility>

#include "constrain/tag_machine.h"
#include "constrain/tag_plan.h"

namespace zerohop {
namespace {

Error refused(std::string reason) { return invalid_request("", std::move(reason)); }

Result<void> check_calls(const TagSet& set) {
  if (set.calls_min > set.calls_max) return refused("more calls are asked for than are allowed");
  if (set.calls_min > 0 && set.rules.empty()) return refused("there is nothing to call");
  if (!set.alternatives.empty() && !set.rules.empty()) {
    return refused("there are whole answers and sections");
  }
  return {};
}

Result<void> check_triggers(const TagSet& set) {
  bool anywhere = false;  // some section can begin behind text
  std::vector<std::string> triggers = set.never_in_text;
  for (const TagRule& rule : set.rules) {
    if (rule.place == TagRule::Place::kAnywhere) {
      anywhere = true;
      triggers.push_back(rule.trigger);
    } else if (rule.trigger.size() != 1 ||
               is_tag_space(static_cast<unsigned char>(rule.trigger[0]))) {
      return refused("a trigger at the beginning is not one byte");
    }
  }
  // Only in front of a text does a section that stands at its beginning find its way in.
  const bool only_leading = set.calls_min > 0 && !anywhere;
  if (only_leading && set.text != TagSet::Text::kNone) {
    return refused("a call is asked for that may be missed");
  }
  for (const std::string& trigger : triggers) {
    if (trigger.empty()) return refused("a section has no trigger");
    for (const std::string& other : triggers) {
      if (trigger != other && trigger.find(other) != std::string::npos) {
        return refused("a trigger contains another one");
      }
    }
    const auto is_rule = [&](const TagRule& rule) { return rule.trigger == trigger; };
    if (std::ranges::count(set.never_in_text, trigger) > 0 &&
        std::ranges::any_of(set.rules, is_rule)) {
      return refused("a trigger must not come");
    }
  }
  return {};
}

bool one_holds_the_other(std::string_view mark, std::string_view end) {
  return mark.find(end) != std::string_view::npos || end.find(mark) != std::string_view::npos;
}

Result<void> check_parts(const std::vector<TagPart>& parts) {
  for (const TagPart& part : parts) {
    if (part.kind != TagPart::Kind::kUntil) continue;
    if (part.text.empty()) return refused("a part has no end");
    for (const std::string& mark : part.never) {
      if (mark.empty() || one_holds_the_other(mark, part.text)) {
        return refused("an end may not be written");
      }
    }
  }
  return {};
}

}  // namespace

TagPart literal_part(std::string text) {
  return {.kind = TagPart::Kind::kLiteral, .text = std::move(text), .machine = nullptr};
}

TagPart machine_part(std::shared_ptr<const ConstraintMachine> machine) {
  return {.kind = TagPart::Kind::kMachine, .text = {}, .machine = std::move(machine)};
}

TagPart until_part(std::string end, std::vector<std::string> never) {
  return {.kind = TagPart::Kind::kUntil,
          .text = std::move(end),
          .machine = nullptr,
          .never = std::move(never)};
}

bool is_tag_space(unsigned char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

Result<void> check_tag_set(const TagSet& set) {
  ZH_RETURN_IF_ERROR(check_calls(set));
  ZH_RETURN_IF_ERROR(check_triggers(set));
  ZH_RETURN_IF_ERROR(check_parts(set.prologue));
  for (const TagRule& rule : set.rules) ZH_RETURN_IF_ERROR(check_parts(rule.parts));
  for (const auto& parts : set.alternatives) ZH_RETURN_IF_ERROR(check_parts(parts));
  return {};
}

}  // namespace zerohop
