// The configuration of a running server, changed and read again.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "app/config_load.h"
#include "app/test_folder.h"
#include "app/test_server.h"
#include "telemetry/metrics_test_kit.h"

namespace zerohop {
namespace {

constexpr const char* kTurn = R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":40})";

using Settings = std::map<std::string, std::string>;  // path → value as YAML

// A server whose configuration is a file.
class ReloadedServer {
 public:
  explicit ReloadedServer(Settings settings = {}, FakeModelOptions model = says(),
                          Gate* gate = {}) {
    const Settings usual{{"server.port", "0"},
                         {"instance.id", "test-1"},
                         {"engine.context_tokens", "1024"},
                         {"engine.sequences", "4"},
                         {"admin.listen", "\"127.0.0.1:0\""}};
    settings_ = usual;
    change(settings);
    TestServerOptions options;
    options.model = std::move(model);
    options.gate = gate;
    options.admin_token = kAdminToken;
    options.read_config = [this] { return read(); };
    options.configure = [this](Config& config) { config = read()->config; };
    server_ = std::make_unique<RunningServer>(options);
  }

  void change(const Settings& settings) {
    for (const auto& [path, value] : settings) settings_[path] = value;
    std::string text;
    std::string section;
    for (const auto& [path, value] : settings_) {
      const std::size_t dot = path.find('.');
      if (path.substr(0, dot) != section) {
        section = path.substr(0, dot);
        text += section + ":\n";
      }
      text += "  " + path.substr(dot + 1) + ": " + value + "\n";
    }
    write(text);
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  Answer reload() const { return ask_admin(*server_, {"/admin/reload", "", ""}); }
  // The keys that a reload with these settings names.
  std::string applied(const Settings& settings) {
    change(settings);
    const Answer answer = reload();
    EXPECT_EQ(answer.status, 200) << answer.body;
    return text_at(answer.json(), "/applied");
  }

  RunningServer& operator*() const { return *server_; }
  RunningServer* operator->() const { return server_.get(); }
  std::shared_ptr<const LiveConfig> live() const { return server_->service().live.get(); }

  static FakeModelOptions says() { return always_says("One two three. Four; five six. Seven."); }

 private:
  std::filesystem::path file() const { return folder_.path() / "z.yaml"; }
  Result<LoadedConfig> read() const {
    ConfigSources sources;
    sources.file = file();
    return load_config(sources);
  }

  const TestFolder folder_;
  Settings settings_;
  std::unique_ptr<RunningServer> server_;
};

// ---- Every key ----

using Look = std::function<std::string(const ReloadedServer& server)>;

// How the effect of a key shows.
struct Probe {
  std::string path;
  std::string value;    // another one than before
  Settings given = {};  // what has to be set for it to show
  Look look;
};

std::string status_of(const Answer& answer) { return std::to_string(answer.status); }

Answer message(const ReloadedServer& server, const std::string& body = kTurn,
               const std::string& headers = "") {
  return ask(*server, {"/v1/messages", body, headers});
}

Look body_of(const std::string& path) {
  return [path](const ReloadedServer& server) { return get(*server, path).body; };
}

Look header_of(const std::string& name) {
  return [name](const ReloadedServer& server) {
    return message(server, kTurn, "anthropic-version: 2023-06-01\r\n").header(name);
  };
}

Look status_to(const std::string& body) {
  return [body](const ReloadedServer& server) {
    return status_of(message(server, body, "anthropic-version: 2023-06-01\r\n"));
  };
}

Look text_of_answer() {
  return [](const ReloadedServer& server) {
    return text_at(message(server).json(), "/content/0/text");
  };
}

// The statuses of the next requests: where a limit is, some of them are refused.
Look statuses(int requests) {
  return [requests](const ReloadedServer& server) {
    std::string all;
    for (int i = 0; i < requests; ++i) all += status_of(message(server)) + " ";
    return all;
  };
}

// What is done with it is tested where it is done: the tier, the documents, the loop of a stream.
Look snapshot(std::function<std::string(const LiveConfig& live)> show) {
  return [show = std::move(show)](const ReloadedServer& server) { return show(*server.live()); };
}

Look queue_setting(std::function<std::string(const QueueConfig& queue)> show) {
  return snapshot(
      [show = std::move(show)](const LiveConfig& live) { return show(live.config.queue); });
}

// Four connections are held open while another one asks.
std::string answers_beside_four(const ReloadedServer& server) {
  const Socket held[] = {Socket(server->port()), Socket(server->port()), Socket(server->port()),
                         Socket(server->port())};
  return status_of(get(*server, "/livez"));
}

// A request that has not brought its body yet holds its place.
std::string answers_beside_one(const ReloadedServer& server) {
  EXPECT_TRUE(eventually([&] { return server->service().admission.in_flight() == 0; }));
  Socket first(server->port());
  first.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server->service().admission.in_flight() == 1; }));
  const std::string status = status_of(message(server));
  first.close_hard();
  return status;
}

