#include "prompt/parameter_kinds.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using Names = std::vector<std::string>;

ParameterKind kind(const std::string& property, const std::string& more = {}) {
  return parameter_kinds(R"({"properties":{"p":)" + property + "}" + more + "}").of("p");
}

TEST(ParameterKinds, AreToldByTypes) {
  EXPECT_EQ(kind(R"({"type":"string"})"), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"type":["string"]})"), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"type":"array"})"), ParameterKind::kJson);
  EXPECT_EQ(kind(R"({"type":["integer","null"]})"), ParameterKind::kJson);
  EXPECT_EQ(kind(R"({"type":["string","null"]})"), ParameterKind::kOpen);
  EXPECT_EQ(kind(R"({"type":"odd"})"), ParameterKind::kOpen);
  EXPECT_EQ(kind("{}"), ParameterKind::kOpen);
  EXPECT_EQ(kind("true"), ParameterKind::kOpen);
}

TEST(ParameterKinds, AreToldByValues) {
  EXPECT_EQ(kind(R"({"enum":["a","1"]})"), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"enum":[1,{}]})"), ParameterKind::kJson);
  EXPECT_EQ(kind(R"({"enum":["a",1]})"), ParameterKind::kOpen);
  EXPECT_EQ(kind(R"({"enum":["a",1],"type":"integer"})"), ParameterKind::kJson);
  EXPECT_EQ(kind(R"({"const":"a"})"), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"const":"a"})", R"(,"$schema":"http://json-schema.org/draft-04/schema#")"),
            ParameterKind::kOpen);
}

TEST(ParameterKinds, AreToldByParts) {
  EXPECT_EQ(kind(R"({"anyOf":[{"type":"null"},{"type":"object"}]})"), ParameterKind::kJson);
  EXPECT_EQ(kind(R"({"oneOf":[{"type":"null"},{}]})"), ParameterKind::kOpen);
  EXPECT_EQ(kind(R"({"allOf":[{},{"type":"string"}]})"), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"not":{"type":"string"}})"), ParameterKind::kOpen);
}

TEST(ParameterKinds, AreToldByReferences) {
  const std::string defs = R"(,"$defs":{"s":{"type":"string"},"a/b":{"$ref":"#/$defs/s"},)"
                           R"("loop":{"$ref":"#/$defs/loop"}})";
  EXPECT_EQ(kind(R"({"$ref":"#/$defs/a~1b"})", defs), ParameterKind::kString);
  EXPECT_EQ(kind(R"({"$ref":"#"})", R"(,"type":"object")"), ParameterKind::kJson);
  for (const std::string reference :
       {"#/$defs/loop", "#/$defs/none", "other", "#name", "#/%24defs/s"}) {
    EXPECT_EQ(kind(R"({"$ref":")" + reference + "\"}", defs), ParameterKind::kOpen) << reference;
  }
  // There the reference means another place.
  EXPECT_EQ(kind(R"({"$id":"x:y","$ref":"#/$defs/s"})", defs), ParameterKind::kOpen);
  // In older drafts what stands beside it is not looked at.
  EXPECT_EQ(kind(R"({"type":"array","$ref":"#/$defs/s"})", defs), ParameterKind::kString);
}

TEST(ParameterKinds, AreFoundAroundTheRoot) {
  const ParameterKinds kinds = parameter_kinds(
      R"({"allOf":[{"$ref":"#/$defs/base"},{"properties":{"n":{"type":"number"}}}],)"
      R"("anyOf":[{"properties":{"s":{"type":"string"},"o":{"type":"null"}}},{}],)"
      R"("$defs":{"base":{"properties":{"s":{"type":"string"}}}}})");
  EXPECT_EQ(kinds.strings, Names{"s"});
  EXPECT_EQ(kinds.json, Names{"n"});
  EXPECT_EQ(kinds.of("o"), ParameterKind::kOpen);
}

TEST(ParameterKinds, AreNotKnownOfWhatIsNoSchema) {
  for (const char* text : {"", "[", "1", R"({"properties":7})", R"({"anyOf":7,"type":{}})"}) {
    EXPECT_EQ(parameter_kinds(text), ParameterKinds{}) << text;
  }
}

TEST(ParameterKinds, AreNotKnownWhereThatTakesTooLong) {
  std::string defs = R"("d0":{"type":"string"})";
  for (int i = 1; i < 40; ++i) {
    const std::string last = R"({"$ref":"#/$defs/d)" + std::to_string(i - 1) + "\"}";
    defs += ",\"d" + std::to_string(i) + "\":{\"allOf\":[" + last + "," + last + "]}";
  }
  EXPECT_EQ(kind(R"({"$ref":"#/$defs/d39"})", ",\"$defs\":{" + defs + "}"), ParameterKind::kOpen);
}

TEST(IsObjectSchema, SaysWhetherAllValuesAreObjects) {
  EXPECT_TRUE(is_object_schema(R"({"type":"object"})"));
  EXPECT_TRUE(is_object_schema(R"({"$ref":"#/$defs/o","$defs":{"o":{"type":"object"}}})"));
  EXPECT_FALSE(is_object_schema(R"({"type":["object","null"]})"));
  EXPECT_FALSE(is_object_schema(R"({"properties":{}})"));
  EXPECT_FALSE(is_object_schema("true"));
}

}  // namespace
}  // namespace zerohop
