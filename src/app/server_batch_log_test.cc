// Requests of message batches in the log and in the history: as single ones, with their batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admission/key_store.h"
#include "app/test_folder.h"
#include "app/test_server.h"
#include "base/log.h"
#include "policy/redact.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::string kBatches = "/v1/messages/batches";

// A server with batches, and the lines that it wrote for their requests.
class ServerBatchLog : public testing::Test {
 protected:
  ServerBatchLog() {
    log_configure({LogLevel::kInfo, LogFormat::kJson});
    log_set_redactor(std::make_shared<PiiRedactor>());
    testing::internal::CaptureStderr();
  }
  ~ServerBatchLog() override {
    if (server_ != nullptr) stop();
    log_configure({});
  }

  RunningServer& serve(Gate* gate = nullptr) {
    TestServerOptions options{never_ends()};
    options.batches = folder_.path();
    options.gate = gate;
    options.configure = [](Config& config) { config.metrics.labels = {"channel"}; };
    server_ = std::make_unique<RunningServer>(options);
    return *server_;
  }

  std::string create(const std::string& requests) const {
    const Answer answer = post(*server_, kBatches, R"({"requests":[)" + requests + "]}");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return text_at(answer.json(), "/id");
  }
  static std::string request(const std::string& custom_id, const std::string& members) {
    return R"({"custom_id":")" + custom_id + R"(","params":{)" + members +
           R"(,"messages":[{"role":"user","content":"Hi"}]}})";
  }
  void wait_for_end(const std::string& id) const {
    EXPECT_TRUE(eventually([&] {
      const Answer state = get(*server_, kBatches + "/" + id);
      return text_at(state.json(), "/processing_status") == "ended";
    }));
  }

  void stop() {
    server_.reset();
    const std::string text = testing::internal::GetCapturedStderr();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (line.find(R"("batch":"msgbatch_)") != line.npos) lines_.push_back(json::parse(line));
      at = end + 1;
    }
  }

  const TestFolder folder_;
  std::unique_ptr<RunningServer> server_;
  std::vector<json::value> lines_;  // after stop()
};

TEST_F(ServerBatchLog, EachRequestHasItsLineWithItsBatch) {
  serve();
  const std::string id = create(request("one", R"("max_tokens":7,"metadata":{"channel":"web"})") +
                                "," + request("two", R"("max_tokens":3,"model":"fake")"));
  wait_for_end(id);
  stop();
  ASSERT_EQ(lines_.size(), 2u);
  const json::value& line = lines_[0];
  EXPECT_EQ(text_at(line, "/event"), "request");
  EXPECT_TRUE(text_at(line, "/id").starts_with("req_"));
  EXPECT_NE(text_at(line, "/id"), text_at(lines_[1], "/id"));
  EXPECT_EQ(text_at(line, "/batch"), id);
  EXPECT_EQ(text_at(line, "/custom_id"), "one");
  EXPECT_EQ(text_at(line, "/route"), "/v1/messages/batches");
  EXPECT_EQ(text_at(line, "/tenant"), "default");
  EXPECT_EQ(number_at(line, "/status"), 200);
  EXPECT_EQ(text_at(line, "/end"), "completed");
  EXPECT_EQ(text_at(line, "/state"), "done");
  EXPECT_EQ(text_at(line, "/stop_reason"), "max_tokens");
  EXPECT_EQ(text_at(line, "/tier"), "fake");
  EXPECT_EQ(text_at(line, "/service_tier"), "batch");
  EXPECT_EQ(number_at(line, "/max_tokens"), 7);
  EXPECT_EQ(number_at(line, "/output_tokens"), 7);
  EXPECT_GT(number_at(line, "/prompt_tokens"), 0);
  EXPECT_EQ(text_at(line, "/fingerprint").size(), 16u);
  EXPECT_EQ(text_at(line, "/label.channel"), "web");
  for (const char* time : {"/validating_ms", "/inferring_ms", "/first_token_ms", "/total_ms"}) {
    EXPECT_NE(text_at(line, time), "(none)") << time;
  }
  EXPECT_EQ(text_at(lines_[1], "/custom_id"), "two");
  EXPECT_EQ(text_at(lines_[1], "/model"), "fake");
}

TEST_F(ServerBatchLog, AFailureHasItsCause) {
  serve();
  wait_for_end(create(request("bad", R"("max_tokens":"many")")));
  stop();
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(number_at(lines_[0], "/status"), 400);
  EXPECT_EQ(text_at(lines_[0], "/state"), "failed");
  EXPECT_EQ(text_at(lines_[0], "/error"), "invalid_request");
  EXPECT_EQ(text_at(lines_[0], "/error_field"), "max_tokens");
}

// What was cancelled before it ran was no request.
TEST_F(ServerBatchLog, OnlyWhatRanIsToldOfABatchThatIsCancelled) {
  Gate gate(0);
  const RunningServer& server = serve(&gate);
  const std::string id =
      create(request("one", R"("max_tokens":9)") + "," + request("two", R"("max_tokens":9)"));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  ASSERT_EQ(post(server, kBatches + "/" + id + "/cancel", "").status, 200);
  wait_for_end(id);
  gate.open();
  stop();
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(text_at(lines_[0], "/custom_id"), "one");
  EXPECT_EQ(text_at(lines_[0], "/state"), "cancelled");
  EXPECT_EQ(text_at(lines_[0], "/end"), "aborted");
  EXPECT_EQ(number_at(lines_[0], "/status"), 0);
}