std::string folded_events(const ReloadedServer& server) {
  const std::string body =
      R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":40,"stream":true})";
  const bool all = message(server, body).body.find("content_block_start") != std::string::npos;
  return all ? "full" : "folded";
}

std::string tokens_with_header(const ReloadedServer& server) {
  return post(*server, "/v1/messages/count_tokens",
              R"({"system":[{"type":"text","text":"x-anthropic-billing-header: abc"},)"
              R"({"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"Hi"}]})")
      .body;
}

std::string moved_texts(const ReloadedServer& server) {
  message(server, R"({"system":"Now: 1\nBe brief.","messages":[{"role":"user","content":"Hi"}],)"
                  R"("max_tokens":4})");
  return std::to_string(metric(*server, "zerohop_prompt_rewrites_total", R"(rule="Now: *")"));
}

std::string profiled(const ReloadedServer& server) {
  message(server, R"({"system":"Desk.","messages":[{"role":"user","content":"Hi"}],)"
                  R"("max_tokens":4})");
  return std::to_string(metric(*server, "zerohop_profile_requests_total", R"(profile="desk")"));
}

std::string log_look(const ReloadedServer&) {
  testing::internal::CaptureStderr();
  log_error("probe", {});
  return testing::internal::GetCapturedStderr().substr(0, 1);
}

const Settings kStrangers{{"server.address_exempt", "[]"}};

std::vector<Probe> network_probes() {
  return {
      {"server.connections_max", "2", {}, answers_beside_four},
      {"server.body_bytes_max", "1024", {}, status_to(std::string(2'000, ' '))},
      {"server.address_connections_max", "2", kStrangers, answers_beside_four},
      {"server.address_requests_per_minute", "3", kStrangers, statuses(4)},
      {"server.address_exempt", "[]", {{"server.address_requests_per_minute", "3"}}, statuses(4)},
      {"instance.labels", "{a: b}", {}, body_of("/v1/instances")},
      {"instance.exclusive", "true", {}, status_to(kTurn)},
      {"instance.label_headers", "{a: x-a}", {{"instance.labels", "{a: b}"}}, header_of("x-a")},
      {"instance.peers", "{far: 10.0.0.1}", {}, body_of("/v1/instances")},
      {"model.aliases", "{claude-x: fake}", {}, body_of("/v1/models")},
      {"model.unknown_name",
       "not_found",
       {},
       status_to(R"({"model":"nobody",)" + std::string(kTurn).substr(1))},
      {"log.level", "off", {}, log_look},
      {"log.format", "json", {{"log.format", "text"}}, log_look},
  };
}

std::vector<Probe> limit_probes() {
  const std::string dear = R"({"*": "input=1000000000 output=1000000000"})";
  return {
      {"limits.requests_max", "1", {}, answers_beside_one},
      {"queue.overload_status", "503", {{"limits.requests_max", "1"}}, answers_beside_one},
      {"queue.join_retries", "true", {}, queue_setting([](const QueueConfig& queue) {
         return std::to_string(static_cast<int>(queue.join_retries));
       })},
      {"queue.class_wait_max_seconds", "[1, 2, 3]", {}, queue_setting([](const QueueConfig& queue) {
         return std::to_string(queue.class_wait_max_seconds.size());
       })},
      {"scheduler.max_wait_seconds", "3", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.config.scheduler.max_wait_seconds);
       })},
      {"limits.default_max_tokens",
       "2",
       {},
       [](const ReloadedServer& server) {
         return post(*server, "/v1/messages", R"({"messages":[{"role":"user","content":"Hi"}]})")
                            .json()
                            .at("usage")
                            .at("output_tokens")
                            .to_number<int>() == 2
                    ? "2"
                    : "more";
       }},
      {"limits.soft_max_tokens", "true", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(static_cast<int>(live.config.limits.soft_max_tokens));
       })},
      {"limits.soft_cap_percent", "1", {}, text_of_answer()},
      {"limits.soft_cap_stop", "[\";\"]", {{"limits.soft_cap_percent", "40"}}, text_of_answer()},
      {"limits.key_defaults", "{requests_per_minute: 2}", {}, statuses(3)},
      {"limits.tenant_defaults", "{requests_per_minute: 2}", {}, statuses(3)},
      {"limits.rate_limit", "1/minute", {{"limits.tokens_per_request", "1"}}, statuses(1)},
      {"limits.tokens_per_request", "1", {{"limits.rate_limit", "1/minute"}}, statuses(1)},
      {"limits.prices",
       dear,
       {{"limits.tenant_defaults", "{money_micros_per_day: 1}"}},
       statuses(1)},
  };
}

