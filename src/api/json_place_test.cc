#include "api/json_place.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace zerohop {
namespace {

class JsonPlaceTest : public testing::Test {
 protected:
  // Puts `text` at `field` and says what reading it there complains about.
  template <class Read>
  static std::string complaint(std::string_view text, Read read) {
    const auto document = parse_json("{\"field\":" + std::string(text) + "}");
    EXPECT_TRUE(document.ok()) << text;
    if (!document.ok()) return "not JSON";
    const JsonPlace root(document->root());
    // A place that find() hides because it is null still has a path and a complaint.
    const JsonPlace place = root.member("field", document->root().as_object().at("field"));
    const auto result = read(place);
    if (result.ok()) return "";
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(result.error().field, "field");
    return result.error().message;
  }

  static std::string as_integer(std::string_view text) {
    return complaint(text, [](const JsonPlace& place) { return place.integer({1, 1000}); });
  }
  static std::string as_number(std::string_view text) {
    return complaint(text, [](const JsonPlace& place) { return place.number({0, 2.5}); });
  }
};

TEST_F(JsonPlaceTest, ReadsWholeNumbersInAnySpelling) {
  EXPECT_EQ(as_integer("1"), "");
  EXPECT_EQ(as_integer("1000"), "");
  EXPECT_EQ(as_integer("1.0"), "");
  EXPECT_EQ(as_integer("1e3"), "");
}

TEST_F(JsonPlaceTest, SaysWhatIntegerItWanted) {
  EXPECT_EQ(as_integer("\"ten\""), "must be an integer from 1 to 1000, got \"ten\"");
  EXPECT_EQ(as_integer("0"), "must be an integer from 1 to 1000, got 0");
  EXPECT_EQ(as_integer("-3"), "must be an integer from 1 to 1000, got -3");
  EXPECT_EQ(as_integer("1.5"), "must be an integer from 1 to 1000, got 1.5");
  EXPECT_EQ(as_integer("1001"), "must be an integer from 1 to 1000, got 1001");
  EXPECT_EQ(as_integer("18446744073709551615"),
            "must be an integer from 1 to 1000, got 18446744073709551615");
  EXPECT_EQ(as_integer("1e300"), "must be an integer from 1 to 1000, got 1e+300");
  EXPECT_EQ(as_integer("1e400"),
            "must be an integer from 1 to 1000, got a number too large to hold");
  EXPECT_EQ(as_integer("true"), "must be an integer from 1 to 1000, got true");
  EXPECT_EQ(as_integer("null"), "must be an integer from 1 to 1000, got null");
  EXPECT_EQ(as_integer("[]"), "must be an integer from 1 to 1000, got an array");
  EXPECT_EQ(as_integer("{}"), "must be an integer from 1 to 1000, got an object");
}

TEST_F(JsonPlaceTest, ReadsNumbersWithinTheirRange) {
  EXPECT_EQ(as_number("0"), "");
  EXPECT_EQ(as_number("2.5"), "");
  EXPECT_EQ(as_number("2"), "");
  EXPECT_EQ(as_number("1e-400"), "");
  EXPECT_EQ(as_number("-0.1"), "must be a number from 0 to 2.5, got -0.1");
  EXPECT_EQ(as_number("3"), "must be a number from 0 to 2.5, got 3");
  EXPECT_EQ(as_number("1e400"), "must be a number from 0 to 2.5, got a number too large to hold");
  EXPECT_EQ(as_number("-1e400"), "must be a number from 0 to 2.5, got a number too large to hold");
  EXPECT_EQ(as_number("\"1\""), "must be a number from 0 to 2.5, got \"1\"");
}

TEST_F(JsonPlaceTest, AnInfiniteRangeDoesNotLetInfinityIn) {
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_NE(complaint("1e400", [](const JsonPlace& p) { return p.number({-kMax, kMax}); }), "");
}

TEST_F(JsonPlaceTest, ReadsStringsBooleansObjectsAndArrays) {
  const auto string = [](const JsonPlace& place) { return place.string(); };
  const auto boolean = [](const JsonPlace& place) { return place.boolean(); };
  const auto object = [](const JsonPlace& place) { return place.expect_object(); };
  const auto pair = [](const JsonPlace& place) { return place.array_size(2); };
  EXPECT_EQ(complaint("\"x\"", string), "");
  EXPECT_EQ(complaint("1", string), "must be a string, got 1");
  EXPECT_EQ(complaint("false", boolean), "");
  EXPECT_EQ(complaint("\"true\"", boolean), "must be true or false, got \"true\"");
  EXPECT_EQ(complaint("0", boolean), "must be true or false, got 0");
  EXPECT_EQ(complaint("{}", object), "");
  EXPECT_EQ(complaint("[]", object), "must be an object, got an array");
  EXPECT_EQ(complaint("[1,2]", pair), "");
  EXPECT_EQ(complaint("{}", pair), "must be an array, got an object");
  EXPECT_EQ(complaint("[1,2,3]", pair), "must have at most 2 entries, got 3");
}

TEST_F(JsonPlaceTest, CutsALongStringAtAWholeCharacter) {
  const std::string long_text = "\"" + std::string(39, 'a') + "éé\"";
  EXPECT_EQ(as_integer(long_text),
            "must be an integer from 1 to 1000, got \"" + std::string(39, 'a') + "…\"");
}

TEST_F(JsonPlaceTest, EscapesLineBreaksOfAQuotedValue) {
  EXPECT_EQ(as_integer(R"("a\nb")"), R"(must be an integer from 1 to 1000, got "a\nb")");
}

TEST(JsonPlace, BuildsPathsOfKeysAndIndices) {
  const auto document = parse_json(R"({"messages":[{},{"content":[{"type":1}]}]})");
  ASSERT_TRUE(document.ok());
  const JsonPlace root(document->root());
  const auto messages = root.find("messages");
  ASSERT_TRUE(messages);
  const JsonPlace message = messages->element(1);
  const auto content = message.find("content");
  ASSERT_TRUE(content);
  const JsonPlace block = content->element(0);
  const auto type = block.require("type");
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(root.path(), "");
  EXPECT_EQ(type->path(), "messages[1].content[0].type");
  EXPECT_EQ(block.require("text").error().field, "messages[1].content[0].text");
  EXPECT_EQ(block.require("text").error().message, "is required");
}

TEST(JsonPlace, FindsNothingInNullAbsentOrOtherKinds) {
  const auto document = parse_json(R"({"null":null,"number":1})");
  ASSERT_TRUE(document.ok());
  const JsonPlace root(document->root());
  EXPECT_FALSE(root.find("null"));
  EXPECT_FALSE(root.find("absent"));
  const auto number = root.find("number");
  ASSERT_TRUE(number);
  EXPECT_FALSE(number->find("anything"));
}

TEST(JsonPlace, NamesTheBodyWhereThereIsNoPath) {
  const auto document = parse_json("[]");
  ASSERT_TRUE(document.ok());
  const JsonPlace root(document->root());
  EXPECT_EQ(root.expect_object().error().message,
            "the request body must be an object, got an array");
  EXPECT_EQ(root.expect_object().error().field, "");
}

TEST(JsonPlace, ReadsMembersThatOnlyInformWithoutComplaint) {
  const auto document = parse_json(R"({"a":"x","b":5,"c":[1,2]})");
  ASSERT_TRUE(document.ok());
  const JsonPlace root(document->root());
  EXPECT_EQ(root.text_or_empty("a"), "x");
  EXPECT_EQ(root.text_or_empty("b"), "");
  EXPECT_EQ(root.text_or_empty("d"), "");
  EXPECT_EQ(root.find("c")->elements(), 2u);
  EXPECT_EQ(root.find("b")->elements(), 0u);
  EXPECT_EQ(root.elements(), 0u);
}

}  // namespace
}  // namespace zerohop