// The next server computes it, and tells of it then.
TEST_F(ServerBatchLog, WhatTheEndOfTheServerCutsOffIsNotOver) {
  Gate gate(0);
  serve(&gate);
  create(request("one", R"("max_tokens":9)"));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  stop();
  EXPECT_TRUE(lines_.empty());
}

// A batch of three requests, whose key or tenant goes while the first of them runs.
class ServerBatchLogOfKeys : public ServerBatchLog {
 protected:
  std::string file() const { return folder_.path() / "keys.sqlite"; }
  std::unique_ptr<KeyStore> store() const { return KeyStore::open(file()).value(); }

  // "NAME: TENANT KEY ERROR" of each; of the key only whether it is told.
  std::vector<std::string> told_after(const std::function<void(const MadeKey& key)>& change) {
    EXPECT_TRUE(store()->create_key({}, SteadyClock().wall()).ok());
    EXPECT_TRUE(store()->change_tenant("law", [](TenantRecord&) {}).ok());
    NewKey wanted;
    wanted.tenant = "law";
    const MadeKey key = store()->create_key(wanted, SteadyClock().wall()).value();
    Gate gate(0);
    TestServerOptions options{never_ends()};
    options.batches = folder_.path() / "batches";
    options.keys = file();
    options.admin_token = kAdminToken;
    options.gate = &gate;
    server_ = std::make_unique<RunningServer>(options);
    const std::string header = "x-api-key: " + key.text + "\r\n";
    const Answer created = ask(*server_, {kBatches,
                                          R"({"requests":[)" + request("a", R"("max_tokens":4)") +
                                              "," + request("b", R"("max_tokens":4)") + "," +
                                              request("c", R"("max_tokens":4)") + "]}",
                                          header});
    EXPECT_EQ(created.status, 200) << created.body;
    EXPECT_TRUE(eventually([&] { return gate.reached(); }));
    change(key);
    EXPECT_TRUE(eventually([&] {
      return ask(*server_, {"/v1/models", "", header, "GET"}).status == 401;
    }));
    gate.open();
    const std::string id = text_at(created.json(), "/id");
    EXPECT_TRUE(eventually([&] {
      const json::value list = ask_admin(*server_, {"/v1/requests", "", "", "GET"}).json();
      return std::ranges::count_if(list.at("data").as_array(), [&id](const json::value& one) {
               return text_at(one, "/batch") == id;
             }) == 3;
    }));
    stop();
    std::vector<std::string> told;
    for (const json::value& line : lines_) {
      const bool known = text_at(line, "/key") == key.record.id;
      told.push_back(text_at(line, "/custom_id") + ": " + text_at(line, "/tenant") +
                     (known ? " key " : " no key ") + text_at(line, "/error"));
    }
    std::ranges::sort(told);
    return told;
  }
};

TEST_F(ServerBatchLogOfKeys, WhatIsRefusedWithARevokedKeyIsItsTenants) {
  const auto told = told_after([this](const MadeKey& key) {
    EXPECT_TRUE(store()->revoke_key(key.record.id, SteadyClock().wall()).ok());
  });
  EXPECT_EQ(told, (std::vector<std::string>{"a: law key (none)", "b: law key authentication",
                                            "c: law key authentication"}));
}

// The store was replaced by another one. (What is open of a tenant that was erased is cancelled.)
TEST_F(ServerBatchLogOfKeys, WhatATenantLeftBehindThatIsNoMoreIsNobodys) {
  const auto told = told_after([this](const MadeKey&) {
    std::filesystem::rename(file(), file() + ".old");
    EXPECT_TRUE(store()->create_key({}, SteadyClock().wall()).ok());
  });
  EXPECT_EQ(told, (std::vector<std::string>{"a: law key (none)", "b: (unknown) no key permission",
                                            "c: (unknown) no key permission"}));
}

TEST_F(ServerBatchLog, TheHistoryHasThemToo) {
  const RunningServer& server = serve();
  const std::string id = create(request("one", R"("max_tokens":7)"));
  wait_for_end(id);
  const json::value list = get(server, "/v1/requests").json();
  json::value found;
  for (const json::value& entry : list.at("data").as_array()) {
    if (text_at(entry, "/batch") == id) found = entry;
  }
  ASSERT_TRUE(found.is_object()) << json::serialize(list);
  EXPECT_EQ(text_at(found, "/custom_id"), "one");
  EXPECT_EQ(number_at(found, "/status"), 200);
  const Answer one = get(server, "/v1/requests/" + text_at(found, "/id"));
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(text_at(one.json(), "/batch"), id);
  EXPECT_NE(one.body.find("it took"), one.body.npos) << one.body;
}

TEST_F(ServerBatchLog, NamesThatClientsGiveAreRedacted) {
  serve();
  wait_for_end(create(request("jo@example.org", R"("max_tokens":3)")));
  stop();
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(text_at(lines_[0], "/custom_id").find("example.org"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