std::vector<Probe> wire_probes() {
  const std::string no_length = R"({"messages":[{"role":"user","content":"Hi"}]})";
  const Settings classic{{"wire.version_profiles", "{2023-06-01: classic}"},
                         {"wire.profiles", "{classic: strict=false}"}};
  return {
      {"stream.ping_seconds", "7", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.config.stream.ping_seconds);
       })},
      {"wire.strict", "true", {}, status_to(no_length)},
      {"wire.stream_profile", "folded", {}, folded_events},
      {"wire.heartbeat", "empty_delta", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(static_cast<int>(live.wire_profiles.find("").heartbeat));
       })},
      {"metrics.operator_tenants", "[ops]", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.config.metrics.operator_tenants.size());
       })},
      {"slo.objectives",
       "{up: {indicator: availability, target: 0.9}}",
       {},
       [](const ReloadedServer& server) {
         message(server);
         server->settle();
         return std::to_string(metric(*server, "zerohop_slo_total",
                                      R"(objective="up",tier="fake",class="standard")"));
       }},
      {"wire.default_stop_sequences", "[Four]", {}, text_of_answer()},
      {"wire.profiles", "{classic: strict=true}", classic, status_to(no_length)},
      {"wire.version_profiles",
       "{2023-06-01: classic}",
       {{"wire.profiles", "{classic: strict=false}"}},
       header_of("anthropic-version-profile")},
      {"prompt.strip_billing_header", "false", {}, tokens_with_header},
      {"prompt.volatile", "[\"Now: *\"]", {}, moved_texts},
      {"prompt.profiles", "{desk: {system: Desk.}}", {}, profiled},
      {"documents.pdf_bytes_max", "1024", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.documents.pdf_bytes_max);
       })},
      {"documents.pages_max", "1", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.documents.pages_max);
       })},
      {"documents.timeout_seconds", "1", {}, snapshot([](const LiveConfig& live) {
         return std::to_string(live.documents.time_max.count());
       })},
  };
}

void check(const std::vector<Probe>& probes) {
  for (const Probe& probe : probes) {
    ReloadedServer server(probe.given);
    const std::string before = probe.look(server);
    EXPECT_EQ(server.applied({{probe.path, probe.value}}), "[\"" + probe.path + "\"]");
    EXPECT_NE(probe.look(server), before) << probe.path << ": " << before;
  }
  log_configure({});
}

