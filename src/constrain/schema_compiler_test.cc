#include "constrain/schema_compiler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <variant>

#include "constrain/json_machine_test_kit.h"
#include "constrain/schema_form_oracle.h"

namespace zerohop {
namespace {

using Kind = SchemaRefusal::Kind;

SchemaRefusal refusal_of(const std::string& schema, const SchemaOptions& options = {}) {
  const CompiledSchema compiled = compile_schema(schema, options);
  const auto* refusal = std::get_if<SchemaRefusal>(&compiled);
  EXPECT_NE(refusal, nullptr) << schema;
  return refusal == nullptr ? SchemaRefusal{} : *refusal;
}

bool accepts(const std::string& schema, const std::string& text,
             const SchemaOptions& options = {}) {
  const auto form = json_form_of(schema, options);
  const auto value = parse_json_node(text);
  EXPECT_TRUE(value.ok()) << text;
  return form != nullptr && value.ok() && SchemaFormOracle(*form).accepts(*value);
}

TEST(SchemaCompiler, AnswersEveryCaseOfTheCaseList) {
  std::ifstream file("tests/cases/schema_cases.jsonl");
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    const auto parsed = parse_json_node(line);
    ASSERT_TRUE(parsed.ok()) << line;
    ++cases;
    const auto form = json_form_of(to_json_text(*parsed->find("schema")));
    ASSERT_NE(form, nullptr) << line;
    for (const bool wanted : {true, false}) {
      for (const JsonNode& text : parsed->find(wanted ? "accept" : "reject")->items) {
        const auto value = parse_json_node(text.text);
        const bool accepted = value.ok() && SchemaFormOracle(*form).accepts(*value);
        EXPECT_EQ(accepted, wanted) << parsed->find("id")->text << ": " << text.text;
      }
    }
  }
  EXPECT_GE(cases, 60);
}

TEST(SchemaCompiler, AnIntegerOfDraftFourHasNoPoint) {
  SchemaOptions old;
  old.draft = SchemaDraft::k4;
  for (const char* schema :
       {R"({"type":"integer"})", R"({"type":["null","integer"]})",
        R"({"type":"integer","enum":[1,2]})", R"({"allOf":[{"type":"integer"},{"minimum":0}]})"}) {
    EXPECT_TRUE(accepts(schema, "1", old)) << schema;
    EXPECT_FALSE(accepts(schema, "1.0", old)) << schema;
    EXPECT_TRUE(accepts(schema, "1.0")) << schema;
  }
  EXPECT_TRUE(accepts(R"({"type":"number"})", "1.0", old));
  EXPECT_TRUE(accepts(R"({"enum":[1]})", "1.0", old));
}

// Lists that become one list: each number keeps the way in which it may be written.
TEST(SchemaCompiler, AnIntegerOfDraftFourHasNoPointInListsThatAreUnited) {
  SchemaOptions old;
  old.draft = SchemaDraft::k4;
  for (const char* schema :
       {R"({"anyOf":[{"type":"integer","enum":[1]},{"type":"integer","enum":[2]}]})",
        R"({"oneOf":[{"type":"integer","enum":[1,2]},{"enum":["a"]}]})",
        R"({"anyOf":[{"anyOf":[{"type":"integer","enum":[1]},{"enum":[null]}]},{"enum":["b"]}]})",
        R"({"anyOf":[{"type":"integer","enum":[1]},{"enum":[2]}]})"}) {
    EXPECT_TRUE(accepts(schema, "1", old)) << schema;
    EXPECT_FALSE(accepts(schema, "1.0", old)) << schema;
  }
  EXPECT_TRUE(accepts(R"({"anyOf":[{"type":"integer","enum":[1]},{"enum":[2]}]})", "2.0", old));
}

// Python's json refuses an integer of 4,301 digits, JavaScript makes an infinity of 400.
TEST(SchemaCompiler, IntegersForReadersHaveAtMostAHundredDigits) {
  SchemaOptions options;
  options.numbers = SchemaOptions::NumberRange::kOfReaders;
  options.integers = SchemaOptions::Integers::kDigitsAlone;
  const std::string digits(99, '7');
  for (const char* schema : {R"({"type":"integer"})", R"({"type":"integer","minimum":-5})",
                             R"({"type":"integer","not":{"const":3}})",
                             R"({"type":"array","uniqueItems":true,"items":{"type":"integer"}})"}) {
    const bool array = std::string_view(schema).find("items") != std::string_view::npos;
    const auto text = [&](const std::string& number) {
      return array ? "[" + number + "]" : number;
    };
    EXPECT_TRUE(accepts(schema, text(digits), options)) << schema;
    EXPECT_TRUE(accepts(schema, text("123456789012345678901"), options)) << schema;
    EXPECT_FALSE(accepts(schema, text(digits + "77"), options)) << schema;
  }
  EXPECT_TRUE(
      accepts(R"({"type":"integer","minimum":1e120})", "1" + std::string(120, '0'), options));
  const std::string far = R"({"type":"array","uniqueItems":true,"minItems":3,"items":
      {"type":"integer","minimum":)" +
                          std::string(99, '9') + "}}";
  EXPECT_EQ(refusal_of(far, options).kind, Kind::kUnsupported);
}

TEST(SchemaCompiler, NamesThePlaceOfAKeywordOfTheWrongType) {
  const SchemaRefusal refusal = refusal_of(R"({"properties":{"a/b":{"items":{"minLength":"3"}}}})");
  EXPECT_EQ(refusal.kind, Kind::kInvalid);
  EXPECT_EQ(refusal.pointer, "/properties/a~1b/items");
  EXPECT_EQ(refusal.keyword, "minLength");
}

TEST(SchemaCompiler, NamesThePlaceOfALengthThatIsTooLarge) {
  const SchemaRefusal refusal = refusal_of(
      R"({"properties":{"a":{"type":"string","allOf":[{"minLength":3},{"minLength":2000000},
          {"maxLength":3000000}]}},"required":["a"]})");
  EXPECT_EQ(refusal.kind, Kind::kTooLarge);
  EXPECT_EQ(refusal.pointer, "/properties/a/allOf/1");
  EXPECT_EQ(refusal.keyword, "minLength");
}

