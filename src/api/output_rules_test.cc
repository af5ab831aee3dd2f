#include "api/output_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "api/error_body.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// The rules of a format as "SHAPE TEXT at FIELD", or the complaint.
std::string format(std::string_view text, StrictByDefault absent = StrictByDefault::kYes) {
  const auto document = parse_json(text);
  EXPECT_TRUE(document.ok()) << text;
  if (!document.ok()) return "";
  const JsonPlace body(document->root());
  const auto place = body.find("f");
  if (!place) return "no format";
  const auto rules = parse_output_format(*place, absent);
  if (!rules.ok()) return error_text(rules.error());
  constexpr std::string_view kNames[] = {"text", "json", "schema", "regex", "grammar", "choice"};
  std::string shown(kNames[static_cast<std::size_t>(rules->format)]);
  if (!rules->schema.empty()) shown += " " + rules->schema;
  if (!rules->pattern.empty()) shown += " " + rules->pattern;
  for (const std::string& choice : rules->choices) shown += " " + choice;
  if (!rules->field.empty()) shown += " at " + rules->field;
  return shown + (rules->strict ? "" : ", not strict");
}

TEST(OutputRules, EveryTypeHasItsOwnMember) {
  EXPECT_EQ(format(R"({"f":{"type":"text"}})"), "text");
  EXPECT_EQ(format(R"({"f":{"type":"json_object"}})"), "json at f");
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","schema":{"a":1}}})"),
            R"(schema {"a":1} at f.schema)");
  EXPECT_EQ(format(R"({"f":{"type":"regex","pattern":"a+"}})"), "regex a+ at f.pattern");
  EXPECT_EQ(format(R"({"f":{"type":"grammar","grammar":"root ::= [a]"}})"),
            "grammar root ::= [a] at f.grammar");
  EXPECT_EQ(format(R"({"f":{"type":"choice","choices":["a","b c"]}})"),
            "choice a b c at f.choices");
}

TEST(OutputRules, SpellingsOfOtherServersAreUnderstood) {
  EXPECT_EQ(format(R"({"f":{"type":"json","value":{}}})"), "schema {} at f.value");
  EXPECT_EQ(format(R"({"f":{"type":"json","schema":{}}})"), "schema {} at f.schema");
  EXPECT_EQ(format(R"({"f":{"type":"json_object","schema":{}}})"), "schema {} at f.schema");
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","value":{}}})"), "schema {} at f.value");
  EXPECT_EQ(format(R"({"f":{"type":"regex","regex":"a"}})"), "regex a at f.regex");
  EXPECT_EQ(format(R"({"f":{"type":"regex","value":"a"}})"), "regex a at f.value");
  EXPECT_EQ(format(R"({"f":{"type":"ebnf","ebnf":"root ::= [a]"}})"),
            "grammar root ::= [a] at f.ebnf");
  EXPECT_EQ(format(R"({"f":{"type":"choice","choice":["a"]}})"), "choice a at f.choice");
}

TEST(OutputRules, AMemberSaysTheTypeWhereThereIsNone) {
  EXPECT_EQ(format(R"({"f":{"regex":"a"}})"), "regex a at f.regex");
  EXPECT_EQ(format(R"({"f":{"grammar":"root ::= [a]"}})"), "grammar root ::= [a] at f.grammar");
  EXPECT_EQ(format(R"({"f":{"choices":["a"]}})"), "choice a at f.choices");
  EXPECT_EQ(format(R"({"f":{"schema":{}}})"), "f.type: is required");
}

TEST(OutputRules, StrictIsAsTheDialectHasItUnlessSaid) {
  const std::string silent = R"({"f":{"type":"json_schema","schema":{}}})";
  EXPECT_EQ(format(silent), "schema {} at f.schema");
  EXPECT_EQ(format(silent, StrictByDefault::kNo), "schema {} at f.schema, not strict");
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","schema":{},"strict":false}})"),
            "schema {} at f.schema, not strict");
  EXPECT_EQ(
      format(R"({"f":{"type":"json_schema","schema":{},"strict":true}})", StrictByDefault::kNo),
      "schema {} at f.schema");
  EXPECT_EQ(format(R"({"f":{"type":"json_object"}})", StrictByDefault::kNo), "json at f");
  EXPECT_EQ(format(R"({"f":{"type":"regex","pattern":"a","strict":1}})"),
            "f.strict: must be true or false, got 1");
}

TEST(OutputRules, WhatIsMissingOrWrongIsNamed) {
  EXPECT_EQ(format(R"({"f":7})"), "f: must be an object, got 7");
  EXPECT_EQ(format(R"({"f":{"type":7}})"), "f.type: must be a string, got 7");
  EXPECT_EQ(format(R"({"f":{"type":"regex"}})"), "f.pattern: is required");
  EXPECT_EQ(format(R"({"f":{"type":"regex","pattern":["a"]}})"),
            "f.pattern: must be a string, got an array");
  EXPECT_EQ(format(R"({"f":{"type":"regex","pattern":""}})"), "f.pattern: must not be empty");
  EXPECT_EQ(format(R"({"f":{"type":"grammar"}})"), "f.grammar: is required");
  EXPECT_EQ(format(R"({"f":{"type":"choice","choices":{}}})"),
            "f.choices: must be an array, got an object");
  EXPECT_EQ(format(R"({"f":{"type":"choice","choices":["a",""]}})"),
            "f.choices[1]: must not be empty");
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","schema":[]}})"),
            "f.schema: must be a JSON Schema (an object), got an array");
}

TEST(OutputRules, NumbersOfASchemaKeepTheirDigits) {
  const std::string schema =
      R"({"const":12345678901234567890123,"maximum":0.30000000000000000001,"multipleOf":0.01})";
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","schema":)" + schema + "}}"),
            "schema " + schema + " at f.schema");
}

TEST(OutputRules, SizesAreBounded) {
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes, 'a') + "\""; };
  EXPECT_EQ(
      format(R"({"f":{"type":"regex","pattern":)" + text(limits::kPatternBytesMax + 1) + "}}"),
      "f.pattern: must be at most 262144 bytes long, got 262145");
  EXPECT_EQ(
      format(R"({"f":{"type":"grammar","grammar":)" + text(limits::kGrammarBytesMax + 1) + "}}"),
      "f.grammar: must be at most 1048576 bytes long, got 1048577");
  EXPECT_EQ(format(R"({"f":{"type":"choice","choices":[)" + text(limits::kChoicesBytesMax) +
                   R"(,"b"]}})"),
            "f.choices: must be at most 1048576 bytes long, got 1048577");
  EXPECT_EQ(format(R"({"f":{"type":"json_schema","schema":{"a":)" + text(limits::kSchemaBytesMax) +
                   "}}}"),
            "f.schema: must be at most 4194304 bytes long, got 4194312");
  std::string many = "\"a\"";
  for (std::size_t i = 0; i < limits::kOutputChoicesMax; ++i) many += ",\"a\"";
  EXPECT_EQ(format(R"({"f":{"type":"choice","choices":[)" + many + "]}}"),
            "f.choices: must have at most 10000 entries, got 10001");
}

}  // namespace
}  // namespace zerohop
