// What nobody may find in the log, at any level: keys, right or wrong, and what clients write.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/key_store.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

constexpr const char* kPrompt = "a-prompt-that-is-private";
constexpr const char* kWrong = "sk-zh-a-key-of-somewhere-else";

class ServerSecretsTest : public testing::Test {
 protected:
  ServerSecretsTest() {
    const auto store = KeyStore::open(folder_.path() / "keys.sqlite").value();
    key_ = store->create_key(NewKey{}, SteadyClock().wall())->text;
    TestServerOptions options;
    options.model = always_says(answer_);
    options.keys = folder_.path() / "keys.sqlite";
    options.usage = folder_.path() / "usage";
    options.batches = folder_.path() / "batches";
    options.admin_token = kAdminToken;
    testing::internal::CaptureStderr();
    log_configure({.level = LogLevel::kDebug});
    server_ = std::make_unique<RunningServer>(options);
  }

  // Everything that was logged.
  std::string log() {
    server_.reset();
    log_configure({});
    return testing::internal::GetCapturedStderr();
  }
  Answer send(const std::string& path, const std::string& body, const std::string& key,
              const std::string& method = "POST") const {
    return ask(*server_, {path, body, "authorization: Bearer " + key + "\r\n", method});
  }

  const std::string answer_ = "an-answer-that-is-private";
  TestFolder folder_;
  std::string key_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(ServerSecretsTest, AreInNoLineOfTheLogWhateverIsAsked) {
  const std::string prompt(kPrompt);
  const std::string turn = R"("messages":[{"role":"user","content":")" + prompt + R"("}])";
  const std::vector<std::pair<std::string, std::string>> bodies{
      {"/v1/messages", R"({"max_tokens":40,)" + turn + "}"},
      {"/v1/messages", R"({"max_tokens":40,"stream":true,)" + turn + "}"},
      {"/v1/messages/count_tokens", "{" + turn + "}"},
      {"/v1/chat/completions", R"({"max_tokens":40,)" + turn + "}"},
      {"/v1/completions", R"({"max_tokens":40,"prompt":")" + prompt + R"("})"},
      {"/v1/responses", R"({"input":")" + prompt + R"("})"},
      {"/v1/embeddings", R"({"input":")" + prompt + R"("})"},
      {"/v1/messages/batches",
       R"({"requests":[{"custom_id":"a","params":{"max_tokens":4,)" + turn + "}}]}"},
      {"/v1/messages", R"({"max_tokens":")" + prompt + R"(",)" + turn + "}"},
      {"/v1/messages", R"({")" + prompt + R"(":)"},
      // The name of a model is logged as the client says it; nobody's prompt stands there.
      {"/v1/messages", R"({"model":"another","max_tokens":4,)" + turn + "}"},
      {"/" + prompt, "{}"},
      {"/v1/messages?x=" + prompt, "{}"},
  };
  for (const auto& [path, body] : bodies) {
    for (const std::string& key : {key_, std::string(kWrong), prompt}) send(path, body, key);
  }
  for (const char* path : {"/v1/models", "/metrics", "/v1/system_info", "/v1/cache/misses"}) {
    send(path, "", key_, "GET");
    ask(*server_, {path, "", "x-api-key: " + key_ + "\r\nx-api-key: " + kWrong + "\r\n", "GET"});
  }
  Socket broken(server_->port());
  broken.send("GET /" + prompt + " HTTP/1.1\r\nhost: x\r\nx-api-key " + key_ + "\r\n\r\n");
  (void)broken.receive_all();
  const std::string made = text_at(ask_admin(*server_, {"/admin/keys", "{}", ""}).json(), "/key");
  ASSERT_TRUE(made.starts_with("sk-"));
  send("/v1/messages", bodies.front().second, made);
  server_->settle();
  const std::string text = log();
  EXPECT_NE(text.find("request"), text.npos);  // it is the log, and it is not empty
  for (const std::string& secret :
       {key_, made, std::string(kWrong), prompt, answer_, std::string(kAdminToken)}) {
    EXPECT_EQ(text.find(secret), text.npos) << secret << " in " << text.substr(0, 4'000);
  }
}

}  // namespace
}  // namespace zerohop