TEST(SchemaCompiler, NamesThePlaceOfTheItemsThatCannotBeToldApart) {
  const std::string objects = R"({"type":"array","uniqueItems":true,"items":{"type":"object"}})";
  const std::string strings = R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})";
  for (const bool first : {true, false}) {
    const SchemaRefusal refusal =
        refusal_of(R"({"type":"object","properties":{"a":)" + (first ? objects : strings) +
                   R"(,"b":)" + (first ? strings : objects) + "}}");
    EXPECT_EQ(refusal.kind, Kind::kUnsupported);
    EXPECT_EQ(refusal.pointer, first ? "/properties/a" : "/properties/b");
    EXPECT_EQ(refusal.keyword, "uniqueItems");
  }
}

TEST(SchemaCompiler, RefusesEveryKeywordOfTheWrongType) {
  for (const char* schema : {R"({"type":5})",
                             R"({"type":"text"})",
                             R"({"type":[]})",
                             R"({"enum":1})",
                             R"({"properties":[]})",
                             R"({"properties":{"a":1}})",
                             R"({"required":"a"})",
                             R"({"required":[1]})",
                             R"({"items":7})",
                             R"({"anyOf":[]})",
                             R"({"allOf":{}})",
                             R"({"minimum":"1"})",
                             R"({"multipleOf":0})",
                             R"({"minItems":-1})",
                             R"({"minItems":1.5})",
                             R"({"pattern":1})",
                             R"({"format":1})",
                             R"({"uniqueItems":1})",
                             R"({"$ref":1})",
                             R"({"$ref":"#/nowhere"})",
                             R"({"not":1})",
                             R"({"if":1})",
                             R"({"dependentRequired":{"a":1}})",
                             R"([])",
                             R"(7)",
                             R"({)",
                             R"({"prefixItems":{}})",
                             R"({"patternProperties":{"a":3}})"}) {
    EXPECT_EQ(refusal_of(schema).kind, Kind::kInvalid) << schema;
  }
}

