// What models write, in the answers of each dialect: calls of tools, thinking, several choices.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::string kCall =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
const std::string kSchema = R"({"type":"object","properties":{"city":{"type":"string"}}})";

// Tools are described in the prompt, a token a byte.
TestServerOptions roomy(FakeModelOptions model) {
  return {std::move(model), [](Config& config) { config.engine.context_tokens = 4096; }, {}};
}

std::string messages_body(bool stream) {
  return R"({"max_tokens":500,"messages":[{"role":"user","content":"Weather?"}],"tools":[)"
         R"({"name":"get_weather","input_schema":)" +
         kSchema + R"(}],"stream":)" + (stream ? "true}" : "false}");
}

std::string chat_body(bool stream) {
  return R"({"max_tokens":500,"messages":[{"role":"user","content":"Weather?"}],"tools":[)"
         R"({"type":"function","function":{"name":"get_weather","parameters":)" +
         kSchema + R"(}}],"stream":)" + (stream ? "true}" : "false}");
}

std::string responses_body(bool stream) {
  return R"({"max_output_tokens":500,"input":"Weather?","tools":[)"
         R"({"type":"function","name":"get_weather","parameters":)" +
         kSchema + R"(}],"stream":)" + (stream ? "true}" : "false}");
}

TEST(ServerTools, CallsAreBlocksOfAMessage) {
  const RunningServer server(roomy(always_says("I look.\n" + kCall)));
  std::set<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    const json::value body = post(server, "/v1/messages", messages_body(false)).json();
    EXPECT_EQ(text_at(body, "/stop_reason"), "tool_use") << json::serialize(body);
    EXPECT_TRUE(text_at(body, "/content/0/text").starts_with("I look."));
    EXPECT_EQ(text_at(body, "/content/1/type"), "tool_use");
    EXPECT_TRUE(text_at(body, "/content/1/id").starts_with("toolu_"));
    EXPECT_EQ(text_at(body, "/content/1/name"), "get_weather");
    EXPECT_EQ(text_at(body, "/content/1/input"), R"({"city":"Paris"})");
    EXPECT_EQ(text_at(body, "/content/2"), "(none)");
    ids.insert(text_at(body, "/content/1/id"));
  }
  EXPECT_EQ(ids.size(), 2u);
}

TEST(ServerTools, CallsStreamAsTheirOwnBlock) {
  const RunningServer server(roomy(always_says("I look.\n" + kCall)));
  std::string name;
  std::string id;
  std::string input;
  std::string stop_reason;
  for (const SseFrame& frame : post(server, "/v1/messages", messages_body(true)).frames()) {
    const json::value data = frame.json();
    EXPECT_EQ(text_at(data, "/type"), frame.event);
    if (text_at(data, "/content_block/type") == "tool_use") {
      EXPECT_EQ(number_at(data, "/index"), 1);
      name = text_at(data, "/content_block/name");
      id = text_at(data, "/content_block/id");
    }
    if (text_at(data, "/delta/type") == "input_json_delta") {
      EXPECT_EQ(number_at(data, "/index"), 1);
      input += text_at(data, "/delta/partial_json");
    }
    if (frame.event == "message_delta") stop_reason = text_at(data, "/delta/stop_reason");
  }
  EXPECT_EQ(name, "get_weather");
  EXPECT_TRUE(id.starts_with("toolu_")) << id;
  EXPECT_EQ(json::parse(input), json::parse(R"({"city":"Paris"})"));
  EXPECT_EQ(stop_reason, "tool_use");
}

TEST(ServerTools, CallsAreFunctionsOfAChat) {
  const RunningServer server(roomy(always_says(kCall + "\n" + kCall)));
  const json::value body = post(server, "/v1/chat/completions", chat_body(false)).json();
  EXPECT_EQ(text_at(body, "/choices/0/finish_reason"), "tool_calls") << json::serialize(body);
  EXPECT_EQ(text_at(body, "/choices/0/message/content"), "null");
  std::set<std::string> ids;
  for (const std::string call : {"0", "1"}) {
    const std::string at = "/choices/0/message/tool_calls/" + call;
    EXPECT_EQ(text_at(body, at + "/type"), "function");
    EXPECT_EQ(text_at(body, at + "/function/name"), "get_weather");
    EXPECT_EQ(json::parse(text_at(body, at + "/function/arguments")),
              json::parse(R"({"city":"Paris"})"));
    EXPECT_TRUE(text_at(body, at + "/id").starts_with("call_"));
    ids.insert(text_at(body, at + "/id"));
  }
  EXPECT_EQ(ids.size(), 2u);
}

