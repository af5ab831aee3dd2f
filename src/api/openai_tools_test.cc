#include "api/openai_tools.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_test_parse.h"

namespace zerohop {
namespace {

using openai_test::chat_complaint;
using openai_test::kStrict;
using openai_test::parsed_chat;

constexpr std::string_view kTwoTools = R"("tools":[{"type":"function","function":{"name":"f"}},)"
                                       R"({"type":"function","function":{"name":"g"}}])";

std::string with_tools(std::string_view fields) {
  return std::string(kTwoTools) + "," + std::string(fields);
}

ToolChoice choice(std::string_view fields) {
  return parsed_chat(with_tools(fields)).chat.conversation.tool_choice;
}

std::vector<ToolDefinition> tools(std::string_view list) {
  return parsed_chat("\"tools\":" + std::string(list)).chat.conversation.tools;
}

TEST(OpenAiTools, ReadsANestedFunction) {
  const auto read =
      tools(R"([{"type":"function","function":{"name":"f","description":"d","strict":true,)"
            R"("parameters":{"type":"object","properties":{"b":{},"a":{}}}}}])");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, "f");
  EXPECT_EQ(read[0].description, "d");
  EXPECT_TRUE(read[0].strict);
  EXPECT_FALSE(read[0].deferred);
  EXPECT_EQ(read[0].input_schema, R"({"type":"object","properties":{"b":{},"a":{}}})");
}

TEST(OpenAiTools, ReadsFlatAndBareFunctions) {
  const auto read = tools(R"([{"type":"function","name":"f","parameters":{"x":1}},)"
                          R"({"name":"g","input_schema":{"y":2}},)"
                          R"({"type":"custom","name":"h","input_schema":{"z":3}}])");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].input_schema, R"({"x":1})");
  EXPECT_EQ(read[1].input_schema, R"({"y":2})");
  EXPECT_EQ(read[2].name, "h");
}

TEST(OpenAiTools, KnowWhereTheirSchemasWereWritten) {
  const auto read = tools(R"([{"type":"web_search"},{"type":"function","function":{"name":"f",)"
                          R"("parameters":{},"live_arguments":true}},)"
                          R"({"name":"g","input_schema":{}},{"name":"h"}])");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].field, "tools[1].function.parameters");
  EXPECT_EQ(read[1].field, "tools[2].input_schema");
  EXPECT_EQ(read[2].field, "");
  EXPECT_TRUE(read[0].live_arguments);
  EXPECT_FALSE(read[1].live_arguments);
  EXPECT_EQ(chat_complaint(R"("tools":[{"name":"g","live_arguments":"1"}])"),
            "tools[0].live_arguments: must be true or false, got \"1\"");
}

TEST(OpenAiTools, AreConstrainedUnlessTheRequestSaysOtherwise) {
  EXPECT_TRUE(parsed_chat("").chat.conversation.constrain_tools);
  EXPECT_FALSE(parsed_chat(R"("constrain_tools":false)").chat.conversation.constrain_tools);
  EXPECT_EQ(chat_complaint(R"("constrain_tools":1)"),
            "constrain_tools: must be true or false, got 1");
}

TEST(OpenAiTools, ArgumentsOfEarlierCallsKeepTheirDigits) {
  const auto read = parsed_chat(
      R"("model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function",)"
      R"("function":{"name":"f",)"
      R"("arguments":"{\"n\": 12345678901234567890123, \"x\": 1e-400}"}}]}])");
  const Message& message = read.chat.conversation.messages.at(0);
  EXPECT_EQ(std::get<ToolUseBlock>(message.content.at(0)).input,
            R"({"n":12345678901234567890123,"x":1e-400})");
}

TEST(OpenAiTools, GivesAFunctionWithoutParametersAnEmptyObject) {
  EXPECT_EQ(tools(R"([{"type":"function","function":{"name":"f","parameters":null}}])")
                .at(0)
                .input_schema,
            R"({"type":"object","properties":{}})");
}

