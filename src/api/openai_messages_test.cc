#include "api/openai_messages.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_request_dump.h"
#include "api/openai_test_parse.h"
#include "core/limits.h"

namespace zerohop {
namespace {

using openai_test::kStrict;

// The messages as text, or the complaint.
std::string read(std::string_view list, const ParseOptions& options = {}) {
  const auto document = parse_json(R"({"messages":)" + std::string(list) + "}");
  if (!document.ok()) return "bad test: " + document.error().message;
  const JsonPlace root(document->root());
  const auto place = root.find("messages");
  auto messages = parse_openai_messages(*place, options);
  if (!messages.ok()) return error_text(messages.error());
  Conversation conversation;
  conversation.messages = *std::move(messages);
  OpenAiRequestDump dump;
  dump.conversation(conversation);
  return dump.text();
}

TEST(OpenAiMessages, KeepsSystemMessagesWhereTheyStand) {
  EXPECT_EQ(read(R"([{"role":"system","content":"a"},{"role":"user","content":"b"},)"
                 R"({"role":"developer","content":"c"}])"),
            "message: system\n  text: \"a\"\nmessage: user\n  text: \"b\"\n"
            "message: system\n  text: \"c\"\n");
}

TEST(OpenAiMessages, OrdersAnAssistantTurnAsItWasMade) {
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[{"id":"c1","type":"function",)"
                 R"("function":{"name":"f","arguments":"{}"}}],"content":"text",)"
                 R"("reasoning_content":"thought"},{"role":"user","content":"x"}])"),
            "message: assistant\n  thinking: \"thought\"\n  text: \"text\"\n  call: c1 f {}\n"
            "message: user\n  text: \"x\"\n");
}

TEST(OpenAiMessages, ReadsOtherNamesOfReasoning) {
  EXPECT_EQ(read(R"([{"role":"assistant","reasoning":"r","content":"a"}])"),
            "message: assistant\n  thinking: \"r\"\n  text: \"a\"\n");
  EXPECT_EQ(read(R"([{"role":"assistant","reasoning":{"x":1},"content":"a"}])"),
            "message: assistant\n  text: \"a\"\n");
}

TEST(OpenAiMessages, ReadsARefusalAsText) {
  EXPECT_EQ(read(R"([{"role":"assistant","content":null,"refusal":"no"}])"),
            "message: assistant\n  text: \"no\"\n");
  EXPECT_EQ(read(R"([{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}])"),
            "message: assistant\n  text: \"no\"\n");
}

TEST(OpenAiMessages, MergesAdjacentResultsIntoOneUserTurn) {
  EXPECT_EQ(read(R"([{"role":"tool","tool_call_id":"a","content":"1"},)"
                 R"({"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"}]},)"
                 R"({"role":"user","content":"x"},{"role":"tool","tool_call_id":"c"}])"),
            "message: user\n  result: a\n    text: \"1\"\n  result: b\n    text: \"2\"\n"
            "message: user\n  text: \"x\"\nmessage: user\n  result: c\n");
}

constexpr std::string_view kTwoCalls =
    R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},)"
    R"({"id":"b","function":{"name":"g"}}]},)";

TEST(OpenAiMessages, GivesAResultWithoutIdToTheFirstOpenCall) {
  EXPECT_EQ(read(std::string(kTwoCalls) + R"({"role":"tool","content":"1"},{"role":"tool"}])"),
            "message: assistant\n  call: a f {}\n  call: b g {}\n"
            "message: user\n  result: a\n    text: \"1\"\n  result: b\n");
  EXPECT_EQ(read(std::string(kTwoCalls) + R"({"role":"tool","name":"g"},{"role":"tool"}])"),
            "message: assistant\n  call: a f {}\n  call: b g {}\n"
            "message: user\n  result: b\n  result: a\n");
}

TEST(OpenAiMessages, PairsFunctionMessagesWithTheirCalls) {
  EXPECT_EQ(read(R"([{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},)"
                 R"({"role":"function","name":"f","content":"1"}])"),
            "message: assistant\n  call: call_0 f {}\nmessage: user\n  result: call_0\n"
            "    text: \"1\"\n");
}

TEST(OpenAiMessages, RefusesAResultWithoutAnyCall) {
  EXPECT_EQ(read(R"([{"role":"tool","content":"1"}])"), "messages[0].tool_call_id: is required");
  EXPECT_EQ(read(R"([{"role":"tool","tool_call_id":"","content":"1"}])"),
            "messages[0]: needs a tool_call_id that is not empty");
  EXPECT_EQ(read(R"([{"role":"tool","tool_call_id":"z","content":"1"}])", kStrict),
            "messages[0]: must answer a call of the preceding assistant message");
  EXPECT_EQ(read(std::string(kTwoCalls) + R"({"role":"tool","tool_call_id":"a","content":""},)"
                                          R"({"role":"tool","tool_call_id":"a","content":""}])",
                 kStrict),
            "messages[2]: must answer a call of the preceding assistant message");
}

TEST(OpenAiMessages, ReadsCustomCalls) {
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[{"id":"a","type":"custom",)"
                 R"("custom":{"name":"f","input":"x\"y"}}]}])"),
            "message: assistant\n  call: a f {\"input\":\"x\\\"y\"}\n");
}

TEST(OpenAiMessages, TrimsAPrefillOnly) {
  EXPECT_EQ(
      read(R"([{"role":"assistant","content":"a \n"},{"role":"assistant","content":"b \n"}])"),
      "message: assistant\n  text: \"a \\n\"\nmessage: assistant\n  text: \"b\"\n");
  EXPECT_EQ(read(R"([{"role":"user","content":"a "}])"), "message: user\n  text: \"a \"\n");
}

TEST(OpenAiMessages, AllowsMissingContentUnlessStrict) {
  EXPECT_EQ(read(R"([{"role":"user"}])"), "message: user\n");
  EXPECT_EQ(read(R"([{"role":"user"}])", kStrict), "messages[0].content: is required");
}

TEST(OpenAiMessages, NamesThePlaceOfEveryFault) {
  EXPECT_EQ(read("[]"), "messages: at least one message is required");
  EXPECT_EQ(read("{}"), "messages: must be an array, got an object");
  EXPECT_EQ(read("[5]"), "messages[0]: must be an object, got 5");
  EXPECT_EQ(read(R"([{"content":"a"}])"), "messages[0].role: is required");
  EXPECT_EQ(read(R"([{"role":5}])"), "messages[0].role: must be a string, got 5");
  EXPECT_EQ(read(R"([{"role":"user","content":5}])"),
            "messages[0].content: must be a string or an array of content parts, got 5");
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":{}}])"),
            "messages[0].tool_calls: must be an array, got an object");
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[{"id":"a"}]}])"),
            "messages[0].tool_calls[0].function: is required");
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[{"id":5}]}])"),
            "messages[0].tool_calls[0].id: must be a string, got 5");
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f",)"
                 R"("arguments":[]}}]}])"),
            "messages[0].tool_calls[0].function.arguments: must be a string, got an array");
}

TEST(OpenAiMessages, BoundsTheCallsOfOneMessage) {
  std::string calls;
  for (int i = 0; i < 1'025; ++i) {
    calls.append(calls.empty() ? "" : ",").append(R"({"function":{"name":"f"}})");
  }
  EXPECT_EQ(read(R"([{"role":"assistant","tool_calls":[)" + calls + "]}]"),
            "messages[0].tool_calls: must have at most 1024 entries, got 1025");
}

}  // namespace
}  // namespace zerohop
