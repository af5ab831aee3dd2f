#include "api/openai_output.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "api/openai_fields.h"
#include "api/output_rules.h"

namespace zerohop {
namespace {

Result<OutputRules> any_json_rules(const JsonPlace& flag) {
  ZH_ASSIGN_OR_RETURN(const bool wanted, flag.boolean());
  OutputRules rules;
  if (!wanted) return rules;
  rules.format = OutputFormat::kJson;
  rules.field = flag.path();
  return rules;
}

Result<OutputRules> text_format_rules(const JsonPlace& format) {
  return parse_output_format(format, StrictByDefault::kNo);
}

// The chat API has the schema one level deeper, and that level is what is missing.
Result<OutputRules> response_format_rules(const JsonPlace& format) {
  const bool missing = format.text_or_empty("type") == "json_schema" && !format.find("schema") &&
                       !format.find("value");
  if (missing) ZH_RETURN_IF_ERROR(format.require("json_schema"));
  return text_format_rules(format);
}

Result<OutputRules> refuse_structural_tag(const JsonPlace& place) {
  return openai_unsupported(place, "structural tags are");
}

using Reader = Result<OutputRules> (*)(const JsonPlace&);

struct RuleField {
  std::string_view field;
  Reader read;
};

// Members of `structured_outputs`.
constexpr std::array<RuleField, 6> kStructuredOutputs{{{"json", schema_rules},
                                                       {"json_object", any_json_rules},
                                                       {"regex", pattern_rules},
                                                       {"choice", choice_rules},
                                                       {"grammar", grammar_rules},
                                                       {"structural_tag", refuse_structural_tag}}};

constexpr std::array<RuleField, 10> kFieldsOfOthers{{{"json_schema", schema_rules},
                                                     {"guided_json", schema_rules},
                                                     {"guided_json_object", any_json_rules},
                                                     {"guided_regex", pattern_rules},
                                                     {"guided_choice", choice_rules},
                                                     {"guided_grammar", grammar_rules},
                                                     {"grammar", grammar_rules},
                                                     {"regex", pattern_rules},
                                                     {"ebnf", grammar_rules},
                                                     {"structural_tag", refuse_structural_tag}}};

Result<void> take_field(const JsonPlace& parent, const RuleField& entry, OutputRulesOf& found) {
  const auto place = parent.find(entry.field);
  if (!place) return {};
  // Clients of other servers send empty patterns for "none".
  const bool form = entry.field.ends_with("format");
  if (!form && place->is_string() && place->string().value().empty()) return {};
  ZH_ASSIGN_OR_RETURN(OutputRules rules, entry.read(*place));
  return found.take(*place, std::move(rules));
}

Result<void> take_structured_outputs(const JsonPlace& body, OutputRulesOf& found) {
  const auto place = body.find("structured_outputs");
  if (!place) return {};
  ZH_RETURN_IF_ERROR(place->expect_object());
  OutputRulesOf inside;
  for (const RuleField& entry : kStructuredOutputs) {
    ZH_RETURN_IF_ERROR(take_field(*place, entry, inside));
  }
  OutputRules rules = inside.release();
  if (rules.format == OutputFormat::kText) {
    return place->error("must hold `json`, `json_object`, `regex`, `choice` or `grammar`");
  }
  return found.take(*place, std::move(rules));
}

Result<void> take_fields_of_others(const JsonPlace& body, OutputRulesOf& found) {
  for (const RuleField& entry : kFieldsOfOthers) {
    ZH_RETURN_IF_ERROR(take_field(body, entry, found));
  }
  return take_structured_outputs(body, found);
}

constexpr std::array<std::string_view, 2> kEffortsOff{"none", "minimal"};
constexpr std::array<std::string_view, 5> kEffortsOn{"low", "medium", "high", "xhigh", "max"};

Result<ThinkingMode> parse_effort(const JsonPlace& place, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string_view effort, place.string());
  const auto in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), effort) != list.end();
  };
  if (in(kEffortsOff)) return ThinkingMode::kDisabled;
  if (in(kEffortsOn)) return ThinkingMode::kEnabled;
  if (!options.strict()) return ThinkingMode::kDefault;
  return place.expected(R"("none", "minimal", "low", "medium", "high", "xhigh" or "max")");
}

ThinkingMode mode_of(bool enabled) {
  return enabled ? ThinkingMode::kEnabled : ThinkingMode::kDisabled;
}

Result<std::optional<ThinkingMode>> parse_switch(const JsonPlace& body) {
  using Mode = std::optional<ThinkingMode>;
  if (const auto arguments = body.find("chat_template_kwargs")) {
    ZH_RETURN_IF_ERROR(arguments->expect_object());
    ZH_ASSIGN_OR_RETURN(auto enabled, parse_openai_flag(*arguments, "enable_thinking"));
    if (enabled) return Mode(mode_of(*enabled));
    const auto thinking = arguments->find("thinking");
    if (thinking && thinking->value().is_bool()) return Mode(mode_of(thinking->value().as_bool()));
  }
  ZH_ASSIGN_OR_RETURN(const auto enabled, parse_openai_flag(body, "enable_thinking"));
  if (enabled) return Mode(mode_of(*enabled));
  const auto thinking = body.find("thinking");
  if (!thinking) return Mode();
  ZH_RETURN_IF_ERROR(thinking->expect_object());
  ZH_ASSIGN_OR_RETURN(const auto type, parse_openai_text(*thinking, "type"));
  if (type == "disabled") return Mode(ThinkingMode::kDisabled);
  if (type == "enabled" || type == "adaptive") return Mode(ThinkingMode::kEnabled);
  return Mode();
}

}  // namespace

Result<OutputRules> parse_openai_output_rules(const JsonPlace& body) {
  OutputRulesOf found;
  ZH_RETURN_IF_ERROR(take_field(body, {"response_format", response_format_rules}, found));
  ZH_RETURN_IF_ERROR(take_fields_of_others(body, found));
  return found.release();
}

Result<OutputRules> parse_responses_output_rules(const JsonPlace& body) {
  OutputRulesOf found;
  if (const auto text = body.find("text")) {
    ZH_RETURN_IF_ERROR(text->expect_object());
    ZH_RETURN_IF_ERROR(take_field(*text, {"format", text_format_rules}, found));
  }
  ZH_RETURN_IF_ERROR(take_fields_of_others(body, found));
  return found.release();
}

Result<ThinkingMode> parse_openai_thinking(const JsonPlace& body, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const auto by_switch, parse_switch(body));
  if (by_switch) return *by_switch;
  if (const auto reasoning = body.find("reasoning")) {
    ZH_RETURN_IF_ERROR(reasoning->expect_object());
    if (const auto effort = reasoning->find("effort")) return parse_effort(*effort, options);
    ZH_ASSIGN_OR_RETURN(const auto enabled, parse_openai_flag(*reasoning, "enabled"));
    if (enabled) return mode_of(*enabled);
  }
  if (const auto effort = body.find("reasoning_effort")) return parse_effort(*effort, options);
  return ThinkingMode::kDefault;
}

}  // namespace zerohop
