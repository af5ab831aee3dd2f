#include "api/live_arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace zerohop {
namespace {

// "off", "on" with the bias, or the complaint.
std::string read(std::string_view tool) {
  const auto document = parse_json(tool);
  EXPECT_TRUE(document.ok()) << tool;
  ToolDefinition definition;
  const Result<void> parsed = parse_live_arguments(JsonPlace(document->root()), definition);
  if (!parsed.ok()) return parsed.error().field + ": " + parsed.error().message;
  if (!definition.live_arguments) return "off";
  return "on " + std::to_string(definition.live_bias).substr(0, 4);
}

TEST(LiveArguments, AreOnAtTheUsualBiasOrAtAnother) {
  EXPECT_EQ(read("{}"), "off");
  EXPECT_EQ(read(R"({"live_arguments":null})"), "off");
  EXPECT_EQ(read(R"({"live_arguments":false})"), "off");
  EXPECT_EQ(read(R"({"live_arguments":true})"), "on 2.50");
  EXPECT_EQ(read(R"({"live_arguments":4})"), "on 4.00");
  EXPECT_EQ(read(R"({"live_arguments":0.5})"), "on 0.50");
  EXPECT_EQ(read(R"({"live_arguments":0})"), "off");
}

TEST(LiveArguments, OfAnythingElseAreRefused) {
  for (const std::string value : {"\"yes\"", "[]", "-1", "21", "1e300"}) {
    EXPECT_EQ(read("{\"live_arguments\":" + value + "}").substr(0, 15), "live_arguments:") << value;
  }
}

}  // namespace
}  // namespace zerohop
