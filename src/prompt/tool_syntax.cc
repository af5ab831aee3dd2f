#include "prompt/tool_syntax.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "constrain/json_text.h"

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";

// How far behind its open mark a call's name, and behind the name its arguments, are looked for.
constexpr std::size_t kProbeBytesMax = 64;

std::string without_spaces(std::string_view text) {
  std::string rest;
  for (const char byte : text) {
    if (kSpaces.find(byte) == std::string_view::npos) rest.push_back(byte);
  }
  return rest;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return without_spaces(text);
}

// The rest of `text` behind `part`, when `part` begins in its first `distance_max` bytes.
std::optional<std::string_view> behind(std::string_view text, std::string_view part,
                                       std::size_t distance_max) {
  const std::size_t at = text.find(part);
  if (at == std::string_view::npos || at > distance_max) return std::nullopt;
  return text.substr(at + part.size());
}

// The functions below ask whether a call in the form of `row` begins at the front of `text`, its
// open mark taken off. None of their texts has white space.

bool json_call_follows(const ToolSyntax& row, std::string_view text, const ToolCallProbe& probe) {
  const std::string name = joined({json_quoted(row.name_key), ":", json_quoted(probe.name)});
  const std::string key = joined({json_quoted(row.arguments_key), ":"});
  const std::string arguments =
      joined({"{", json_quoted(probe.key), ":", json_quoted(probe.value)});
  std::string as_string = json_quoted(arguments);  // how some templates write arguments
  as_string.pop_back();
  if (!text.starts_with(row.array ? "[{" : "{")) return false;
  const auto rest = behind(text, name, kProbeBytesMax);
  return rest && (behind(*rest, key + arguments, kProbeBytesMax) ||
                  behind(*rest, key + as_string, kProbeBytesMax));
}

bool named_call_follows(const ToolSyntax& row, std::string_view text, const ToolCallProbe& probe) {
  const std::string name = joined({row.before_name, probe.name});
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  if (row.kind == ToolSyntaxKind::kTagged) {
    return text.starts_with(joined({row.after_name, row.parameter_open, probe.key,
                                    row.parameter_middle, probe.value, row.parameter_close}));
  }
  const auto arguments = behind(text, joined({row.after_name}), kProbeBytesMax);
  return arguments && arguments->starts_with(
                          joined({"{", json_quoted(probe.key), ":", json_quoted(probe.value)}));
}

bool call_follows(const ToolSyntax& row, std::string_view text, const ToolCallProbe& probe) {
  return row.kind == ToolSyntaxKind::kJsonCall ? json_call_follows(row, text, probe)
                                               : named_call_follows(row, text, probe);
}

bool shows_call(const ToolSyntax& row, std::string_view text, const ToolCallProbe& probe) {
  for (const std::string_view mark : {row.open, row.open_alternative}) {
    if (mark.empty()) continue;
    const std::string open = joined({mark});
    for (std::size_t at = text.find(open); at != std::string_view::npos;
         at = text.find(open, at + 1)) {
      if (call_follows(row, text.substr(at + open.size()), probe)) return true;
    }
  }
  if (!row.open.empty()) return false;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    if (call_follows(row, text.substr(at), probe)) return true;
  }
  return false;
}

// A string value stands as it is, all others as JSON.
std::string tagged_value(std::string_view json) {
  if (!json.starts_with('"')) return std::string(json);
  return json_unquoted(json);
}

std::string write_body(const ToolSyntax& syntax, const ToolCallText& call) {
  std::string text;
  if (syntax.kind == ToolSyntaxKind::kJsonCall) {
    text.append("{").append(json_quoted(syntax.name_key)).append(": ");
    text.append(json_quoted(call.name)).append(", ");
    text.append(json_quoted(syntax.arguments_key)).append(": ");
    return text.append(call.input).append("}");
  }
  text.append(syntax.before_name).append(call.name).append(syntax.name_note);
  text.append(syntax.after_name);
  if (syntax.kind == ToolSyntaxKind::kNamedJson) {
    text.append(call.input);
  } else if (const auto members = json_members(call.input)) {
    for (const JsonMember& member : *members) {
      text.append(syntax.parameter_open).append(member.key).append(syntax.parameter_middle);
      text.append(tagged_value(member.value)).append(syntax.parameter_close);
    }
  }
  return text.append(syntax.arguments_close);
}

}  // namespace

