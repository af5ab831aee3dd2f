// What a request says about how it is served, through the whole server.

#include <gtest/gtest.h>

#include <string>

#include "app/test_server.h"

namespace zerohop {
namespace {

constexpr const char* kTurn = R"("messages":[{"role":"user","content":"Hi"}],"max_tokens":40)";

Answer message(const RunningServer& server, const std::string& members,
               const std::string& headers = "") {
  return ask(server, {"/v1/messages", "{" + members + kTurn + "}", headers});
}

TEST(ServerSchedule, EchoesTheServiceTierThatWasNamed) {
  const RunningServer server(always_says("Hello."));
  EXPECT_EQ(text_at(message(server, R"("service_tier":"auto",)").json(), "/usage/service_tier"),
            "standard");
  EXPECT_EQ(text_at(message(server, "").json(), "/usage/service_tier"), "(none)");
  const auto chat = [&](const std::string& members) {
    const Answer answer = post(server, "/v1/chat/completions", "{" + members + kTurn + "}");
    return text_at(answer.json(), "/service_tier");
  };
  EXPECT_EQ(chat(R"("service_tier":"flex",)"), "flex");
  EXPECT_EQ(chat(R"("service_tier":"auto",)"), "default");
  EXPECT_EQ(chat(""), "(none)");
}

TEST(ServerSchedule, RefusesHeadersThatMakeNoSense) {
  const RunningServer server(always_says("Hello."));
  const Answer key =
      message(server, "", "x-anthropic-cache-key: " + std::string(300, 'k') + "\r\n");
  EXPECT_EQ(key.status, 400);
  EXPECT_NE(key.body.find("x-anthropic-cache-key"), std::string::npos);
  EXPECT_EQ(message(server, "", "anthropic-deadline-ms: soon\r\n").status, 400);
  EXPECT_EQ(message(server, "", "x-stainless-timeout: soon\r\n").status, 200);
  EXPECT_EQ(
      message(server, "", "x-anthropic-cache-key: mine\r\nanthropic-deadline-ms: 60000\r\n").status,
      200);
  server.settle();
}

TEST(ServerSchedule, EndsALongAnswerWithASentence) {
  const RunningServer server(always_says("One two three. Four five six. Seven eight nine. Ten."));
  const Answer capped = message(server, R"("soft_cap":{"at":0.5},)");
  EXPECT_EQ(text_at(capped.json(), "/content/0/text"), "One two three. Four five six.");
  EXPECT_EQ(text_at(capped.json(), "/stop_reason"), "stop_sequence");
  EXPECT_EQ(text_at(capped.json(), "/stop_sequence"), ".");
  const Answer cut = message(server, "");
  EXPECT_EQ(text_at(cut.json(), "/stop_reason"), "max_tokens");
}

TEST(ServerSchedule, TakesTheSoftCapOfTheConfiguration) {
  const RunningServer server(
      TestServerOptions{always_says("One two three. Four five six. Seven eight nine. Ten."),
                        [](Config& config) { config.limits.soft_cap_percent = 50; }});
  EXPECT_EQ(text_at(message(server, "").json(), "/content/0/text"),
            "One two three. Four five six.");
}

TEST(ServerSchedule, WarnsOfAPromptThatEndsWithAStopSequence) {
  const RunningServer server(always_says("Hello."));
  const Answer warned = message(server, R"("diagnostics":{},"stop_sequences":["x","i"],)");
  EXPECT_EQ(text_at(warned.json(), "/diagnostics/warnings/0/stop_sequence"), "i");
  const Answer fine = message(server, R"("diagnostics":{},"stop_sequences":["x"],)");
  EXPECT_EQ(text_at(fine.json(), "/diagnostics/warnings"), "(none)");
}

}  // namespace
}  // namespace zerohop