TEST(ServerTools, CallsStreamAsFunctionsOfAChat) {
  const RunningServer server(roomy(always_says(kCall)));
  std::string id;
  std::string arguments;
  std::string finish_reason;
  const std::vector<SseFrame> frames =
      post(server, "/v1/chat/completions", chat_body(true)).frames();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().data, "[DONE]");
  for (const SseFrame& frame : frames) {
    if (frame.data == "[DONE]") break;
    const json::value data = frame.json();
    const std::string call = "/choices/0/delta/tool_calls/0";
    if (text_at(data, call) != "(none)") {
      EXPECT_EQ(number_at(data, call + "/index"), 0);
    }
    if (text_at(data, call + "/id") != "(none)") id = text_at(data, call + "/id");
    const std::string part = text_at(data, call + "/function/arguments");
    if (part != "(none)") arguments += part;
    const std::string reason = text_at(data, "/choices/0/finish_reason");
    if (reason != "(none)" && reason != "null") finish_reason = reason;
  }
  EXPECT_TRUE(id.starts_with("call_")) << id;
  EXPECT_EQ(json::parse(arguments), json::parse(R"({"city":"Paris"})"));
  EXPECT_EQ(finish_reason, "tool_calls");
}

TEST(ServerTools, CallsAreItemsOfAResponse) {
  const RunningServer server(roomy(always_says(kCall)));
  const json::value whole = post(server, "/v1/responses", responses_body(false)).json();
  EXPECT_EQ(text_at(whole, "/status"), "completed");
  EXPECT_EQ(text_at(whole, "/output/0/type"), "function_call") << json::serialize(whole);
  EXPECT_EQ(text_at(whole, "/output/0/name"), "get_weather");
  EXPECT_TRUE(text_at(whole, "/output/0/call_id").starts_with("call_"));
  EXPECT_EQ(json::parse(text_at(whole, "/output/0/arguments")), json::parse(R"({"city":"Paris"})"));

  std::string arguments;
  json::value last;
  for (const SseFrame& frame : post(server, "/v1/responses", responses_body(true)).frames()) {
    last = frame.json();
    if (frame.event == "response.function_call_arguments.delta") {
      arguments += text_at(last, "/delta");
    }
  }
  EXPECT_EQ(json::parse(arguments), json::parse(R"({"city":"Paris"})"));
  EXPECT_EQ(text_at(last, "/type"), "response.completed");
  EXPECT_EQ(text_at(last, "/response/output/0/type"), "function_call");
  EXPECT_TRUE(text_at(last, "/response/output/0/call_id").starts_with("call_"));
}

TEST(ServerTools, TextLikeACallStaysTextWhereNoToolsWereOffered) {
  const RunningServer server(roomy(always_says(kCall)));
  const json::value body =
      post(server, "/v1/messages", R"({"messages":[{"role":"user","content":"?"}]})").json();
  EXPECT_EQ(text_at(body, "/stop_reason"), "end_turn");
  EXPECT_EQ(text_at(body, "/content/0/text"), kCall);
}

TEST(ServerThinking, IsABlockOfItsOwn) {
  FakeModelOptions model = always_says("<think>\nHm.\n</think>\n\nParis");
  model.template_skills.thinking = true;
  const RunningServer server(roomy(model));
  const std::string ask = R"("messages":[{"role":"user","content":"?"}],"max_tokens":2000,)"
                          R"("thinking":{"type":"enabled","budget_tokens":1024})";
  const json::value whole = post(server, "/v1/messages", "{" + ask + "}").json();
  EXPECT_EQ(text_at(whole, "/content/0/type"), "thinking") << json::serialize(whole);
  EXPECT_TRUE(text_at(whole, "/content/0/thinking").starts_with("Hm."));
  EXPECT_EQ(text_at(whole, "/content/1/text"), "Paris");
  std::vector<std::string> kinds;
  for (const SseFrame& frame :
       post(server, "/v1/messages", "{" + ask + R"(,"stream":true})").frames()) {
    if (frame.event == "content_block_start") {
      kinds.push_back(text_at(frame.json(), "/content_block/type"));
    }
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"thinking", "text"}));
}

// ---- Several choices ----

// Texts of random length, the same for the same seed.
const std::string kThree =
    R"("messages":[{"role":"user","content":"Say."}],"n":3,"seed":7,"temperature":1,)"
    R"("max_tokens":60)";

FakeModelOptions ends_soon() {
  FakeModelOptions model;
  model.end_of_turn_chance = 0.2;
  return model;
}

