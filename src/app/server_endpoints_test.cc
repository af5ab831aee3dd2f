// Which paths answer, and in which form they refuse.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "app/handlers.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

struct Endpoint {
  std::string path;  // behind the prefix
  std::string body;
};

std::vector<Endpoint> anthropic_endpoints() {
  return {
      {"/messages", R"({"max_tokens":2,"messages":[{"role":"user","content":"?"}]})"},
      {"/messages/count_tokens", R"({"messages":[{"role":"user","content":"?"}]})"},
  };
}

std::vector<Endpoint> openai_endpoints() {
  return {
      {"/chat/completions", R"({"max_tokens":2,"messages":[{"role":"user","content":"?"}]})"},
      {"/completions", R"({"max_tokens":2,"prompt":"?"})"},
      {"/responses", R"({"max_output_tokens":2,"input":"?"})"},
      {"/embeddings", R"({"input":"?"})"},
  };
}

void expect_anthropic_error(const Answer& answer, const std::string& type) {
  const auto body = answer.json();
  EXPECT_EQ(text_at(body, "/type"), "error") << answer.body;
  EXPECT_EQ(text_at(body, "/error/type"), type);
  EXPECT_NE(text_at(body, "/error/message"), "(none)");
  EXPECT_EQ(text_at(body, "/request_id"), answer.header("request-id"));
}

void expect_openai_error(const Answer& answer, const std::string& type) {
  const auto body = answer.json();
  EXPECT_EQ(text_at(body, "/type"), "(none)") << answer.body;
  EXPECT_EQ(text_at(body, "/error/type"), type);
  for (const char* key : {"/error/message", "/error/param", "/error/code"}) {
    EXPECT_NE(text_at(body, key), "(none)") << key;
  }
}

// What every refusal carries, whatever its form.
void expect_refusal_headers(const Answer& answer, const std::string& should_retry) {
  EXPECT_EQ(answer.header("x-should-retry"), should_retry) << answer.head;
  EXPECT_TRUE(answer.header("request-id").starts_with("req_")) << answer.head;
  EXPECT_EQ(answer.header("anthropic-request-id"), answer.header("request-id"));
  EXPECT_EQ(answer.header("content-type"), "application/json");
}

TEST(ServerEndpoints, AnswerUnderEveryPrefix) {
  const RunningServer server(always_says("Paris"));
  std::vector<Endpoint> endpoints = anthropic_endpoints();
  for (const Endpoint& endpoint : openai_endpoints()) endpoints.push_back(endpoint);
  for (const std::string prefix : kApiPrefixes) {
    for (const Endpoint& endpoint : endpoints) {
      const Answer answer = post(server, prefix + endpoint.path, endpoint.body);
      EXPECT_EQ(answer.status, 200) << prefix << endpoint.path << answer.body;
      EXPECT_TRUE(answer.header("request-id").starts_with("req_"));
      EXPECT_TRUE(answer.json().is_object());
    }
    const Answer models = get(server, prefix + "/models");
    EXPECT_EQ(models.status, 200);
    EXPECT_EQ(text_at(models.json(), "/data/0/id"), "fake");
    EXPECT_EQ(get(server, prefix + "/models/fake").status, 200);
  }
}

TEST(ServerEndpoints, RefuseInTheDialectOfTheirPath) {
  const RunningServer server(FakeModelOptions{});
  for (const std::string prefix : {"/v1", "/v1/v1", "", "//v1/"}) {
    for (const Endpoint& endpoint : anthropic_endpoints()) {
      const Answer answer = post(server, prefix + endpoint.path, "{");
      EXPECT_EQ(answer.status, 400);
      expect_anthropic_error(answer, "invalid_request_error");
      expect_refusal_headers(answer, "false");
    }
    for (const Endpoint& endpoint : openai_endpoints()) {
      const Answer answer = post(server, prefix + endpoint.path, "{");
      EXPECT_EQ(answer.status, 400) << prefix << endpoint.path;
      expect_openai_error(answer, "invalid_request_error");
      expect_refusal_headers(answer, "false");
    }
  }
}

