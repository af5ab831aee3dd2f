// What keys, limits, the ledger and the limits of addresses cost a request, as its client sees it:
// two servers of one process, one with all of them and one with none, which answer in turn.
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "bench_clock.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "model/llama_test_tiny.h"
#include "own_server.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 5;
constexpr double kMiddleGoalUs = 50;
constexpr double kLateGoalUs = 200;
constexpr Room kRoom{.sequences = 2, .cells = 2048, .window = 1024};

struct Request {
  std::string name;
  std::string path;
  std::string body;
  std::size_t pairs = 0;  // one of each side, in a round
};

// The loopback address is exempt by default; here some other is, so that it is counted.
std::vector<std::string> with_all(DoorKeys& keys) {
  std::vector<std::string> environment = keys.environment();
  environment.emplace_back("ZEROHOP_SERVER_ADDRESS_EXEMPT=192.0.2.1");
  environment.emplace_back("ZEROHOP_SERVER_ADDRESS_REQUESTS_PER_MINUTE=1000000000");
  return environment;
}

std::vector<std::string> with_none() {
  return {"ZEROHOP_AUTH_NO_AUTH=true",
          "ZEROHOP_LIMITS_USAGE_FOLDER=", "ZEROHOP_SERVER_ADDRESS_CONNECTIONS_MAX=off",
          "ZEROHOP_SERVER_ADDRESS_REQUESTS_PER_MINUTE=off"};
}

// A model that takes next to no time: two copies of the default one differ by 0.1 ms a token, by
// where in memory each came to lie, which is ten times what is measured here. With one compute
// thread, because it shares a core with the rest.
Programs with_tiny_model(Programs programs, const std::filesystem::path& folder) {
  const std::filesystem::path model = folder / "tiny.gguf";
  write_tiny_model(model, TinyKind::kDense);
  programs.model = model.string();
  programs.threads = 1;
  return programs;
}

// Where the system puts threads makes more of a difference than what is measured here. So all
// threads of both servers are on one core, and the client is on another.
class OnAndOff {
 public:
  OnAndOff(const Programs& programs, DoorKeys& keys)
      : OnAndOff(programs, keys, OnCore(OnCore::Core::kLast)) {}

  std::uint16_t on() const { return on_.port(); }
  std::uint16_t off() const { return off_.port(); }

 private:
  OnAndOff(const Programs& programs, DoorKeys& keys, const OnCore&)
      : on_(programs, kRoom, with_all(keys)), off_(programs, kRoom, with_none()) {}

  const OwnServer on_;
  const OwnServer off_;
};

// A keep-alive connection with one request on its way.
class Caller {
 public:
  explicit Caller(std::uint16_t port) : descriptor_(connect_to(port)) {
    ZH_CHECK(descriptor_ >= 0);
  }
  ~Caller() { close(descriptor_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Microseconds from the request to the whole answer.
  double ask(const std::string& bytes) const {
    const double begin = now_seconds();
    ZH_CHECK(send_all(descriptor_, bytes));
    AnswerReader reader;
    char buffer[16384];
    while (!reader.complete()) {
      const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
      ZH_CHECK(count > 0);
      reader.feed({buffer, static_cast<std::size_t>(count)});
    }
    const double took = now_seconds() - begin;
    ZH_CHECK(reader.status() == 200);
    return took * 1e6;
  }

 private:
  const int descriptor_;
};

struct Latencies {
  std::vector<double> on;
  std::vector<double> off;
};

// Neither side is always the first of a pair.
Latencies run_pairs(const Caller& on, const Caller& off, const std::string& bytes,
                    std::size_t pairs) {
  Latencies latencies;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (i % 2 == 0) latencies.on.push_back(on.ask(bytes));
    latencies.off.push_back(off.ask(bytes));
    if (i % 2 != 0) latencies.on.push_back(on.ask(bytes));
  }
  return latencies;
}

void compare(const DoorBench& bench, const OnAndOff& servers, const Request& request,
             const std::string& key) {
  const std::string bytes = post_bytes(request.path, request.body, key_header(key));
  ComparisonRow middle{request.name + ", p50", "µs"};
  ComparisonRow late{request.name + ", p99", "µs"};
  ComparisonRow middle_cost{"… difference of p50", "µs"};
  ComparisonRow late_cost{"… difference of p99", "µs"};
  const OnCore here(OnCore::Core::kFirst);
  const Caller on_side(servers.on());
  const Caller off_side(servers.off());
  for (int round = -1; round < kRounds; ++round) {
    const auto [on, off] = run_pairs(on_side, off_side, bytes, request.pairs);
    if (round < 0) continue;  // fills the caches of both
    middle.ours.push_back(percentile(on, 0.5));
    middle.peer.push_back(percentile(off, 0.5));
    late.ours.push_back(percentile(on, 0.99));
    late.peer.push_back(percentile(off, 0.99));
    middle_cost.ours.push_back(middle.ours.back() - middle.peer.back());
    late_cost.ours.push_back(late.ours.back() - late.peer.back());
  }
  middle_cost.goal = "≤ 50 µs";
  middle_cost.met = percentile(middle_cost.ours, 0.5) <= kMiddleGoalUs;
  late_cost.goal = "≤ 200 µs";
  late_cost.met = percentile(late_cost.ours, 0.5) <= kLateGoalUs;
  for (const ComparisonRow& row : {middle, middle_cost, late, late_cost}) bench.report.add(row);
}

}  // namespace

void bench_policy(const DoorBench& bench) {
  log_configure({.level = LogLevel::kError});
  const std::string& key = bench.keys.texts()[bench.keys.texts().size() / 2];
  const OnAndOff servers(with_tiny_model(bench.programs, bench.keys.folder()), bench.keys);
  bench.report.begin(
      "policy",
      "Two servers in one process, each asked in turn over a keep-alive connection of its own, one "
      "request at a time; all threads of both on one core, the client on another. The model is one "
      "of two random layers (92 kB): what is measured does not depend on it, and two copies of the "
      "default one differ by more, by where in memory they lie. On: 1,000 keys, a limit of every "
      "kind at key and tenant (thirteen checks a request and as many settlements), budgets "
      "journaled, the ledger, limits of addresses. Off: none of it. Medians "
      "of five rounds of 5,000 requests of each kind for each side.",
      ComparisonColumns{"on", "off"});
  const std::string question = R"("messages":[{"role":"user","content":"capital"}]})";
  compare(bench, servers,
          {"count_tokens", "/v1/messages/count_tokens", R"({"model":"tiny",)" + question, 5'000},
          key);
  compare(bench, servers,
          {"one token behind a cached prompt", "/v1/messages",
           R"({"model":"tiny","max_tokens":1,"temperature":0,)" + question, 5'000},
          key);
}

}  // namespace zerohop::bench