TEST(SchemaCompiler, RefusesAReferenceThatLeadsToItself) {
  EXPECT_EQ(refusal_of(R"({"$ref":"#"})").kind, Kind::kInvalid);
  EXPECT_EQ(refusal_of(R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#"}}})").kind,
            Kind::kInvalid);
  EXPECT_EQ(refusal_of(R"({"not":{"$ref":"#"}})").kind, Kind::kInvalid);
}

TEST(SchemaCompiler, RefusesADocumentThatItDoesNotKnow) {
  const std::string schema = R"({"$ref":"https://example.com/other.json#/$defs/a"})";
  EXPECT_EQ(refusal_of(schema).kind, Kind::kUnsupported);
  SchemaOptions options;
  options.known.push_back({"https://example.com/other.json", R"({"$defs":{"a":{"type":"null"}}})"});
  EXPECT_TRUE(accepts(schema, "null", options));
  EXPECT_FALSE(accepts(schema, "1", options));
}

TEST(SchemaCompiler, SaysWhenNothingSatisfiesASchema) {
  for (const char* schema :
       {"false", R"({"type":"string","enum":[1]})", R"({"allOf":[{"type":"null"},{"const":1}]})",
        R"({"type":"integer","minimum":3,"maximum":2})",
        R"({"type":"object","required":["a"],"properties":{"a":false}})",
        R"({"type":"array","minItems":3,"items":{"enum":[1,2]},"uniqueItems":true})",
        R"({"type":"object","minProperties":3,"propertyNames":{"enum":["a","b"]}})",
        R"({"type":"array","items":false,"contains":true})",
        R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
        R"({"type":"string","pattern":"^a","maxLength":0})",
        R"({"type":"object","required":["a","b","c"],"maxProperties":2})"}) {
    EXPECT_EQ(refusal_of(schema).kind, Kind::kUnsatisfiable) << schema;
  }
}

TEST(SchemaCompiler, CutsAwayWhatCannotBeSatisfied) {
  const auto form = json_form_of(R"({"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{}},
      "additionalProperties":false,
      "$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]}}})");
  ASSERT_NE(form, nullptr);
  const auto& object = std::get<ObjectForm>(form->nodes[SchemaForm::kRoot].at(0));
  ASSERT_EQ(object.declared.size(), 1U);
  EXPECT_EQ(object.declared[0].name, "b");
  EXPECT_TRUE(object.others.empty());
}

TEST(SchemaCompiler, DeclaresPropertiesInTheOrderOfTheSchema) {
  const auto form = json_form_of(R"({"type":"object","required":["z","c"],"properties":
      {"c":{},"a":{},"b":{}},"allOf":[{"properties":{"d":{},"a":{}}}],
      "additionalProperties":{"type":"null"}})");
  ASSERT_NE(form, nullptr);
  const auto& object = std::get<ObjectForm>(form->nodes[SchemaForm::kRoot].at(0));
  std::string order;
  for (const auto& property : object.declared) order += property.name;
  EXPECT_EQ(order, "cabdz");
}

TEST(SchemaCompiler, CountsTheBytesOfTheShortestDocument) {
  EXPECT_EQ(
      json_form_of(R"({"type":"object","required":["ab","c"],"properties":{"ab":{"type":"null"},
      "c":{"type":"array","minItems":2}}})")
          ->shortest_bytes[0],
      21U);
  EXPECT_EQ(json_form_of(R"({"enum":["abc","\n"]})")->shortest_bytes[0], 4U);
  EXPECT_EQ(json_form_of(R"({"type":"array","contains":{"const":"xy"},"minContains":2})")
                ->shortest_bytes[0],
            11U);
}

TEST(SchemaCompiler, StrictObjectsHaveTheirDeclaredPropertiesAlone) {
  SchemaOptions options;
  options.strict_objects = true;
  const std::string schema = R"({"type":"object","properties":{"a":{"type":"object","properties":
      {"b":{}}},"c":{}},"allOf":[{"properties":{"d":{}}}]})";
  EXPECT_TRUE(accepts(schema, R"({"a":{"b":1},"d":2})", options));
  EXPECT_FALSE(accepts(schema, R"({"a":{"x":1}})", options));
  EXPECT_FALSE(accepts(schema, R"({"x":1})", options));
  EXPECT_TRUE(accepts(schema, R"({"x":1})"));
  EXPECT_TRUE(accepts(R"({"type":"object"})", R"({"x":1})", options));
}