TEST(OpenAiTools, LeavesOutWhatItCanNotOfferUnlessStrict) {
  constexpr std::string_view kList =
      R"([{"type":"web_search"},{"type":"custom","custom":{"name":"c"}},{"name":"f"}])";
  EXPECT_EQ(tools(kList).size(), 1u);
  EXPECT_EQ(chat_complaint(R"("model":"m","tools":)" + std::string(kList), kStrict),
            "tools[0].type: tools of type web_search are not supported by this server");
}

TEST(OpenAiTools, RefusesBrokenDefinitions) {
  const auto refused = [](std::string_view tool) {
    return chat_complaint("\"tools\":[" + std::string(tool) + "]");
  };
  EXPECT_EQ(refused(R"({"type":"function","function":{}})"), "tools[0].function.name: is required");
  EXPECT_EQ(refused(R"({"name":""})"), "tools[0].name: must be from 1 to 128 bytes long, got 0");
  EXPECT_EQ(refused("{\"name\":\"" + std::string(129, 'x') + "\"}"),
            "tools[0].name: must be from 1 to 128 bytes long, got 129");
  EXPECT_EQ(refused(R"({"name":"a\nb"})"), "tools[0].name: must hold printable characters only");
  EXPECT_EQ(refused(R"({"name":"f","parameters":"x"})"),
            "tools[0].parameters: must be an object, got \"x\"");
  EXPECT_EQ(refused(R"({"name":"f"},{"name":"f"})"),
            "tools[1]: has the name of an earlier tool: f");
  EXPECT_EQ(refused("5"), "tools[0]: must be an object, got 5");
  EXPECT_EQ(refused(R"({"name":"f","strict":"yes"})"),
            "tools[0].strict: must be true or false, got \"yes\"");
}

TEST(OpenAiTools, ReadsEveryChoice) {
  EXPECT_EQ(choice(R"("tool_choice":"auto")").kind, ToolChoiceKind::kAuto);
  EXPECT_EQ(choice(R"("tool_choice":"none")").kind, ToolChoiceKind::kNone);
  EXPECT_EQ(choice(R"("tool_choice":"required")").kind, ToolChoiceKind::kAny);
  EXPECT_EQ(choice(R"("tool_choice":"any")").kind, ToolChoiceKind::kAny);
  EXPECT_EQ(choice(R"("tool_choice":{"type":"auto"})").kind, ToolChoiceKind::kAuto);
  EXPECT_EQ(choice(R"("tool_choice":{"type":"any"})").kind, ToolChoiceKind::kAny);
  for (const std::string_view named :
       {R"({"type":"function","function":{"name":"g"}})", R"({"type":"function","name":"g"})",
        R"({"type":"tool","name":"g"})"}) {
    const ToolChoice chosen = choice("\"tool_choice\":" + std::string(named));
    EXPECT_EQ(chosen.kind, ToolChoiceKind::kTool) << named;
    EXPECT_EQ(chosen.name, "g") << named;
  }
}

TEST(OpenAiTools, TakesTheChoiceOfALeftOutToolForAuto) {
  EXPECT_EQ(choice(R"("tool_choice":{"type":"web_search"})").kind, ToolChoiceKind::kAuto);
}

TEST(OpenAiTools, KeepsOnlyAllowedTools) {
  for (const std::string_view allowed :
       {R"({"type":"allowed_tools","allowed_tools":{"mode":"required","tools":)"
        R"([{"type":"function","function":{"name":"g"}}]}})",
        R"({"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"},)"
        R"({"type":"web_search"}]})"}) {
    const Conversation conversation =
        parsed_chat(with_tools("\"tool_choice\":" + std::string(allowed))).chat.conversation;
    ASSERT_EQ(conversation.tools.size(), 1u) << allowed;
    EXPECT_EQ(conversation.tools[0].name, "g");
    EXPECT_EQ(conversation.tool_choice.kind, ToolChoiceKind::kAny);
  }
}

