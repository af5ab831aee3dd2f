#include "api/anthropic_tool_pairs.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_request.h"
#include "api/error_body.h"

namespace zerohop {
namespace {

std::string check(std::string_view messages, Strictness strictness = Strictness::kStrict) {
  const auto parsed = parse_messages_request(
      R"({"model":"m","max_tokens":1,"messages":[)" + std::string(messages) + "]}",
      ParseOptions{.strictness = strictness});
  return parsed.ok() ? "" : error_text(parsed.error());
}

std::string call(std::string_view id) {
  return R"({"type":"tool_use","name":"f","input":{},"id":")" + std::string(id) + "\"}";
}
std::string answer(std::string_view id) {
  return R"({"type":"tool_result","tool_use_id":")" + std::string(id) + "\"}";
}
std::string assistant(std::string_view content) {
  return R"({"role":"assistant","content":[)" + std::string(content) + "]}";
}
std::string user(std::string_view content) {
  return R"({"role":"user","content":[)" + std::string(content) + "]}";
}
constexpr std::string_view kHello = R"({"type":"text","text":"Hi"})";

TEST(ToolPairs, AnsweredCallsAreFineInAnyOrder) {
  EXPECT_EQ(check(user(kHello) + "," + assistant(call("a") + "," + call("b")) + "," +
                  user(answer("b") + "," + answer("a") + "," + std::string(kHello))),
            "");
  EXPECT_EQ(
      check(assistant(call("a")) + R"(,{"role":"system","content":"x"},)" + user(answer("a"))), "");
  EXPECT_EQ(check(user(kHello) + "," + assistant(call("a"))), "");
}

TEST(ToolPairs, AnswersWithoutACallAreErrors) {
  const std::string complaint =
      "unexpected `tool_use_id` found in `tool_result` blocks: each `tool_result` block must have "
      "a corresponding `tool_use` block in the previous message";
  EXPECT_EQ(check(user(answer("a"))), "messages[0].content[0].tool_use_id: " + complaint);
  EXPECT_EQ(check(assistant(call("a")) + "," + user(answer("a") + "," + answer("a"))),
            "messages[1].content[1].tool_use_id: " + complaint);
}

TEST(ToolPairs, CallsWithoutAnAnswerAreErrors) {
  const std::string complaint =
      ": `tool_use` ids were found without `tool_result` blocks immediately after: b";
  EXPECT_EQ(check(assistant(call("a") + "," + call("b")) + "," + user(answer("a"))),
            "messages[1].content" + complaint);
  EXPECT_EQ(check(assistant(call("b")) + "," + assistant(kHello)),
            "messages[1].content" + complaint);
}

TEST(ToolPairs, IdsOfCallsAreUnique) {
  EXPECT_EQ(check(assistant(call("a")) + "," + user(answer("a")) + "," + assistant(call("a"))),
            "messages[2].content[0].id: `tool_use` ids must be unique");
}

TEST(ToolPairs, LenientModeTakesThemAsTheyCome) {
  EXPECT_EQ(check(user(answer("nobody")) + "," + assistant(call("a") + "," + call("a")) + "," +
                      user(kHello),
                  Strictness::kLenient),
            "");
}

}  // namespace
}  // namespace zerohop