TEST(ServerReload, AppliesEveryKeyOfTheNetworkEdgeThatIsMarkedSo) { check(network_probes()); }
TEST(ServerReload, AppliesEveryLimitThatIsMarkedSo) { check(limit_probes()); }
TEST(ServerReload, AppliesEveryKeyOfTheWireThatIsMarkedSo) { check(wire_probes()); }

// Of a running server they would show only to who waits: what they do is tested in http.
const std::map<std::string, Duration ServerOptions::*> kTimeouts{
    {"server.head_timeout_seconds", &ServerOptions::head_timeout},
    {"server.body_timeout_seconds", &ServerOptions::body_timeout},
    {"server.idle_timeout_seconds", &ServerOptions::idle_timeout},
    {"server.write_timeout_seconds", &ServerOptions::write_timeout}};

TEST(ServerReload, AppliesTimeouts) {
  ReloadedServer server;
  int seconds = 101;
  Settings settings;
  for (const auto& [path, member] : kTimeouts) settings[path] = std::to_string(seconds++);
  server.applied(settings);
  server->server().stop_now();
  server->join();
  seconds = 101;
  for (const auto& [path, member] : kTimeouts) {
    EXPECT_EQ(server->server().http_options().*member, std::chrono::seconds(seconds++)) << path;
  }
}

// With the time of the start it would take half a minute.
TEST(ServerReload, AppliesTheTimeForDraining) {
  Gate gate(0);
  ReloadedServer server({}, never_ends(), &gate);
  Socket client(server->port());
  client.send(bytes_of(
      {"/v1/messages", R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":900})", ""}));
  EXPECT_TRUE(eventually([&gate] { return gate.reached(); }));
  EXPECT_EQ(server.applied({{"server.drain_seconds", "0"}}), R"(["server.drain_seconds"])");
  server->server().begin_drain();
  EXPECT_TRUE(eventually([&] { return server->service().admission.closed(); }));
  gate.open();
  EXPECT_EQ(parse_answer(client.receive_all()).status, 503);
  server->join();
}

TEST(ServerReload, HasAProbeForEveryKeyThatIsMarkedSo) {
  std::set<std::string> probed{"server.drain_seconds"};
  for (const auto& [path, member] : kTimeouts) probed.insert(path);
  for (const auto& probes : {network_probes(), limit_probes(), wire_probes()}) {
    for (const Probe& probe : probes) EXPECT_TRUE(probed.insert(probe.path).second) << probe.path;
  }
  std::set<std::string> marked;
  for (const ConfigKey& key : config_table()) {
    if (key.takes_effect == TakesEffect::kReload) marked.emplace(key.path);
  }
  EXPECT_EQ(probed, marked);
}

// Its rules are gone, and a name that stayed for every change would use up those that there are.
TEST(ServerReload, ARenamedObjectiveLeavesThePage) {
  const std::string body = "{indicator: availability, target: 0.9}";
  ReloadedServer server({{"slo.objectives", "{before: " + body + "}"}});
  EXPECT_EQ(server.applied({{"slo.objectives", "{after: " + body + "}"}}), R"(["slo.objectives"])");
  message(server);
  server->settle();
  const std::string page = get(*server, "/metrics").body;
  const std::string rest = R"(,tier="fake",class="standard")";
  EXPECT_EQ(value_of(page, "zerohop_slo_total", R"(objective="after")" + rest), "1");
  EXPECT_EQ(page.find(R"(objective="before")"), page.npos);
  server.applied({{"slo.objectives", "{}"}});
  EXPECT_EQ(get(*server, "/metrics").body.find("zerohop_slo"), std::string::npos);
}

// ---- All or nothing ----

TEST(ServerReload, NamesWhatNeedsARestartAndLeavesItAsItWas) {
  ReloadedServer server;
  server.change({{"engine.sequences", "2"}, {"wire.strict", "true"}, {"instance.id", "other"}});
  const Answer answer = server.reload();
  EXPECT_EQ(text_at(answer.json(), "/applied"), R"(["wire.strict"])");
  EXPECT_EQ(text_at(answer.json(), "/needs_restart"), R"(["instance.id","engine.sequences"])");
  EXPECT_EQ(server.live()->config.instance.id, "test-1");
  EXPECT_EQ(server.live()->config.engine.sequences, 4u);
  // Named again as long as they differ; what is in force is no news.
  const Answer again = server.reload();
  EXPECT_EQ(text_at(again.json(), "/applied"), "[]");
  EXPECT_EQ(text_at(again.json(), "/needs_restart"), R"(["instance.id","engine.sequences"])");
}

