// For fuzz targets: what a parser promises of an answer's form, whatever the request was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json_reader.h"
#include "base/check.h"
#include "base/utf8.h"
#include "core/content.h"
#include "core/limits.h"

namespace zerohop {

inline void check_rule_text(std::string_view text, std::size_t most) {
  ZH_CHECK(!text.empty() && text.size() <= most);
  ZH_CHECK(utf8_is_valid(text));
}

inline void check_output_rules(const OutputRules& rules) {
  const OutputFormat format = rules.format;
  const bool by_pattern = format == OutputFormat::kRegex || format == OutputFormat::kGrammar;
  ZH_CHECK((format == OutputFormat::kJsonSchema) != rules.schema.empty());
  ZH_CHECK(by_pattern != rules.pattern.empty());
  ZH_CHECK((format == OutputFormat::kChoice) != rules.choices.empty());
  ZH_CHECK((format == OutputFormat::kText) == rules.field.empty());
  ZH_CHECK(utf8_is_valid(rules.field));
  if (format == OutputFormat::kRegex) check_rule_text(rules.pattern, limits::kPatternBytesMax);
  if (format == OutputFormat::kGrammar) check_rule_text(rules.pattern, limits::kGrammarBytesMax);
  ZH_CHECK(rules.choices.size() <= limits::kOutputChoicesMax);
  for (const std::string& choice : rules.choices) {
    check_rule_text(choice, limits::kChoicesBytesMax);
  }
  if (format != OutputFormat::kJsonSchema) return;
  check_rule_text(rules.schema, limits::kSchemaBytesMax);
  const auto schema = parse_json(rules.schema);
  ZH_CHECK(schema.ok());
  ZH_CHECK(schema->root().is_object() || schema->root().get_bool());
}

}  // namespace zerohop
