#include "api/json_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "api/json_place.h"
#include "api/json_reader.h"
#include "api/json_value_writer.h"
#include "base/random.h"

namespace zerohop {
namespace {

std::string rewritten(const std::string& text) {
  const auto document = parse_json(text);
  EXPECT_TRUE(document.ok()) << text;
  return document.ok() ? json_text(document->root()) : "";
}

TEST(JsonNumbers, TheSameValueMayBeSpelledInManyWays) {
  for (const char* one : {"1", "1.0", "1e0", "10e-1", "0.1E+1", "0.001e3", "100e-2"}) {
    EXPECT_TRUE(is_same_number(1.0, one)) << one;
  }
  for (const char* zero : {"0", "-0", "0.00", "0e99999999999999999"}) {
    EXPECT_EQ(is_same_number(0.0, zero), std::string(zero).size() < 8) << zero;
  }
  EXPECT_TRUE(is_same_number(-2.5e-7, "-0.00000025"));
  EXPECT_TRUE(is_same_number(1e300, "1e300"));
}

TEST(JsonNumbers, OneDigitMoreIsAnotherNumber) {
  EXPECT_TRUE(is_same_number(0.1, "0.1"));
  EXPECT_FALSE(is_same_number(0.1, "0.1000000000000000055511151231257827"));
  EXPECT_FALSE(is_same_number(0.1, "-0.1"));
  EXPECT_FALSE(is_same_number(12345678901234567890.0, "12345678901234567891.5"));
  EXPECT_FALSE(is_same_number(0.0, "1e-400"));
}

TEST(JsonNumbers, DigitsSurviveReadingAndWriting) {
  for (const std::string text :
       {"12345678901234567890123", "-98765432109876543210", "0.1234567890123456789",
        "3.141592653589793238462643383279", "1.00000000000000000001", "1e-400",
        "123456789012345678.5", "99999999999999999999e-10"}) {
    EXPECT_EQ(rewritten(text), text);
    EXPECT_EQ(rewritten("{\"a\":[" + text + "]}"), "{\"a\":[" + text + "]}");
  }
}

// Whatever the library makes of them: numbers of 17 digits are read back by value.
TEST(JsonNumbers, SeventeenDigitsAreNeverRoundedToAnotherNumber) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = std::to_string(1 + random.below(9)) + ".";
    for (int digit = 0; digit < 16; ++digit) text += std::to_string(random.below(10));
    text += "e" + std::to_string(static_cast<int>(random.below(600)) - 300);
    const std::string read = rewritten(text);
    EXPECT_EQ(std::strtod(read.c_str(), nullptr), std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(JsonNumbers, AnExactNumberIsANumberAndNoText) {
  const auto document = parse_json("{\"t\":0.70000000000000000001,\"b\":12345678901234567890123}");
  ASSERT_TRUE(document.ok());
  const JsonPlace body(document->root());
  const auto place = body.find("t");
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->is_string());
  EXPECT_EQ(body.text_or_empty("t"), "");
  EXPECT_EQ(place->number({0, 1}).value(), 0.7);
  EXPECT_EQ(place->string().error().message, "must be a string, got 0.70000000000000000001");
  const auto big = body.find("b");
  ASSERT_TRUE(big);
  EXPECT_EQ(big->integer({0, 10}).error().message,
            "must be an integer from 0 to 10, got 12345678901234567890123");
  EXPECT_EQ(big->number({0, 1}).error().message,
            "must be a number from 0 to 1, got 12345678901234567890123");
}

TEST(JsonNumbers, ALongNumberIsCutInAComplaint) {
  const auto document = parse_json("{\"n\":" + std::string(1'000, '7') + ".5}");
  ASSERT_TRUE(document.ok());
  const JsonPlace body(document->root());
  const auto place = body.find("n");
  ASSERT_TRUE(place);
  EXPECT_LT(place->string().error().message.size(), 100u);
}

}  // namespace
}  // namespace zerohop
