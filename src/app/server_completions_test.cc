// POST /v1/completions, through the whole server: several prompts, several answers to each.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

Answer complete(const RunningServer& server, const std::string& members) {
  return post(server, "/v1/completions", "{" + members + "}");
}

// Random texts that are the same for the same seed.
FakeModelOptions ends_soon() {
  FakeModelOptions model;
  model.end_of_turn_chance = 0.2;
  return model;
}

TEST(ServerCompletions, AnswerEachPromptAsOftenAsAsked) {
  const RunningServer server(ends_soon());
  const std::string ask =
      R"("prompt":["first","second","third"],"n":2,"seed":3,"temperature":1,"max_tokens":30)";
  const json::value body = complete(server, ask).json();
  EXPECT_EQ(text_at(body, "/object"), "text_completion");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string at = "/choices/" + std::to_string(i);
    EXPECT_EQ(number_at(body, at + "/index"), static_cast<std::int64_t>(i));
    texts.push_back(text_at(body, at + "/text"));
  }
  EXPECT_EQ(text_at(body, "/choices/6"), "(none)");
  EXPECT_GT(std::set<std::string>(texts.begin(), texts.end()).size(), 3u);
  // A byte is a token here: each prompt counts once, however many answers it has.
  EXPECT_EQ(number_at(body, "/usage/prompt_tokens"), 5 + 6 + 5);

  // Each answer is the one that its prompt gets alone.
  const json::value second =
      complete(server, R"("prompt":"second","n":2,"seed":3,"temperature":1,"max_tokens":30)")
          .json();
  EXPECT_EQ(text_at(second, "/choices/0/text"), texts[2]);
  EXPECT_EQ(text_at(second, "/choices/1/text"), texts[3]);

  std::vector<std::string> streamed(6);
  for (const SseFrame& frame : complete(server, ask + R"(,"stream":true)").frames()) {
    if (frame.data == "[DONE]") break;
    const json::value data = frame.json();
    const auto index = static_cast<std::size_t>(number_at(data, "/choices/0/index"));
    ASSERT_LT(index, 6u);
    streamed[index] += text_at(data, "/choices/0/text");
  }
  EXPECT_EQ(streamed, texts);
}

TEST(ServerCompletions, EchoPutsThePromptInFrontOfEachAnswer) {
  const RunningServer server(ends_soon());
  const std::string ask = R"("prompt":["one ","two "],"n":2,"temperature":0,"max_tokens":4)";
  const json::value plain = complete(server, ask).json();
  const json::value echoed = complete(server, ask + R"(,"echo":true)").json();
  for (const std::string i : {"0", "1", "2", "3"}) {
    const std::string prompt = i < "2" ? "one " : "two ";
    const std::string at = "/choices/" + i + "/text";
    EXPECT_EQ(text_at(echoed, at), prompt + text_at(plain, at));
  }
  std::string streamed;
  for (const SseFrame& frame : complete(server, ask + R"(,"echo":true,"stream":true)").frames()) {
    if (frame.data == "[DONE]") break;
    const json::value data = frame.json();
    if (number_at(data, "/choices/0/index") == 3) streamed += text_at(data, "/choices/0/text");
  }
  EXPECT_EQ(streamed, text_at(echoed, "/choices/3/text"));
}

TEST(ServerCompletions, TakePromptsAsTokens) {
  const RunningServer server(ends_soon());
  const std::string rest = R"(,"temperature":0,"max_tokens":8,"echo":true)";
  const json::value text = complete(server, R"("prompt":"ab")" + rest).json();
  const json::value tokens = complete(server, R"("prompt":[97,98])" + rest).json();
  EXPECT_EQ(text_at(tokens, "/choices/0/text"), text_at(text, "/choices/0/text"));
  const json::value lists = complete(server, R"("prompt":[[97,98],[99]])" + rest).json();
  EXPECT_EQ(text_at(lists, "/choices/0/text"), text_at(text, "/choices/0/text"));
  EXPECT_TRUE(text_at(lists, "/choices/1/text").starts_with("c"));
  EXPECT_EQ(number_at(lists, "/usage/prompt_tokens"), 3);
}

TEST(ServerCompletions, RefusePromptsThatTheModelCannotRead) {
  const RunningServer server(FakeModelOptions{});
  const std::vector<std::string> prompts{R"("prompt":[97,100000])", R"("prompt":[[97],[100000]])",
                                         R"("prompt":"")", R"("prompt":[])", R"("model":"x")"};
  for (const std::string& prompt : prompts) {
    const Answer answer = complete(server, prompt);
    EXPECT_EQ(answer.status, 400) << prompt << answer.body;
    EXPECT_TRUE(text_at(answer.json(), "/error/param").starts_with("prompt")) << answer.body;
    EXPECT_EQ(text_at(answer.json(), "/error/type"), "invalid_request_error");
  }
  const Answer longer = complete(server, R"("prompt":["a",")" + std::string(1025, 'q') + "\"]");
  EXPECT_EQ(longer.status, 400);
  EXPECT_EQ(text_at(longer.json(), "/error/message"),
            "prompt is too long: 1025 tokens > 1024 maximum");
  EXPECT_EQ(server.service().admission.in_flight(), 0u);
}

TEST(ServerCompletions, TakeSpecialTokensAtTheirWord) {
  const RunningServer server(always_says("Paris"));
  const json::value body =
      complete(server, R"("prompt":"<|im_start|>assistant\n","temperature":0)").json();
  EXPECT_EQ(text_at(body, "/choices/0/text"), "Paris");
  EXPECT_EQ(number_at(body, "/usage/prompt_tokens"), 2);
}

}  // namespace
}  // namespace zerohop
