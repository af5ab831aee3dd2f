// The log line of a request: what stands in it, and what never does.
#include "app/request_log.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/test_server.h"
#include "base/log.h"
#include "policy/pii.h"
#include "policy/redact.h"

namespace zerohop {
namespace {

// The lines that a server wrote for requests while `play` ran.
std::vector<std::string> request_lines(const std::function<void(const RunningServer&)>& play) {
  TestServerOptions options;
  options.model = always_says("A quiet sentence.");
  options.configure = [](Config& config) {
    config.metrics.labels = {"channel", "intent"};
    config.instance.id = "cpu-log";
  };
  log_configure({LogLevel::kInfo, LogFormat::kJson});
  log_set_redactor(std::make_shared<PiiRedactor>());
  testing::internal::CaptureStderr();
  {
    const RunningServer server(options);
    play(server);
    server.settle();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  log_configure({});
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(R"("event":"request")") != line.npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

TEST(RequestLog, IsOneJsonLineForEachRequestWithItsFacts) {
  const auto lines = request_lines([](const RunningServer& server) {
    ask(server, {"/v1/messages",
                 R"({"model":"fake","max_tokens":7,"metadata":{"channel":"web","other":"x"},
                     "messages":[{"role":"user","content":"Hello there"}]})",
                 "user-agent: probe/1.0\r\nx-stainless-retry-count: 2\r\n"
                 "x-anthropic-cache-key: session 7\r\n"});
  });
  ASSERT_EQ(lines.size(), 1u);
  const boost::json::value line = boost::json::parse(lines[0]);
  EXPECT_TRUE(text_at(line, "/id").starts_with("req_"));
  EXPECT_EQ(text_at(line, "/instance"), "cpu-log");
  EXPECT_EQ(text_at(line, "/route"), "/v1/messages");
  EXPECT_EQ(text_at(line, "/user_agent"), "probe/1.0");
  EXPECT_EQ(number_at(line, "/client_retries"), 2);
  EXPECT_EQ(number_at(line, "/status"), 200);
  EXPECT_EQ(text_at(line, "/state"), "done");
  EXPECT_EQ(text_at(line, "/model"), "fake");
  EXPECT_EQ(number_at(line, "/max_tokens"), 7);
  EXPECT_GT(number_at(line, "/prompt_tokens"), 0);
  EXPECT_GT(number_at(line, "/output_tokens"), 0);
  EXPECT_EQ(text_at(line, "/cache_key").size(), 16u);
  EXPECT_EQ(text_at(line, "/fingerprint").size(), 16u);
  EXPECT_NE(text_at(line, "/inferring_ms"), "(none)");
  EXPECT_NE(text_at(line, "/total_ms"), "(none)");
  EXPECT_EQ(text_at(line, "/label.channel"), "web");
  EXPECT_EQ(text_at(line, "/label.other"), "(none)");
  EXPECT_EQ(text_at(line, "/error"), "(none)");
}

TEST(RequestLog, NamesTheCauseOfAFailure) {
  const auto lines = request_lines([](const RunningServer& server) {
    post(server, "/v1/messages", R"({"model":"fake","max_tokens":7,"messages":5})");
  });
  ASSERT_EQ(lines.size(), 1u);
  const boost::json::value line = boost::json::parse(lines[0]);
  EXPECT_EQ(number_at(line, "/status"), 400);
  EXPECT_EQ(text_at(line, "/error"), "invalid_request");
  EXPECT_EQ(text_at(line, "/error_field"), "messages");
  EXPECT_EQ(text_at(line, "/state"), "failed");
}

TEST(RequestLog, HoldsNothingThatARecogniserFindsWhateverAClientSends) {
  const std::vector<std::string> raw{"jo@example.org", "+49 30 901820", "4111 1111 1111 1111",
                                     "sk-ant-api03-Abc1234567890xyzABC", "DE89370400440532013000"};
  const auto lines = request_lines([&raw](const RunningServer& server) {
    for (const std::string& secret : raw) {
      ask(server,
          {"/v1/messages",
           R"({"model":")" + secret + R"(","max_tokens":5,"metadata":{"channel":")" + secret +
               R"("},"messages":[{"role":"user","content":"I am )" + secret + R"("}]})",
           "user-agent: agent of " + secret + "\r\nx-api-key: " + secret + "\r\n"});
      // The error tells the client what it sent.
      post(server, "/v1/messages", R"({"model":"fake","max_tokens":")" + secret + R"("})");
    }
  });
  ASSERT_EQ(lines.size(), 2 * raw.size());
  for (const std::string& line : lines) {
    EXPECT_TRUE(find_pii(line).empty()) << line;
    for (const std::string& secret : raw) EXPECT_EQ(line.find(secret), line.npos) << line;
  }
}

TEST(RequestLog, ErrorsRepeatNothingOfTheirRequest) {
  const auto lines = request_lines([](const RunningServer& server) {
    post(server, "/v1/messages",
         R"({"model":"fake","max_tokens":5,"temperature":"Where do quaggas live",
             "messages":[{"role":"user","content":"Hi"}]})");
    post(server, "/v1/messages",
         R"({"model":"fake","max_tokens":5,"messages":[{"role":"Where do quaggas live"}]})");
  });
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find("quaggas"), std::string::npos) << line;
    EXPECT_NE(line.find(R"("error":"invalid_request")"), std::string::npos) << line;
  }
}

TEST(RequestLog, NeverHoldsABody) {
  const auto lines = request_lines([](const RunningServer& server) {
    post(server, "/v1/messages",
         R"({"model":"fake","max_tokens":50,"system":"Zebras only.",
             "messages":[{"role":"user","content":"Where do quaggas live?"}]})");
  });
  ASSERT_EQ(lines.size(), 1u);
  for (const char* word : {"Zebras", "quaggas", "quiet sentence"}) {
    EXPECT_EQ(lines[0].find(word), std::string::npos) << lines[0];
  }
}

TEST(LogFields, LeaveOutWhatSaysNothing) {
  RequestRecord record;
  record.status = 200;
  record.end = "completed";
  for (const LogField& field : log_fields(record)) {
    EXPECT_TRUE(field.key == "status" || field.key == "end" || field.key == "state") << field.key;
  }
  EXPECT_EQ(level_of(record), LogLevel::kDebug);
  record.costs = true;
  EXPECT_EQ(level_of(record), LogLevel::kInfo);
}

}  // namespace
}  // namespace zerohop
