// Message batches through the whole server: from the request that makes one to the last line of its
// results, also over the end of the server that began it.

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/batch_service.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::string kBatches = "/v1/messages/batches";

std::string params_of(const std::string& content) {
  return R"({"max_tokens":20,"messages":[{"role":"user","content":")" + content + "\"}]}";
}

// `count` requests, r0 and up.
std::string batch_of(int count) {
  std::string body = R"({"requests":[)";
  for (int i = 0; i < count; ++i) {
    const std::string id = "r" + std::to_string(i);
    if (i > 0) body += ",";
    body += R"({"custom_id":")" + id + R"(","params":)" + params_of(id) + "}";
  }
  return body + "]}";
}

class ServerBatches : public testing::Test {
 protected:
  std::unique_ptr<RunningServer> serve(FakeModelOptions model, Gate* gate = nullptr,
                                       std::function<void(Config&)> configure = nullptr) const {
    return std::make_unique<RunningServer>(TestServerOptions{std::move(model), std::move(configure),
                                                             folder_.path() / "batches", gate});
  }

  static std::string create(const RunningServer& server, const std::string& body) {
    const Answer answer = post(server, kBatches, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return text_at(answer.json(), "/id");
  }

  static json::value batch(const RunningServer& server, const std::string& id) {
    return get(server, kBatches + "/" + id).json();
  }

  static std::string status(const RunningServer& server, const std::string& id) {
    return text_at(batch(server, id), "/processing_status");
  }

  static void wait_for_end(const RunningServer& server, const std::string& id) {
    EXPECT_TRUE(eventually([&] { return status(server, id) == "ended"; }))
        << json::serialize(batch(server, id));
  }

  static std::vector<json::value> results(const RunningServer& server, const std::string& id) {
    const Answer answer = get(server, kBatches + "/" + id + "/results");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.header("content-type"), "application/x-jsonl");
    std::vector<json::value> lines;
    for (std::size_t at = 0; at < answer.body.size();) {
      const std::size_t end = answer.body.find('\n', at);
      EXPECT_NE(end, std::string::npos) << "a line without its end";
      lines.push_back(json::parse(answer.body.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }

  // Every request of batch_of(count) has exactly one result, in order, of that type.
  static void expect_results(const RunningServer& server, const std::string& id, int count,
                             const std::string& type) {
    const std::vector<json::value> lines = results(server, id);
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const json::value& line = lines[static_cast<std::size_t>(i)];
      EXPECT_EQ(text_at(line, "/custom_id"), "r" + std::to_string(i));
      EXPECT_EQ(text_at(line, "/result/type"), type) << json::serialize(line);
    }
  }

  // How many requests of the only open batch have their result, from the first one on.
  static std::uint64_t settled(const RunningServer& server) {
    const BatchStore& store = server.service().batches->store();
    const auto open = store.open_batches();
    EXPECT_TRUE(open.ok() && open->size() == 1);
    const auto next = store.next_pending(open->front().number, -1);
    EXPECT_TRUE(next.ok() && next->has_value());
    return static_cast<std::uint64_t>((*next)->key.position);
  }

  const TestFolder folder_;
};

TEST_F(ServerBatches, GiveEachRequestItsMessage) {
  const auto server = serve(always_says("Paris"));
  const Answer made = post(*server, kBatches, batch_of(3));
  const json::value body = made.json();
  const std::string id = text_at(body, "/id");
  EXPECT_TRUE(id.starts_with("msgbatch_"));
  EXPECT_EQ(text_at(body, "/type"), "message_batch");
  EXPECT_EQ(text_at(body, "/processing_status"), "in_progress");
  EXPECT_EQ(number_at(body, "/request_counts/processing"), 3);
  EXPECT_EQ(text_at(body, "/results_url"), "null");
  wait_for_end(*server, id);
  const json::value ended = batch(*server, id);
  EXPECT_EQ(number_at(ended, "/request_counts/succeeded"), 3);
  EXPECT_EQ(number_at(ended, "/request_counts/processing"), 0);
  EXPECT_EQ(text_at(ended, "/results_url"), kBatches + "/" + id + "/results");
  expect_results(*server, id, 3, "succeeded");
  const std::vector<json::value> lines = results(*server, id);
  std::set<std::string> ids;
  for (const json::value& line : lines) {
    EXPECT_EQ(text_at(line, "/result/message/type"), "message");
    EXPECT_EQ(text_at(line, "/result/message/content/0/text"), "Paris");
    EXPECT_EQ(text_at(line, "/result/message/stop_reason"), "end_turn");
    EXPECT_GT(number_at(line, "/result/message/usage/output_tokens"), 0);
    ids.insert(text_at(line, "/result/message/id"));
  }
  EXPECT_EQ(ids.size(), 3u);
  // Batches hold no permit of the door.
  EXPECT_EQ(server->service().admission.in_flight(), 0u);
}

// A single answer says so in its head, which a batch does not have.
TEST_F(ServerBatches, MessagesSayWhatWasRelaxed) {
  const auto server = serve(always_says("Paris"));
  const auto with_tool = [](const std::string& schema) {
    return R"({"max_tokens":30,"messages":[{"role":"user","content":"q"}],"tools":[{"name":"odd",)"
           R"("input_schema":)" +
           schema + "}]}";
  };
  const std::string refused =
      R"({"type":"object","properties":{"a":{"type":"string","pattern":"(b)\\1"}}})";
  const std::string id =
      create(*server, R"({"requests":[{"custom_id":"relaxed","params":)" + with_tool(refused) +
                          R"(},{"custom_id":"exact","params":)" +
                          with_tool(R"({"type":"object"})") + "}]}");
  wait_for_end(*server, id);
  const std::vector<json::value> lines = results(*server, id);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(text_at(lines[0], "/result/message/constraint_relaxed"), "odd /properties/a pattern");
  const json::object& exact = lines[1].at_pointer("/result/message").as_object();
  EXPECT_FALSE(exact.contains("constraint_relaxed"));
}

TEST_F(ServerBatches, FaultsOfARequestAreItsOwnResult) {
  const auto server = serve(always_says("Paris"));
  const std::string id =
      create(*server, R"({"requests":[{"custom_id":"bad","params":{"max_tokens":5}},)"
                      R"({"custom_id":"long","params":)" +
                          params_of(std::string(2000, 'q')) + R"(},{"custom_id":"good","params":)" +
                          params_of("?") + "}]}");
  wait_for_end(*server, id);
  const std::vector<json::value> lines = results(*server, id);
  ASSERT_EQ(lines.size(), 3u);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(text_at(lines[i], "/result/type"), "errored");
    EXPECT_EQ(text_at(lines[i], "/result/error/type"), "error");
    EXPECT_EQ(text_at(lines[i], "/result/error/error/type"), "invalid_request_error");
  }
  EXPECT_TRUE(text_at(lines[0], "/result/error/error/message").starts_with("messages"));
  EXPECT_TRUE(text_at(lines[1], "/result/error/error/message").starts_with("prompt is too long"));
  EXPECT_EQ(text_at(lines[2], "/result/type"), "succeeded");
  EXPECT_EQ(number_at(batch(*server, id), "/request_counts/errored"), 2);
}

TEST_F(ServerBatches, BrokenBatchesAreRefusedAsAWhole) {
  const auto server = serve(FakeModelOptions{});
  const std::string twice = R"({"custom_id":"a","params":)" + params_of("?") + "}";
  for (const std::string& body :
       {std::string("{"), std::string(R"({"requests":[]})"), std::string(R"({"requests":[{}]})"),
        R"({"requests":[)" + twice + "," + twice + "]}"}) {
    const Answer answer = post(*server, kBatches, body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(text_at(answer.json(), "/error/type"), "invalid_request_error");
  }
  EXPECT_EQ(text_at(get(*server, kBatches).json(), "/data"), "[]");
  EXPECT_EQ(server->service().admission.in_flight(), 0u);
}

TEST_F(ServerBatches, AreListedNewestFirst) {
  const auto server = serve(always_says("Paris"));
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(create(*server, batch_of(i + 1)));
  for (const std::string& id : ids) wait_for_end(*server, id);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect_results(*server, ids[i], static_cast<int>(i) + 1, "succeeded");
  }
  const json::value page = get(*server, kBatches + "?limit=2").json();
  EXPECT_EQ(text_at(page, "/data/0/id"), ids[2]);
  EXPECT_EQ(text_at(page, "/data/1/id"), ids[1]);
  EXPECT_EQ(text_at(page, "/has_more"), "true");
  EXPECT_EQ(text_at(page, "/last_id"), ids[1]);
  const json::value rest = get(*server, kBatches + "?limit=2&after_id=" + ids[1]).json();
  EXPECT_EQ(text_at(rest, "/data/0/id"), ids[0]);
  EXPECT_EQ(text_at(rest, "/data/1"), "(none)");
  EXPECT_EQ(text_at(rest, "/has_more"), "false");
  for (const std::string query :
       {"?limit=0", "?limit=x", "?after_id=no", "?after_id=a&before_id=b"}) {
    EXPECT_EQ(get(*server, kBatches + query).status, 400) << query;
  }
}

TEST_F(ServerBatches, StopInTheMiddleWhenCancelled) {
  Gate gate(60);
  const auto server = serve(never_ends(), &gate);
  const std::string id = create(*server, batch_of(8));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  const std::uint64_t done = server->snapshot().requests_finished;
  ASSERT_TRUE(eventually([&] { return settled(*server) == done; }));
  EXPECT_TRUE(done > 0 && done < 8) << done;
  const Answer asked = post(*server, kBatches + "/" + id + "/cancel", "");
  EXPECT_EQ(asked.status, 200);
  EXPECT_EQ(text_at(asked.json(), "/processing_status"), "canceling");
  EXPECT_NE(text_at(asked.json(), "/cancel_initiated_at"), "null");
  // The model still stands: what runs is given up, not waited for.
  wait_for_end(*server, id);
  const json::value ended = batch(*server, id);
  const auto counted = static_cast<std::int64_t>(done);
  EXPECT_EQ(number_at(ended, "/request_counts/succeeded"), counted);
  EXPECT_EQ(number_at(ended, "/request_counts/canceled"), 8 - counted);
  gate.open();
  server->settle();
  EXPECT_EQ(results(*server, id).size(), 8u);
  EXPECT_EQ(server->snapshot().cells_reserved, 0u);
  EXPECT_EQ(post(*server, kBatches + "/" + id + "/cancel", "").status, 400) << "it has ended";
}

TEST_F(ServerBatches, AreDeletedOnlyWhenTheyHaveEnded) {
  Gate gate(0);
  const auto server = serve(always_says("Paris"), &gate);
  const std::string id = create(*server, batch_of(1));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  const std::string path = kBatches + "/" + id;
  const auto erase = [&] { return ask(*server, {path, "", "", "DELETE"}); };
  EXPECT_EQ(erase().status, 400);
  EXPECT_EQ(get(*server, path + "/results").status, 400);
  gate.open();
  wait_for_end(*server, id);
  const Answer deleted = erase();
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(text_at(deleted.json(), "/type"), "message_batch_deleted");
  EXPECT_EQ(text_at(deleted.json(), "/id"), id);
  for (const Answer& gone : {erase(), get(*server, path), get(*server, path + "/results"),
                             post(*server, path + "/cancel", "")}) {
    EXPECT_EQ(gone.status, 404);
    EXPECT_EQ(text_at(gone.json(), "/error/type"), "not_found_error");
  }
}

TEST_F(ServerBatches, BelongToOneServerAtATime) {
  {
    const auto server = serve(FakeModelOptions{});
    Config config;
    config.server.port = 0;
    const SteadyClock clock;
    Server second(config, clock);
    ASSERT_TRUE(second.load(make_fake_model({})).ok());
    const auto kept = second.keep_batches(folder_.path() / "batches");
    ASSERT_FALSE(kept.ok());
    EXPECT_EQ(kept.error().code, ErrorCode::kConfiguration);
    EXPECT_NE(kept.error().message.find("in use"), std::string::npos) << kept.error().message;
  }
  const auto next = serve(FakeModelOptions{});
  EXPECT_EQ(get(*next, kBatches).status, 200);
}

TEST_F(ServerBatches, NeedAFolderThatCanBeMade) {
  Config config;
  config.server.port = 0;
  const SteadyClock clock;
  Server server(config, clock);
  ASSERT_TRUE(server.load(make_fake_model({})).ok());
  const auto kept = server.keep_batches("/proc/no/such");
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().code, ErrorCode::kConfiguration);
}