TEST(SchemaCompiler, FormatsAreAnnotationsWhenAskedTo) {
  SchemaOptions options;
  options.assert_formats = false;
  EXPECT_TRUE(accepts(R"({"format":"date"})", R"("x")", options));
  EXPECT_FALSE(accepts(R"({"format":"date"})", R"("x")"));
  EXPECT_TRUE(accepts(R"({"format":"int32"})", R"(1)"));
}

TEST(SchemaCompiler, DynamicReferencesFollowTheScope) {
  const std::string schema = R"({"$id":"https://example.com/root","$ref":"list","$defs":{
      "foo":{"$dynamicAnchor":"items","type":"string"},
      "list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},
              "$defs":{"items":{"$dynamicAnchor":"items"}}}}})";
  EXPECT_TRUE(accepts(schema, R"(["a"])"));
  EXPECT_FALSE(accepts(schema, R"([1])"));
}

TEST(SchemaCompiler, AReferenceHidesItsNeighboursUpToDraftSeven) {
  const std::string rest = R"("$ref":"#/definitions/a","maxItems":1,
      "definitions":{"a":{"type":"array"}}})";
  EXPECT_TRUE(accepts(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + rest, "[1,2]"));
  EXPECT_FALSE(accepts("{" + rest, "[1,2]"));
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += (i > 0 ? "," : "") + text;
  return all;
}

TEST(SchemaCompiler, EndsHostileSchemasWithARefusal) {
  std::string nest = R"({"type":"object"})";
  for (int i = 0; i < 40; ++i) {
    nest = R"({"allOf":[{"anyOf":[{"required":["a)" + std::to_string(i) + R"("]},{"required":["b)" +
           std::to_string(i) + R"("]}]},)" + nest + "]}";
  }
  EXPECT_EQ(refusal_of(nest).kind, Kind::kTooLarge);
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += (i > 0 ? "," : "") + (R"({"required":["p)" + std::to_string(i) + "\"]}");
  }
  EXPECT_EQ(refusal_of(R"({"oneOf":[)" + many + "]}").kind, Kind::kTooLarge);
  EXPECT_EQ(refusal_of(R"({"type":"array","minItems":4000000000})").kind, Kind::kTooLarge);
  EXPECT_EQ(refusal_of("[" + repeated("{}", 1'000'000) + "]").kind, Kind::kInvalid);
}

TEST(SchemaCompiler, FollowsALongChainOfReferences) {
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  constexpr int kLinks = 20'000;
  for (int i = 0; i < kLinks; ++i) {
    chain += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
  }
  chain += "\"d" + std::to_string(kLinks) + R"(":{"type":"null"}}})";
  EXPECT_TRUE(accepts(chain, "null"));
  EXPECT_FALSE(accepts(chain, "1"));
}

TEST(SchemaCompiler, ManyConstantsAreOneAlternative) {
  std::string values;
  for (int i = 0; i < 2'000; ++i) {
    values += (i > 0 ? "," : "") + (R"({"const":"v)" + std::to_string(i) + "\"}");
  }
  const auto form = json_form_of(R"({"oneOf":[)" + values + "]}");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->nodes[SchemaForm::kRoot].size(), 1U);
}

TEST(SchemaCompiler, AnObjectOfManyKindsNeedsOneAlternativeEach) {
  std::string kinds;
  for (int i = 0; i < 30; ++i) {
    kinds += (i > 0 ? "," : "") + (R"({"properties":{"kind":{"const":"k)" + std::to_string(i) +
                                   R"("},"x":{"type":"integer"}},"required":["kind","x"]})");
  }
  const auto form = json_form_of(R"({"type":"object","oneOf":[)" + kinds + "]}");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->nodes[SchemaForm::kRoot].size(), 30U);
}

}  // namespace
}  // namespace zerohop
