#include "api/output_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "api/json_value_writer.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::string_view kWantedSchema = "a JSON Schema (an object)";
constexpr std::string_view kWantedType =
    R"("text", "json_object", "json_schema", "regex", "grammar" or "choice")";

Error too_long(const JsonPlace& place, std::size_t bytes, std::size_t most) {
  return place.error("must be at most " + std::to_string(most) + " bytes long, got " +
                     std::to_string(bytes));
}

bool is_schema(const boost::json::value& value) {
  const bool* flag = value.if_bool();
  return value.is_object() || (flag != nullptr && *flag);
}

// Of a tree or of a text that holds one.
Result<std::string> schema_text(const JsonPlace& place) {
  if (is_schema(place.value())) return json_text(place.value());
  if (!place.is_string()) return place.expected(kWantedSchema);
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  const auto document = parse_json(text);
  if (!document.ok() || !is_schema(document->root())) return place.expected(kWantedSchema);
  return json_text(document->root());
}

Result<OutputRules> text_rules(const JsonPlace& place, OutputFormat format, std::size_t most) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  if (text.size() > most) return too_long(place, text.size(), most);
  OutputRules rules;
  rules.format = format;
  rules.pattern = text;
  rules.field = place.path();
  return rules;
}

// ---- Formats with a type ----

using Reader = Result<OutputRules> (*)(const JsonPlace&);

struct FormatType {
  std::string_view name;
  Reader read;
  std::array<std::string_view, 3> members;  // the first one is ours; empty ones are none
  bool needs_member = true;                 // false: without one it is JSON of any form
};
constexpr std::array<FormatType, 7> kTypes{{
    {"json_object", schema_rules, {"schema", "value", ""}, false},
    {"json", schema_rules, {"schema", "value", ""}, false},
    {"json_schema", schema_rules, {"schema", "value", ""}},
    {"regex", pattern_rules, {"pattern", "regex", "value"}},
    {"grammar", grammar_rules, {"grammar", "value", ""}},
    {"ebnf", grammar_rules, {"ebnf", "grammar", ""}},
    {"choice", choice_rules, {"choices", "choice", "value"}},
}};

// Members that say the type where there is none.
struct TypeOfMember {
  std::string_view member;
  std::string_view type;
};
constexpr std::array<TypeOfMember, 3> kTypesOfMembers{
    {{"regex", "regex"}, {"grammar", "grammar"}, {"choices", "choice"}}};

Result<std::string_view> type_of(const JsonPlace& format) {
  if (const auto place = format.find("type")) return place->string();
  for (const TypeOfMember& entry : kTypesOfMembers) {
    if (format.find(entry.member)) return entry.type;
  }
  ZH_RETURN_IF_ERROR(format.require("type"));
  return std::string_view();
}

OutputRules any_json(const JsonPlace& place) {
  OutputRules rules;
  rules.format = OutputFormat::kJson;
  rules.field = place.path();
  return rules;
}

Result<OutputRules> read_members(const JsonPlace& format, const FormatType& type) {
  for (const std::string_view member : type.members) {
    if (member.empty()) continue;
    if (const auto place = format.find(member)) return type.read(*place);
  }
  if (!type.needs_member) return any_json(format);
  ZH_RETURN_IF_ERROR(format.require(type.members.front()));
  return OutputRules{};
}

Result<OutputRules> read_strict(const JsonPlace& parent, StrictByDefault absent,
                                Result<OutputRules> read) {
  if (!read.ok()) return read;
  OutputRules rules = *std::move(read);
  rules.strict = absent == StrictByDefault::kYes;
  if (const auto place = parent.find("strict")) {
    ZH_ASSIGN_OR_RETURN(rules.strict, place->boolean());
  }
  return rules;
}

// The schema is one level deeper in the chat API, beside the type in the others.
Result<OutputRules> read_schema_format(const JsonPlace& format, const FormatType& type,
                                       StrictByDefault absent) {
  if (const auto named = format.find("json_schema")) {
    ZH_RETURN_IF_ERROR(named->expect_object());
    return read_strict(*named, absent, read_members(*named, type));
  }
  return read_strict(format, absent, read_members(format, type));
}

bool are_same(const OutputRules& one, const OutputRules& other) {
  return one.format == other.format && one.schema == other.schema && one.pattern == other.pattern &&
         one.choices == other.choices;
}

}  // namespace

Result<OutputRules> schema_rules(const JsonPlace& schema) {
  OutputRules rules;
  rules.format = OutputFormat::kJsonSchema;
  ZH_ASSIGN_OR_RETURN(rules.schema, schema_text(schema));
  if (rules.schema.size() > limits::kSchemaBytesMax) {
    return too_long(schema, rules.schema.size(), limits::kSchemaBytesMax);
  }
  rules.field = schema.path();
  return rules;
}

Result<OutputRules> pattern_rules(const JsonPlace& pattern) {
  return text_rules(pattern, OutputFormat::kRegex, limits::kPatternBytesMax);
}

Result<OutputRules> grammar_rules(const JsonPlace& grammar) {
  return text_rules(grammar, OutputFormat::kGrammar, limits::kGrammarBytesMax);
}

Result<OutputRules> choice_rules(const JsonPlace& choices) {
  OutputRules rules;
  rules.format = OutputFormat::kChoice;
  rules.field = choices.path();
  ZH_ASSIGN_OR_RETURN(const std::size_t count, choices.array_size(limits::kOutputChoicesMax));
  if (count == 0) return choices.error("must have at least one entry");
  std::size_t bytes = 0;
  rules.choices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPlace place = choices.element(i);
    ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
    if (text.empty()) return place.error("must not be empty");
    bytes += text.size();
    if (bytes > limits::kChoicesBytesMax) return too_long(choices, bytes, limits::kChoicesBytesMax);
    rules.choices.emplace_back(text);
  }
  return rules;
}

Result<OutputRules> parse_output_format(const JsonPlace& format, StrictByDefault absent) {
  ZH_RETURN_IF_ERROR(format.expect_object());
  ZH_ASSIGN_OR_RETURN(const std::string_view name, type_of(format));
  if (name == "text") return OutputRules{};
  const auto* type = std::ranges::find(kTypes, name, &FormatType::name);
  if (type != kTypes.end()) {
    if (name == "json_schema") return read_schema_format(format, *type, absent);
    return read_strict(format, StrictByDefault::kYes, read_members(format, *type));
  }
  const JsonPlace place = *format.find("type");
  if (name == "structural_tag") {
    return place.error("structural tags are not supported by this server");
  }
  return place.expected(kWantedType);
}

Result<void> OutputRulesOf::take(const JsonPlace& place, OutputRules rules) {
  if (rules.format == OutputFormat::kText) return {};
  if (rules_.format == OutputFormat::kText) {
    rules_ = std::move(rules);
    place_ = place.path();
    return {};
  }
  if (are_same(rules_, rules)) return {};
  return place.error("must not stand beside " + place_ + ": an answer has one form");
}

Result<void> refuse_cuts(const JsonPlace& body, const OutputRules& rules,
                         const GenerationParameters& generation) {
  if (rules.format == OutputFormat::kText) return {};
  const std::string reason = "must not stand beside " + rules.field +
                             ": it could end the answer before its form is complete";
  if (!generation.stop_sequences.empty()) {
    const auto stop = body.find("stop_sequences");
    return stop ? stop->error(reason) : invalid_request("stop", reason);
  }
  if (const auto cap = body.find("soft_cap")) return cap->error(reason);
  return {};
}

}  // namespace zerohop