enum class End { kDrain, kStop };

class ServerBatchesEnd : public ServerBatches, public testing::WithParamInterface<End> {};

// N requests, the server ends while one of them runs, the next server computes what is left: N
// results, none computed to its end twice.
TEST_P(ServerBatchesEnd, GoOnInTheNextServer) {
  constexpr int kCount = 8;
  std::string id;
  std::uint64_t before = 0;
  {
    Gate gate(60);
    const auto server = serve(never_ends(), &gate);
    id = create(*server, batch_of(kCount));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    before = server->snapshot().requests_finished;
    ASSERT_TRUE(eventually([&] { return settled(*server) == before; }));
    if (GetParam() == End::kDrain) {
      // Nobody waits for a batch: the server goes while the model stands still.
      server->server().begin_drain();
      server->join();
    } else {
      server->server().stop_now();
      ASSERT_TRUE(eventually([&] { return server->service().admission.closed(); }));
    }
    gate.open();
  }
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, static_cast<std::uint64_t>(kCount));
  const auto next = serve(never_ends());
  wait_for_end(*next, id);
  expect_results(*next, id, kCount, "succeeded");
  EXPECT_EQ(next->snapshot().requests_finished, kCount - before);
}

INSTANTIATE_TEST_SUITE_P(BothEnds, ServerBatchesEnd, testing::Values(End::kDrain, End::kStop),
                         [](const auto& end) {
                           return end.param == End::kDrain ? "Drain" : "Stop";
                         });

