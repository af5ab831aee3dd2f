#include "constrain/schema_document.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace zerohop {
namespace {

JsonNode node(std::string_view text) {
  auto parsed = parse_json_node(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? std::move(parsed).value() : JsonNode{};
}

std::string fault(std::string_view text, const JsonLimits& limits = {}) {
  const auto parsed = parse_json_node(text, limits);
  return parsed.ok() ? "" : parsed.error().message;
}

bool same(std::string_view a, std::string_view b) { return json_equal(node(a), node(b)); }

Decimal decimal(std::string_view text) {
  const auto parsed = parse_decimal(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Decimal{};
}

TEST(SchemaDocument, KeepsOrderAndDigits) {
  const JsonNode root = node(R"( {"b": 1.50e+3, "a": [true, false, null, "x"], "": {}} )");
  EXPECT_EQ(to_json_text(root), R"({"b":1.50e+3,"a":[true,false,null,"x"],"":{}})");
  EXPECT_EQ(root.find("b")->text, "1.50e+3");
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_TRUE(root.find("")->is(JsonNode::Type::kObject));
}

TEST(SchemaDocument, DecodesEscapes) {
  EXPECT_EQ(node(R"("a\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude00")").text,
            "a\"\\/\b\f\n\r\tA\u00e9\U0001f600");
  EXPECT_EQ(node(R"("\u0000")").text, std::string(1, '\0'));
  EXPECT_EQ(to_json_text(node(R"("\u0000\u001f\" \n")")), R"("\u0000\u001f\" \n")");
}

TEST(SchemaDocument, NamesTheByteOfAFault) {
  EXPECT_EQ(fault("{\"a\":1,}"), "not JSON at byte 7: expected a member's name");
  EXPECT_EQ(fault("{\"a\":1,\"\\u0061\":2}"), "not JSON at byte 7: this name was there before");
  EXPECT_EQ(fault("[1 2]"), "not JSON at byte 3: expected ',' or ']'");
  EXPECT_EQ(fault(""), "not JSON at byte 0: a value is missing");
  EXPECT_EQ(fault("1 2"), "not JSON at byte 2: text behind the JSON value");
  EXPECT_EQ(fault("\"\xff\""), "not JSON at byte 1: not UTF-8");
  EXPECT_EQ(fault("[1e9999999999]"), "not JSON at byte 1: the number's exponent is out of range");
}

TEST(SchemaDocument, RefusesWhatIsNotRfc8259) {
  for (const std::string_view text : {"01",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1e",
                                      "-",
                                      "--1",
                                      "NaN",
                                      "tru",
                                      "'a'",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\t\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\u12g4\"",
                                      "[1,]",
                                      "{1:2}",
                                      "[",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "\xef\xbb\xbf{}",
                                      "/**/1",
                                      "1,",
                                      "[}"}) {
    EXPECT_FALSE(parse_json_node(text).ok()) << text;
  }
}

TEST(SchemaDocument, KeepsItsLimits) {
  EXPECT_EQ(fault("[[1]]", {.depth_max = 2}), "");
  EXPECT_NE(fault("[[[1]]]", {.depth_max = 2}), "");
  EXPECT_EQ(fault("[1,2]", {.nodes_max = 3}), "");
  EXPECT_NE(fault("[1,2,3]", {.nodes_max = 3}), "");
  EXPECT_NE(fault("12345", {.bytes_max = 4}), "");
  EXPECT_NE(fault(std::string(100'000, '[')), "");
}

TEST(SchemaDocument, FindsARepeatedNameAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_EQ(fault(text + "\"k1000\":1}"), "");
  EXPECT_NE(fault(text + "\"k500\":1}"), "");
}

TEST(SchemaDocument, EqualIsByValue) {
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("[100, -0]", "[1e2, 0.0]"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992"));
  EXPECT_TRUE(same(R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[1]", "[1,1]"));
  EXPECT_FALSE(same("\"1\"", "1"));
  EXPECT_FALSE(same("null", "false"));
  EXPECT_TRUE(same("\"\\u0061\"", "\"a\""));
}

TEST(Decimal, IsNormalised) {
  EXPECT_EQ(decimal("1.50e3"), (Decimal{false, "15", 2}));
  EXPECT_EQ(decimal("-0.00120"), (Decimal{true, "12", -4}));
  EXPECT_EQ(decimal("-0.0e5"), Decimal{});
  EXPECT_EQ(decimal("0e99999999999999999999"), Decimal{});
  EXPECT_EQ(decimal("1e1000000000").exponent, 1'000'000'000);
  EXPECT_FALSE(parse_decimal("1e1000000001").ok());
  EXPECT_FALSE(parse_decimal("1e-99999999999999999999").ok());
  EXPECT_FALSE(parse_decimal("").ok());
  EXPECT_FALSE(parse_decimal("1x").ok());
  EXPECT_FALSE(parse_decimal(" 1").ok());
}

TEST(Decimal, ComparesExactly) {
  const std::vector<std::string_view> ascending = {"-1e400",
                                                   "-100",
                                                   "-99.5",
                                                   "-99.4999999999999999999999999",
                                                   "-1e-400",
                                                   "0",
                                                   "1e-400",
                                                   "0.0001",
                                                   "0.001",
                                                   "0.00100000000000000000000001",
                                                   "0.9",
                                                   "1",
                                                   "1.00001",
                                                   "9",
                                                   "10",
                                                   "18446744073709551615",
                                                   "18446744073709551616"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(compare(decimal(ascending[i]), decimal(ascending[j])), i < j   ? -1
                                                                       : i > j ? 1
                                                                               : 0)
          << ascending[i] << " and " << ascending[j];
    }
  }
}

TEST(Decimal, IsASmallIntegerUpToEighteenDigits) {
  EXPECT_EQ(small_integer(decimal("0")), 0);
  EXPECT_EQ(small_integer(decimal("-12.0e3")), -12'000);
  EXPECT_EQ(small_integer(decimal("999999999999999999")), 999'999'999'999'999'999);
  EXPECT_EQ(small_integer(decimal("1e18")), std::nullopt);
  EXPECT_EQ(small_integer(decimal("1e1000000000")), std::nullopt);
  EXPECT_EQ(small_integer(decimal("1.5")), std::nullopt);
}

TEST(Decimal, IsWrittenAsItWouldBeRead) {
  EXPECT_EQ(to_text(decimal("1200")), "1200");
  EXPECT_EQ(to_text(decimal("-12.50")), "-12.5");
  EXPECT_EQ(to_text(decimal("0.001")), "0.001");
  EXPECT_EQ(to_text(decimal("1.25e300")), "1.25e300");
  EXPECT_EQ(to_text(decimal("-1e-300")), "-1e-300");
  for (const std::string_view text : {"0", "123456789012345678901234567890", "1e20", "1e21",
                                      "1e-19", "1e-20", "1e-21", "-0.000123", "10.01"}) {
    EXPECT_EQ(decimal(to_text(decimal(text))), decimal(text)) << text;
  }
}

}  // namespace
}  // namespace zerohop