TEST(OpenAiTools, RefusesImpossibleChoices) {
  EXPECT_EQ(chat_complaint(with_tools(R"("tool_choice":{"type":"function","name":"h"})")),
            "tool_choice: names no tool of this request: h");
  EXPECT_EQ(chat_complaint(with_tools(R"("tool_choice":"maybe")")),
            R"(tool_choice: must be "none", "auto", "required" or an object, got "maybe")");
  EXPECT_EQ(chat_complaint(with_tools(R"("tool_choice":7)")),
            R"(tool_choice: must be "none", "auto", "required" or an object, got 7)");
  EXPECT_EQ(chat_complaint(with_tools(R"("tool_choice":{"type":"function"})")),
            "tool_choice.name: is required");
  EXPECT_EQ(chat_complaint(with_tools(R"("tool_choice":{"type":"allowed_tools","mode":"required",)"
                                      R"("tools":[]})")),
            "tool_choice: needs tools");
}

TEST(OpenAiTools, IgnoresAChoiceWithoutToolsUnlessStrict) {
  EXPECT_EQ(
      parsed_chat(R"("tools":[],"tool_choice":"required")").chat.conversation.tool_choice.kind,
      ToolChoiceKind::kAuto);
  EXPECT_EQ(chat_complaint(R"("model":"m","tool_choice":"required")", kStrict),
            "tool_choice: needs tools");
}

TEST(OpenAiTools, ReadsParallelToolCalls) {
  EXPECT_TRUE(choice(R"("tool_choice":"auto")").parallel);
  EXPECT_FALSE(choice(R"("parallel_tool_calls":false)").parallel);
  EXPECT_EQ(chat_complaint(with_tools(R"("parallel_tool_calls":1)")),
            "parallel_tool_calls: must be true or false, got 1");
}

TEST(OpenAiTools, ReadsTheOlderForm) {
  const OpenAiChatRequest request =
      parsed_chat(R"("functions":[{"name":"f"}],"function_call":{"name":"f"})");
  ASSERT_EQ(request.chat.conversation.tools.size(), 1u);
  EXPECT_EQ(request.chat.conversation.tool_choice.kind, ToolChoiceKind::kTool);
  EXPECT_FALSE(request.chat.conversation.tool_choice.parallel);
  EXPECT_TRUE(request.reply.legacy_functions);
  EXPECT_FALSE(parsed_chat(R"("tools":[],"functions":[{"name":"f"}])").reply.legacy_functions);
}

std::string arguments(std::string_view call) {
  const auto document = parse_json(call);
  const JsonPlace place(document->root());
  const auto result = parse_openai_arguments(place, "arguments");
  return result.ok() ? *result : error_text(result.error());
}

TEST(OpenAiTools, TurnsArgumentsIntoAnObject) {
  EXPECT_EQ(arguments(R"({"arguments":"{ \"b\": 1, \"a\": [2] }"})"), R"({"b":1,"a":[2]})");
  EXPECT_EQ(arguments(R"({"arguments":{"b":1}})"), R"({"b":1})");
  EXPECT_EQ(arguments(R"({"arguments":""})"), "{}");
  EXPECT_EQ(arguments(R"({"arguments":" \n"})"), "{}");
  EXPECT_EQ(arguments(R"({"arguments":null})"), "{}");
  EXPECT_EQ(arguments("{}"), "{}");
}

TEST(OpenAiTools, WrapsArgumentsThatAreNoObject) {
  EXPECT_EQ(arguments(R"({"arguments":"[1]"})"), R"({"arguments":"[1]"})");
  EXPECT_EQ(arguments(R"({"arguments":"a \"b\""})"), R"({"arguments":"a \"b\""})");
  EXPECT_EQ(arguments(R"({"arguments":"{\"cut\":"})"), R"({"arguments":"{\"cut\":"})");
  EXPECT_EQ(arguments(R"({"arguments":5})"), "arguments: must be a string, got 5");
}

}  // namespace
}  // namespace zerohop