// Which prompts the model was asked to continue, in that order.
class Order {
 public:
  FakeScript script(FakeScript inner, std::vector<std::string> marks) {
    return [this, inner = std::move(inner), marks = std::move(marks)](TokenSpan tokens) {
      std::string text;
      for (const Token token : tokens) text += static_cast<char>(token < 256 ? token : ' ');
      const std::scoped_lock lock(mutex_);
      for (const std::string& mark : marks) {
        if (text.find(mark) == text.npos || seen_.contains(mark)) continue;
        seen_.insert(mark);
        order_.push_back(mark);
      }
      return inner(tokens);
    };
  }
  std::vector<std::string> get() {
    const std::scoped_lock lock(mutex_);
    return order_;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> seen_;
  std::vector<std::string> order_;
};

TEST_F(ServerBatches, WaitForEverybodyElse) {
  Gate gate(3);
  Order order;
  FakeModelOptions model = always_says("A rather long answer.");
  model.script = order.script(model.script, {"first", "second", "third", "r0"});
  const auto server = serve(model, &gate, [](Config& config) { config.engine.sequences = 1; });
  const auto ask_for = [&](const std::string& word) {
    auto socket = std::make_unique<Socket>(server->port());
    socket->send(bytes_of({"/v1/messages", params_of(word), ""}));
    return socket;
  };
  const auto first = ask_for("first");
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  const std::string id = create(*server, batch_of(1));
  // These come later than the batch and are computed before it.
  const auto second = ask_for("second");
  const auto third = ask_for("third");
  ASSERT_TRUE(eventually([&] { return server->snapshot().queued == 2; }));
  EXPECT_EQ(number_at(batch(*server, id), "/request_counts/processing"), 1);
  gate.open();
  wait_for_end(*server, id);
  for (Socket* socket : {first.get(), second.get(), third.get()}) {
    EXPECT_EQ(parse_answer(socket->receive_all()).status, 200);
  }
  const std::vector<std::string> seen = order.get();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.front(), "first");
  EXPECT_EQ(seen.back(), "r0");
}

TEST_F(ServerBatches, ResultsOfManyRequestsComeInPages) {
  constexpr int kCount = 2'500;  // a page holds 1,000
  Gate gate(0);
  const auto server = serve(always_says("Paris"), &gate);
  const std::string id = create(*server, batch_of(kCount));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  EXPECT_EQ(post(*server, kBatches + "/" + id + "/cancel", "").status, 200);
  wait_for_end(*server, id);
  expect_results(*server, id, kCount, "canceled");
  gate.open();
}

TEST_F(ServerBatches, AnswerNothingAboutBatchesThatDoNotExist) {
  const auto server = serve(FakeModelOptions{});
  for (const std::string id : {"msgbatch_none", "%00", "..", "a%2Fb"}) {
    EXPECT_EQ(get(*server, kBatches + "/" + id).status, 404) << id;
    EXPECT_EQ(get(*server, kBatches + "/" + id + "/results").status, 404) << id;
    EXPECT_EQ(post(*server, kBatches + "/" + id + "/cancel", "").status, 404) << id;
    EXPECT_EQ(ask(*server, {kBatches + "/" + id, "", "", "DELETE"}).status, 404) << id;
  }
}

}  // namespace
}  // namespace zerohop
