#include "api/openai_responses_request.h"

#include <gtest/gtest.h>

#include <string>

#include "api/json_place.h"
#include "api/json_value_writer.h"
#include "api/openai_request_dump.h"
#include "api/openai_test_parse.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<OpenAiResponsesRequest> parse(std::string_view fields) {
  return parse_responses_request("{" + std::string(fields) + "}", {});
}

OpenAiResponsesRequest parsed(std::string_view fields) {
  auto result = parse(fields);
  EXPECT_TRUE(result.ok()) << openai_test::complaint_of(result);
  return result.ok() ? *std::move(result) : OpenAiResponsesRequest{};
}

std::string complaint(std::string_view fields) { return openai_test::complaint_of(parse(fields)); }

// The turns made from `input`, or the complaint.
std::string turns(std::string_view input) {
  const auto result = parse("\"input\":" + std::string(input));
  if (!result.ok()) return error_text(result.error());
  OpenAiRequestDump dump;
  dump.conversation(result->chat.conversation);
  return dump.text();
}

TEST(OpenAiResponsesRequest, ReadsTextWithInstructions) {
  const auto request =
      parsed(R"("input":"Hi","instructions":"Be brief.","max_output_tokens":5,"temperature":0.5,)"
             R"("top_p":0.25,"model":"m","stream":true)");
  const auto& messages = request.chat.conversation.messages;
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].role, Role::kSystem);
  EXPECT_EQ(std::get<TextBlock>(messages[0].content.at(0)).text, "Be brief.");
  EXPECT_EQ(messages[1].role, Role::kUser);
  EXPECT_EQ(request.chat.model, "m");
  EXPECT_EQ(request.chat.generation.max_tokens, 5u);
  EXPECT_EQ(request.chat.generation.sampling.temperature, 0.5f);
  EXPECT_EQ(request.chat.generation.sampling.top_p, 0.25f);
  EXPECT_TRUE(request.chat.stream);
  EXPECT_EQ(parsed(R"("input":"a")").chat.generation.max_tokens, limits::kDefaultMaxTokens);
}

TEST(OpenAiResponsesRequest, GathersAnAssistantTurnFromItsItems) {
  EXPECT_EQ(turns(R"([{"role":"user","content":"a"},)"
                  R"({"type":"reasoning","summary":[{"type":"summary_text","text":"h"}]},)"
                  R"({"type":"message","role":"assistant","content":[{"type":"output_text",)"
                  R"("text":"b"}]},)"
                  R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},)"
                  R"({"type":"function_call","call_id":"c2","name":"g","arguments":""},)"
                  R"({"type":"function_call_output","call_id":"c1","output":"1"},)"
                  R"({"type":"function_call_output","call_id":"c2","output":[{"type":)"
                  R"("input_text","text":"2"}]},{"role":"user","content":"z"}])"),
            "message: user\n  text: \"a\"\n"
            "message: assistant\n  thinking: \"h\"\n  text: \"b\"\n  call: c1 f {}\n"
            "  call: c2 g {}\n"
            "message: user\n  result: c1\n    text: \"1\"\n  result: c2\n    text: \"2\"\n"
            "message: user\n  text: \"z\"\n");
}

TEST(OpenAiResponsesRequest, PrefersTheContentOfReasoningToItsSummary) {
  EXPECT_EQ(turns(R"([{"role":"user","content":"a"},{"type":"reasoning","summary":[{"type":)"
                  R"("summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"c"},)"
                  R"({"type":"reasoning_text","text":"d"}]},{"role":"user","content":"b"}])"),
            "message: user\n  text: \"a\"\nmessage: assistant\n  thinking: \"c\\n\\nd\"\n"
            "message: user\n  text: \"b\"\n");
}

TEST(OpenAiResponsesRequest, LeavesOutWhatTheVendorsToolsLeftBehind) {
  EXPECT_EQ(turns(R"([{"role":"user","content":"a"},{"type":"web_search_call","id":"x"},)"
                  R"({"type":"reasoning","summary":[],"encrypted_content":"e"}])"),
            "message: user\n  text: \"a\"\n");
}