TEST(ServerEndpoints, NameTheFieldThatIsWrong) {
  const RunningServer server(FakeModelOptions{});
  const Answer anthropic =
      post(server, "/v1/messages", R"({"messages":[{"role":"user","content":7}]})");
  EXPECT_TRUE(text_at(anthropic.json(), "/error/message").starts_with("messages[0].content"))
      << anthropic.body;
  const Answer openai =
      post(server, "/v1/chat/completions", R"({"messages":[{"role":"user","content":7}]})");
  EXPECT_EQ(text_at(openai.json(), "/error/param"), "messages[0].content");
}

TEST(ServerEndpoints, UnknownPathsAreNotFoundInTheAnthropicForm) {
  const RunningServer server(FakeModelOptions{});
  for (const std::string path : {"/v1/nothing", "/nothing", "/v2/messages", "/v1/messages/x",
                                 "/v1/v1/v1/chat/completions", "/v1/chat"}) {
    for (const std::string method : {"GET", "POST", "PUT"}) {
      const Answer answer = ask(server, {path, "", "", method});
      EXPECT_EQ(answer.status, 404) << method << path;
      expect_anthropic_error(answer, "not_found_error");
      expect_refusal_headers(answer, "false");
    }
  }
}

TEST(ServerEndpoints, WrongMethodsAreRefusedWithTheRightOnes) {
  const RunningServer server(FakeModelOptions{});
  const Answer messages = get(server, "/v1/messages");
  EXPECT_EQ(messages.status, 405);
  EXPECT_NE(messages.header("allow").find("POST"), std::string::npos) << messages.head;
  expect_anthropic_error(messages, "invalid_request_error");
  expect_refusal_headers(messages, "false");
  const Answer models = ask(server, {"/v1/models", "", "", "DELETE"});
  EXPECT_EQ(models.status, 405);
  expect_anthropic_error(models, "invalid_request_error");
  const Answer chat = get(server, "/v1/chat/completions");
  EXPECT_EQ(chat.status, 405);
  expect_openai_error(chat, "invalid_request_error");
  expect_refusal_headers(chat, "false");
}

TEST(ServerEndpoints, RefusalsAtTheDoorHaveTheFormOfThePath) {
  const RunningServer server(TestServerOptions{
      FakeModelOptions{}, [](Config& config) { config.limits.requests_max = 1; }, {}});
  Socket holder(server.port());  // its request stays unfinished and keeps the only permit
  holder.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{");
  ASSERT_TRUE(eventually([&] { return server.service().admission.in_flight() == 1; }));
  const Answer anthropic = post(server, "/v1/messages", "{}");
  EXPECT_EQ(anthropic.status, 529);
  expect_anthropic_error(anthropic, "overloaded_error");
  expect_refusal_headers(anthropic, "true");
  EXPECT_NE(anthropic.header("retry-after-ms"), "");
  const Answer openai = post(server, "/v1/chat/completions", "{}");
  EXPECT_EQ(openai.status, 529);
  EXPECT_EQ(text_at(openai.json(), "/type"), "(none)") << openai.body;
  expect_refusal_headers(openai, "true");
}

TEST(ServerEndpoints, MessageBatchesAreNotFoundWhereThereAreNone) {
  const RunningServer server(FakeModelOptions{});
  const std::string batches = "/v1/messages/batches";
  const std::vector<std::pair<std::string, std::string>> calls{{"POST", batches},
                                                               {"GET", batches},
                                                               {"GET", batches + "/b"},
                                                               {"DELETE", batches + "/b"},
                                                               {"POST", batches + "/b/cancel"},
                                                               {"GET", batches + "/b/results"}};
  for (const auto& [method, path] : calls) {
    const Answer answer = ask(server, {path, R"({"requests":[]})", "", method});
    EXPECT_EQ(answer.status, 404) << method << path;
    expect_anthropic_error(answer, "not_found_error");
    expect_refusal_headers(answer, "false");
  }
  EXPECT_EQ(server.service().admission.in_flight(), 0u);
}

}  // namespace
}  // namespace zerohop