TEST(ServerChoices, DifferAndAreCountedTogether) {
  const RunningServer server(ends_soon());
  const json::value body = post(server, "/v1/chat/completions", "{" + kThree + "}").json();
  std::set<std::string> texts;
  for (int i = 0; i < 3; ++i) {
    const std::string at = "/choices/" + std::to_string(i);
    EXPECT_EQ(number_at(body, at + "/index"), i);
    texts.insert(text_at(body, at + "/message/content"));
  }
  EXPECT_EQ(text_at(body, "/choices/3"), "(none)");
  EXPECT_GT(texts.size(), 1u) << json::serialize(body);
  // The prompt once, the answers together.
  const std::int64_t prompt = number_at(body, "/usage/prompt_tokens");
  const std::int64_t output = number_at(body, "/usage/completion_tokens");
  EXPECT_EQ(number_at(body, "/usage/total_tokens"), prompt + output);
  const json::value alone =
      post(server, "/v1/chat/completions",
           R"({"messages":[{"role":"user","content":"Say."}],"max_tokens":1})")
          .json();
  EXPECT_EQ(prompt, number_at(alone, "/usage/prompt_tokens"));
  EXPECT_EQ(static_cast<std::uint64_t>(output + number_at(alone, "/usage/completion_tokens")),
            server.snapshot().output_tokens);
}

TEST(ServerChoices, StreamTheTextsThatTheyHaveWhole) {
  const RunningServer server(ends_soon());
  const json::value whole = post(server, "/v1/chat/completions", "{" + kThree + "}").json();
  std::array<std::string, 3> texts;
  std::map<std::int64_t, int> finishes;
  std::string usage;
  const Answer streamed =
      post(server, "/v1/chat/completions",
           "{" + kThree + R"(,"stream":true,"stream_options":{"include_usage":true}})");
  for (const SseFrame& frame : streamed.frames()) {
    if (frame.data == "[DONE]") break;
    const json::value data = frame.json();
    if (text_at(data, "/choices/0") == "(none)") {
      usage = text_at(data, "/usage/completion_tokens");
      continue;
    }
    const std::int64_t index = number_at(data, "/choices/0/index");
    ASSERT_TRUE(index >= 0 && index < 3);
    EXPECT_EQ(finishes.count(index), 0u) << "something behind the end of choice " << index;
    const std::string text = text_at(data, "/choices/0/delta/content");
    if (text != "(none)" && text != "null") texts[static_cast<std::size_t>(index)] += text;
    if (text_at(data, "/choices/0/finish_reason") != "null") ++finishes[index];
  }
  EXPECT_EQ(finishes.size(), 3u);
  EXPECT_EQ(usage, text_at(whole, "/usage/completion_tokens"));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i], text_at(whole, "/choices/" + std::to_string(i) + "/message/content"));
  }
}

TEST(ServerChoices, WaitForOneAnotherWhereSequencesAreFew) {
  const RunningServer server(TestServerOptions{
      always_says("Paris"), [](Config& config) { config.engine.sequences = 1; }, {}});
  const json::value body =
      post(server, "/v1/chat/completions", R"({"messages":[{"role":"user","content":"?"}],"n":5})")
          .json();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(text_at(body, "/choices/" + std::to_string(i) + "/message/content"), "Paris");
  }
}

// With the model standing still, only a cancellation can end them.
void expect_all_cancelled(const std::string& stream) {
  Gate gate(30);
  const RunningServer server(TestServerOptions{.model = never_ends(), .gate = &gate});
  {
    Socket socket(server.port());
    socket.send(bytes_of(
        {"/v1/chat/completions",
         R"({"messages":[{"role":"user","content":"?"}],"n":6,"max_tokens":900)" + stream + "}",
         ""}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    EXPECT_EQ(server.service().admission.in_flight(), 1u);
  }
  EXPECT_TRUE(eventually([&] { return server.service().admission.in_flight() == 0; }));
  gate.open();
  server.settle();
  const EngineSnapshot after = server.snapshot();
  EXPECT_EQ(after.cancelled_queued + after.cancelled_prefill + after.cancelled_decode, 6u);
  EXPECT_EQ(after.requests_finished, 0u);
  EXPECT_EQ(after.cells_reserved, 0u);
}

TEST(ServerChoices, AreAllCancelledWhenTheirReaderLeaves) {
  expect_all_cancelled(R"(,"stream":true)");
}

TEST(ServerChoices, AreAllCancelledWhenNobodyWaitsForTheWhole) { expect_all_cancelled(""); }

}  // namespace
}  // namespace zerohop