std::string_view mark_core(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::string_view key_end_mark(const ToolSyntax& syntax) {
  const std::string_view middle = mark_core(syntax.parameter_middle);
  return mark_core(middle.substr(0, std::min(middle.find('\n'), middle.size())));
}

std::string name_problem(const ToolSyntax& syntax, std::string_view name) {
  if (syntax.kind == ToolSyntaxKind::kJsonCall) return {};
  if (name != mark_core(name)) return "it has white space around it";
  if (name.starts_with('{') || name.starts_with('[')) return "it begins with a bracket";
  const std::string_view before = mark_core(syntax.before_name);
  if (!before.empty() && syntax.open_alternative.ends_with(before) && name.starts_with(before)) {
    return "it begins with " + json_quoted(before);
  }
  const std::string_view mark = mark_core(syntax.after_name);
  if (!mark.empty() && name.find(mark) != std::string_view::npos) {
    return "it holds " + json_quoted(mark) + ", which ends a name";
  }
  // With a beginning of what ends a name at its own end it could be another tool's name and that.
  const std::string behind = std::string(syntax.name_note).append(syntax.after_name);
  std::string_view front = name;
  if (syntax.name_note.ends_with('0')) {  // which stands for any number
    front = name.substr(0, name.find_last_not_of("0123456789") + 1);
  }
  for (std::size_t size = behind.size(); size > 0; --size) {
    const std::string_view begun = std::string_view(behind).substr(0, size);
    if (name.ends_with(begun) || (front.size() < name.size() && front.ends_with(begun))) {
      return "it ends like what stands behind a name";
    }
  }
  return {};
}

bool can_name_parameter(const ToolSyntax& syntax, std::string_view name) {
  const std::string_view end = key_end_mark(syntax);
  return name == mark_core(name) && std::string(name).append(end).find(end) == name.size();
}

const ToolSyntax* recognise_tool_syntax(std::string_view rendered, const ToolCallProbe& probe) {
  const std::string text = without_spaces(rendered);
  for (const ToolSyntax& row : tool_syntax_table()) {
    if (shows_call(row, text, probe)) return &row;
  }
  return nullptr;
}

std::string write_tool_call(const ToolSyntax& syntax, std::string_view name,
                            std::string_view input) {
  std::string text(syntax.open);
  if (syntax.array) text += '[';
  text += write_body(syntax, {name, input});
  if (syntax.array) text += ']';
  return text.append(syntax.close);
}

std::string write_tool_calls(const ToolSyntax& syntax, std::span<const ToolCallText> calls) {
  if (calls.empty()) return {};
  std::string text(syntax.section_open);
  if (syntax.array) text.append(syntax.open).append("[");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) text += syntax.array ? std::string_view(", ") : syntax.separator;
    text += syntax.array ? write_body(syntax, calls[i])
                         : write_tool_call(syntax, calls[i].name, calls[i].input);
  }
  if (syntax.array) text.append("]").append(syntax.close);
  return text.append(syntax.section_close);
}

std::string write_call_up_to_name(const ToolSyntax& syntax) {
  std::string text = std::string(syntax.section_open).append(syntax.open);
  if (syntax.kind != ToolSyntaxKind::kJsonCall) return text.append(syntax.before_name);
  return text.append(syntax.array ? "[{" : "{").append(json_quoted(syntax.name_key)).append(": \"");
}

std::string write_call_up_to_arguments(const ToolSyntax& syntax, std::string_view name) {
  std::string text = write_call_up_to_name(syntax);
  if (syntax.kind == ToolSyntaxKind::kTagged) return text.append(name).append(syntax.after_name);
  if (syntax.kind == ToolSyntaxKind::kNamedJson) {
    return text.append(name).append(syntax.name_note).append(syntax.after_name).append("{");
  }
  append_json_escaped(text, name);
  return text.append("\", ").append(json_quoted(syntax.arguments_key)).append(": {");
}

}  // namespace zerohop
