#include "prompt/call_grammar.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "prompt/sure_machines.h"

namespace zerohop {
namespace {

// A text of a call, cut where something may vary.
using Parts = std::vector<TagPart>;

void add_literal(Parts& parts, std::string_view text) {
  if (!text.empty()) parts.push_back(literal_part(std::string(text)));
}

// One call without what stands around all calls, and without the list that some forms make of them.
struct CallTexts {
  std::string before;  ///< from the open mark to the arguments
  std::string behind;  ///< from there on
};

CallTexts call_texts(const CallForm& form, const std::string& name) {
  const ToolSyntax& syntax = *form.syntax;
  const bool tagged = syntax.kind == ToolSyntaxKind::kTagged;
  const std::string whole = write_tool_call(syntax, name, "{}");
  CallTexts texts;
  texts.before = write_call_up_to_arguments(syntax, name).substr(syntax.section_open.size());
  if (!tagged) texts.before.pop_back();
  texts.behind = whole.substr(texts.before.size() + (tagged ? 0 : 2));
  std::size_t cut = form.close_ends_turn ? syntax.close.size() : 0;
  if (syntax.array) {
    texts.before.erase(0, syntax.open.size() + 1);
    cut = syntax.close.size() + 1;
  }
  texts.behind.resize(texts.behind.size() - cut);
  return texts;
}

// What is written behind a name may hold the number of the call (":0"): any will do.
void add_before(Parts& parts, std::string_view text, const ToolSyntax& syntax) {
  const std::string_view note = syntax.name_note;
  const std::string note_and_mark = std::string(note).append(syntax.after_name);
  if (note.ends_with('0') && text.ends_with(note_and_mark)) {
    const std::size_t digit = text.size() - syntax.after_name.size() - 1;
    add_literal(parts, text.substr(0, digit));
    parts.push_back(machine_part(sure_pattern("[0-9]{1,3}")));
    text.remove_prefix(digit + 1);
  }
  add_literal(parts, text);
}

// A section that begins with `trigger`, of which `read` bytes of the call's own text are read.
TagRule call_rule(const CallForm& form, const CallableTool& tool, std::string trigger,
                  std::size_t read) {
  const CallTexts texts = call_texts(form, tool.name);
  TagRule rule{.trigger = std::move(trigger), .parts = {}};
  add_before(rule.parts, std::string_view(texts.before).substr(read), *form.syntax);
  rule.parts.insert(rule.parts.end(), tool.arguments.begin(), tool.arguments.end());
  add_literal(rule.parts, texts.behind);
  return rule;
}

std::uint32_t calls_max(const CallForm& form) {
  return form.parallel && !form.close_ends_turn ? TagSet::kAnyNumber : 1;
}

std::string_view separator_of(const ToolSyntax& syntax) {
  return syntax.array ? std::string_view(", ") : syntax.separator;
}

// All calls of an answer, without what stands around them.
std::shared_ptr<const ConstraintMachine> calls_machine(const CallForm& form) {
  TagSet set{.rules = {}, .calls_min = 1, .calls_max = calls_max(form)};
  set.text = TagSet::Text::kNone;
  set.between = separator_of(*form.syntax);
  const std::string opening = write_call_up_to_name(*form.syntax);
  std::size_t front = form.syntax->section_open.size();
  if (form.syntax->array) front += form.syntax->open.size() + 1;
  const std::string trigger = opening.substr(front);
  for (const CallableTool& tool : form.tools) {
    set.rules.push_back(call_rule(form, tool, trigger, trigger.size()));
  }
  return sure_machine(std::move(set));
}

bool only_letters(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char byte) { return std::isalpha(byte); });
}

// A mark of a call, and how much of the call's text is behind it.
struct Trigger {
  std::string text;
  std::size_t read = 0;
};

// The marks by which a reader knows a call; none contains another one.
std::vector<Trigger> triggers_of(const ToolSyntax& syntax) {
  std::vector<Trigger> triggers;
  if (!syntax.open.empty()) {
    const std::string_view mark = mark_core(syntax.open);
    triggers.push_back({std::string(mark), mark.size()});
  }
  const std::string_view other = mark_core(syntax.open_alternative);
  if (other.empty()) return triggers;
  const std::string_view name_mark = mark_core(syntax.before_name);
  const bool holds_name_mark = !name_mark.empty() && other.ends_with(name_mark);
  const std::size_t read = syntax.open.size() + (holds_name_mark ? syntax.before_name.size() : 0);
  if (!triggers.empty() && triggers.front().text.find(other) != std::string::npos) triggers.clear();
  triggers.push_back({std::string(other), read});
  return triggers;
}

// The list that some forms make of their calls.
Parts list_parts(const CallForm& form) {
  const std::string close = form.close_ends_turn ? std::string() : std::string(form.syntax->close);
  return {machine_part(calls_machine(form)), literal_part("]" + close)};
}

void add_list_rules(const CallForm& form, TagSet& set) {
  for (const Trigger& trigger : triggers_of(*form.syntax)) {
    TagRule rule{.trigger = trigger.text, .parts = list_parts(form)};
    std::string rest = std::string(form.syntax->open.substr(trigger.read)) + "[";
    if (only_letters(rule.trigger)) {
      rule.trigger += rest;
      rest.clear();
    }
    if (!rest.empty()) rule.parts.insert(rule.parts.begin(), literal_part(rest));
    set.rules.push_back(std::move(rule));
  }
  if (!form.parallel) set.calls_max = 1;
}

}  // namespace

TagSet text_with_calls(const CallForm& form) {
  const ToolSyntax& syntax = *form.syntax;
  TagSet set{.rules = {}, .calls_max = calls_max(form)};
  if (syntax.array) {
    add_list_rules(form, set);
    return set;
  }
  const bool bare = syntax.open.empty();
  // Behind its first call nothing but calls can follow where a brace is enough to begin one.
  if (bare || form.close_ends_turn) set.text = TagSet::Text::kBeforeCalls;
  set.between = syntax.separator;
  for (const CallableTool& tool : form.tools) {
    for (const Trigger& trigger : triggers_of(syntax)) {
      set.rules.push_back(call_rule(form, tool, trigger.text, trigger.read));
    }
    if (!bare) continue;
    set.rules.push_back(call_rule(form, tool, "{", 1));
    set.rules.back().place = TagRule::Place::kBeginning;
  }
  return set;
}

std::vector<TagPart> only_calls(const CallForm& form) {
  const ToolSyntax& syntax = *form.syntax;
  Parts parts;
  add_literal(parts, syntax.section_open);
  if (syntax.array) {
    add_literal(parts, std::string(syntax.open) + "[");
    for (TagPart& part : list_parts(form)) parts.push_back(std::move(part));
  } else {
    parts.push_back(machine_part(calls_machine(form)));
  }
  if (!form.close_ends_turn) add_literal(parts, syntax.section_close);
  return parts;
}

}  // namespace zerohop
