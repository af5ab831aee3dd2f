#include "api/json_value_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/json_reader.h"

namespace zerohop {
namespace {

std::string rewritten(std::string_view text) {
  const auto document = parse_json(text);
  EXPECT_TRUE(document.ok()) << text;
  return document.ok() ? json_text(document->root()) : "";
}

TEST(JsonValueWriter, DropsWhiteSpaceAndKeepsTheOrderOfKeys) {
  EXPECT_EQ(rewritten(R"( { "z" : 1 , "a" : [ true , false , null ] , "m" : { } , "e" : [ ] } )"),
            R"({"z":1,"a":[true,false,null],"m":{},"e":[]})");
}

TEST(JsonValueWriter, EscapesKeysAndStrings) {
  EXPECT_EQ(rewritten(R"({"a\"b":"line\nbreak é \u0001"})"), R"({"a\"b":"line\nbreak é \u0001"})");
}

TEST(JsonValueWriter, WritesNumbersThatReadBackTheSame) {
  EXPECT_EQ(rewritten("[0,-1,18446744073709551615,-9223372036854775808,0.1,1e300,-2.5e-7]"),
            "[0,-1,18446744073709551615,-9223372036854775808,0.1,1e+300,-2.5e-07]");
}

TEST(JsonValueWriter, NumbersTooLargeToHoldBecomeTheLargest) {
  const std::string most = "[1.7976931348623157e+308,-1.7976931348623157e+308]";
  EXPECT_EQ(rewritten("[1e400,-1e400]"), most);
  EXPECT_EQ(rewritten(most), most);
}

TEST(JsonValueWriter, AppendsBehindWhatIsThere) {
  std::string out = "x=";
  append_json_value(boost::json::value("y"), out);
  EXPECT_EQ(out, R"(x="y")");
}

}  // namespace
}  // namespace zerohop
