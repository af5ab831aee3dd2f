#include "api/openai_output.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "api/json_value_writer.h"
#include "api/openai_fields.h"

namespace zerohop {
namespace {

Result<OutputRules> schema_rules(const JsonPlace& schema) {
  const bool* anything = schema.value().if_bool();
  if (!schema.value().is_object() && (anything == nullptr || !*anything)) {
    return schema.expected("a JSON schema (an object)");
  }
  return OutputRules{OutputFormat::kJsonSchema, json_text(schema.value())};
}

Result<OutputRules> parse_schema_format(const JsonPlace& format) {
  if (const auto named = format.find("json_schema")) {
    ZH_RETURN_IF_ERROR(named->expect_object());
    ZH_ASSIGN_OR_RETURN(const JsonPlace schema, named->require("schema"));
    return schema_rules(schema);
  }
  if (const auto schema = format.find("schema")) return schema_rules(*schema);
  ZH_RETURN_IF_ERROR(format.require("json_schema"));
  return OutputRules{};
}

struct RefusedRule {
  std::string_view field;
  std::string_view what;
};
constexpr std::array<RefusedRule, 5> kRefusedRules{{{"grammar", "grammars are"},
                                                    {"guided_grammar", "grammars are"},
                                                    {"guided_regex", "patterns for output are"},
                                                    {"guided_choice", "lists of choices are"},
                                                    {"structural_tag", "structural tags are"}}};

Result<void> refuse_rules(const JsonPlace& body) {
  for (const RefusedRule& rule : kRefusedRules) {
    const auto place = body.find(rule.field);
    if (!place) continue;
    const auto* text = place->value().if_string();
    if (text != nullptr && text->empty()) continue;
    return openai_unsupported(*place, rule.what);
  }
  return {};
}

Result<OutputRules> parse_structured_outputs(const JsonPlace& place) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  if (const auto schema = place.find("json")) return schema_rules(*schema);
  ZH_ASSIGN_OR_RETURN(const auto object, parse_openai_flag(place, "json_object"));
  if (object.value_or(false)) return OutputRules{OutputFormat::kJson, {}};
  return place.error("must hold `json` or `json_object`; no other rules are supported");
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

Result<OutputRules> parse_openai_format(const JsonPlace& format) {
  ZH_RETURN_IF_ERROR(format.expect_object());
  ZH_ASSIGN_OR_RETURN(const JsonPlace type_place, format.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view type, type_place.string());
  if (type == "text") return OutputRules{};
  if (type == "json_schema") return parse_schema_format(format);
  if (type == "json_object") {
    if (const auto schema = format.find("schema")) return schema_rules(*schema);
    return OutputRules{OutputFormat::kJson, {}};
  }
  return type_place.expected(R"("text", "json_object" or "json_schema")");
}

Result<OutputRules> parse_openai_output_rules(const JsonPlace& body) {
  ZH_RETURN_IF_ERROR(refuse_rules(body));
  if (const auto format = body.find("response_format")) return parse_openai_format(*format);
  if (const auto schema = body.find("json_schema")) return schema_rules(*schema);
  if (const auto schema = body.find("guided_json")) return schema_rules(*schema);
  if (const auto rules = body.find("structured_outputs")) return parse_structured_outputs(*rules);
  return OutputRules{};
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