TEST(OpenAiResponsesRequest, RefusesItemsThatItCanNotRead) {
  EXPECT_EQ(turns(R"([{"type":"item_reference","id":"x"}])"),
            "input[0].type: references to stored items (give the item itself) are not supported by "
            "this server");
  EXPECT_EQ(turns(R"([{"type":"computer_call"}])"),
            "input[0].type: computer use is not supported by this server");
  EXPECT_EQ(
      turns(R"([{"type":"additional_tools","tools":[]}])"),
      "input[0].type: tools inside the input (give them in `tools`) are not supported by this "
      "server");
  EXPECT_EQ(turns(R"([{"type":"riddle"}])"),
            "input[0].type: must be a known type of input item, got \"riddle\"");
  EXPECT_EQ(turns(R"([{"content":"a"}])"), "input[0].role: is required");
  EXPECT_EQ(turns(R"([{"role":"tool","content":"a"}])"),
            R"(input[0].role: must be "system", "developer", "user" or "assistant", got "tool")");
  EXPECT_EQ(turns(R"([{"type":"function_call","name":"f"}])"), "input[0].call_id: is required");
  EXPECT_EQ(turns(R"([{"type":"function_call","call_id":"c","name":""}])"),
            "input[0].name: must not be empty");
  EXPECT_EQ(turns(R"([{"type":"function_call_output","output":"x"}])"),
            "input[0].call_id: is required");
  EXPECT_EQ(turns("[]"), "input: at least one message is required");
  EXPECT_EQ(turns("5"), "input: must be a string or an array of input items, got 5");
  EXPECT_EQ(complaint(""), "input: is required");
}

TEST(OpenAiResponsesRequest, RefusesStoredState) {
  EXPECT_EQ(complaint(R"("input":"a","previous_response_id":"resp_1")"),
            "previous_response_id: stored responses (send the whole conversation as input) are not "
            "supported by this server");
  EXPECT_EQ(complaint(R"("input":"a","conversation":"conv_1")"),
            "conversation: stored conversations (send the whole conversation as input) are not "
            "supported by this server");
  EXPECT_EQ(complaint(R"("input":"a","prompt":{"id":"p"})"),
            "prompt: stored prompts are not supported by this server");
  EXPECT_EQ(complaint(R"("input":"a","background":true)"),
            "background: responses in the background are not supported by this server");
  EXPECT_EQ(complaint(R"("input":"a","background":false,"previous_response_id":null)"), "");
}

TEST(OpenAiResponsesRequest, ReadsToolsFormatAndEffort) {
  const auto request = parsed(
      R"("input":"a","tools":[{"type":"function","name":"f","parameters":{"type":"object"}},)"
      R"({"type":"web_search"}],"tool_choice":{"type":"function","name":"f"},)"
      R"("text":{"format":{"type":"json_schema","name":"n","schema":{"a":1}}},)"
      R"("reasoning":{"effort":"high"})");
  EXPECT_EQ(request.chat.conversation.tools.size(), 1u);
  EXPECT_EQ(request.chat.conversation.tool_choice.name, "f");
  EXPECT_EQ(request.chat.conversation.output.schema, R"({"a":1})");
  EXPECT_EQ(request.chat.conversation.thinking, ThinkingMode::kEnabled);
  EXPECT_EQ(
      complaint(R"("input":"a","text":{"format":{"type":"xml"}})"),
      R"(text.format.type: must be "text", "json_object", "json_schema", "regex", "grammar" or )"
      R"("choice", got "xml")");
}

TEST(OpenAiResponsesRequest, RepeatsWhatTheClientSaid) {
  const auto echo_of = [](std::string_view fields) {
    const auto document = parse_json("{" + parsed(fields).echo + "}");
    EXPECT_TRUE(document.ok());
    return json_text(document->root());
  };
  const std::string silent = echo_of(R"("input":"a")");
  EXPECT_NE(silent.find(R"("metadata":{})"), std::string::npos) << silent;
  EXPECT_NE(silent.find(R"("tools":[])"), std::string::npos) << silent;
  const std::string said =
      echo_of(R"("input":"a","metadata":{"k":"v"},"store":true,"instructions":"i")");
  EXPECT_NE(said.find(R"("metadata":{"k":"v"})"), std::string::npos) << said;
  EXPECT_NE(said.find(R"("instructions":"i")"), std::string::npos) << said;
  EXPECT_NE(said.find(R"("store":false)"), std::string::npos) << said;
  EXPECT_EQ(complaint(R"("input":"a","metadata":5)"), "metadata: must be an object, got 5");
}

}  // namespace
}  // namespace zerohop