TEST(ServerReload, KeepsTheOldConfigurationEntirelyWhenTheNewOneIsWrong) {
  ReloadedServer server;
  const auto before = server.live();
  const std::map<std::string, std::string> wrong{
      {"wire:\n  strict: true\n  heartbeat: drum\n", "z.yaml:3: wire.heartbeat: 'drum' is not"},
      {"wire:\n  strict: true\n  strictt: true\n", "z.yaml:3: unknown key 'wire.strictt'"},
      {"wire:\n  strict: [\n", "z.yaml:3: not valid YAML"},
      {"wire:\n  strict: true\nlimits:\n  prices: {a: gold}\n",
       "z.yaml:4: limits.prices.a: 'gold'"},
      {"wire:\n  strict: true\ninstance:\n  label_headers: {a: b}\n",
       "z.yaml:4: instance.label_headers: there is no label 'a'"},
      {"wire:\n  strict: true\nmodel:\n  aliases: {a: nobody}\n",
       "z.yaml:4: model.aliases: 'a' maps to 'nobody'"},
      {"wire:\n  strict: true\nslo:\n  objectives:\n"
       "    up: {indicator: availability, tier: big, target: 0.9}\n",
       "z.yaml:5: slo.objectives: 'up': tier: 'big' does not run here"},
  };
  for (const auto& [text, message] : wrong) {
    server.write(text);
    const Answer answer = server.reload();
    EXPECT_EQ(answer.status, 400);
    const std::string told = text_at(answer.json(), "/error/message");
    EXPECT_NE(told.find(message), told.npos) << told;
    EXPECT_EQ(server.live(), before);
  }
  EXPECT_EQ(metric(*server, "zerohop_config_reloads_total", R"(outcome="failed")"), wrong.size());
  EXPECT_EQ(server.applied({{"wire.strict", "true"}}), R"(["wire.strict"])");
  EXPECT_EQ(metric(*server, "zerohop_config_reloads_total", R"(outcome="applied")"), 1);
}

TEST(ServerReload, ARequestIsServedByTheConfigurationItBeganUnder) {
  ReloadedServer server;
  Socket begun(server->port());
  const std::string body = R"({"messages":[{"role":"user","content":"Hi"}]})";
  const std::string bytes = bytes_of({"/v1/messages", body, ""});
  begun.send(bytes.substr(0, bytes.size() - 1));
  EXPECT_TRUE(eventually([&] { return server->service().admission.in_flight() == 1; }));
  server.applied({{"wire.strict", "true"}});
  EXPECT_EQ(message(server, body).status, 400);
  begun.send(bytes.substr(bytes.size() - 1));
  EXPECT_EQ(parse_answer(begun.receive_all()).status, 200);
}

// Readers and reloads at once: every answer is that of one configuration or of the other.
TEST(ServerReload, NeverShowsHalfOfAChange) {
  ReloadedServer server(
      {{"instance.labels", "{a: one, b: one}"}, {"instance.label_headers", "{a: x-a, b: x-b}"}});
  std::atomic<bool> done{false};
  std::thread changer([&] {
    for (int i = 0; i < 20; ++i) {
      const std::string word = i % 2 == 0 ? "two" : "one";
      server.applied({{"instance.labels", "{a: " + word + ", b: " + word + "}"}});
    }
    done = true;
  });
  std::set<std::string> seen;
  while (!done) {
    const Answer answer = get(*server, "/livez");
    EXPECT_EQ(answer.header("x-a"), answer.header("x-b"));
    seen.insert(answer.header("x-a"));
  }
  changer.join();
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace zerohop
