// What keys, limits, the ledger and the limits of addresses cost a request, as its client sees it:
// two processes of the same program, one with all of them and one with none, in turn.
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "paced_load.h"
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
  std::size_t block = 0;   // requests of one side before it is the other's turn
  std::size_t blocks = 0;  // of each side in a round
};

// Both serve the file as it is: what preparing it comes to is decided anew by each first start on a
// machine that was busy, and then one side would compute with other weights than the other.
constexpr const char* kSameWeights = "ZEROHOP_MODEL_PREPARE=off";

class OnAndOff {
 public:
  OnAndOff(const Programs& programs, DoorKeys& keys)
      : on_(programs, Side::kOurs, kRoom, with_all(keys)),
        off_(programs, Side::kOurs, kRoom, with_none()) {}

  std::uint16_t on() const { return on_.port(); }
  std::uint16_t off() const { return off_.port(); }

 private:
  // The loopback address is exempt by default; here some other is, so that it is counted.
  static std::vector<std::string> with_all(DoorKeys& keys) {
    std::vector<std::string> environment = keys.environment();
    environment.emplace_back("ZEROHOP_SERVER_ADDRESS_EXEMPT=192.0.2.1");
    environment.emplace_back("ZEROHOP_SERVER_ADDRESS_REQUESTS_PER_MINUTE=1000000000");
    environment.emplace_back(kSameWeights);
    return environment;
  }
  static std::vector<std::string> with_none() {
    return {"ZEROHOP_AUTH_NO_AUTH=true",
            "ZEROHOP_LIMITS_USAGE_FOLDER=", "ZEROHOP_SERVER_ADDRESS_CONNECTIONS_MAX=off",
            "ZEROHOP_SERVER_ADDRESS_REQUESTS_PER_MINUTE=off", kSameWeights};
  }

  const ChildServer on_;
  const ChildServer off_;
};

// Adds the latencies of one block in microseconds, without its first request, which also connects.
void run_block(std::uint16_t port, const Request& request, const std::string& bytes,
               std::vector<double>& latencies) {
  const LoadFigures figures =
      run_closed({.port = port, .requests = {bytes}, .connections = 1}, {600, request.block + 1});
  ZH_CHECK(figures.latencies(200).size() == request.block + 1);
  for (std::size_t i = 1; i <= request.block; ++i) {
    latencies.push_back(figures.answers[i].latency * 1e6);
  }
}

void compare(const DoorBench& bench, const OnAndOff& servers, const Request& request,
             const std::string& key) {
  const std::string bytes = post_bytes(request.path, request.body, key_header(key));
  ComparisonRow middle{request.name + ", p50", "µs"};
  ComparisonRow late{request.name + ", p99", "µs"};
  ComparisonRow middle_cost{"… difference of p50", "µs"};
  ComparisonRow late_cost{"… difference of p99", "µs"};
  for (int round = -1; round < kRounds; ++round) {
    std::vector<double> on;
    std::vector<double> off;
    for (std::size_t block = 0; block < request.blocks; ++block) {
      run_block(servers.on(), request, bytes, on);
      run_block(servers.off(), request, bytes, off);
    }
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
  const std::string& key = bench.keys.texts()[bench.keys.texts().size() / 2];
  const OnAndOff servers(bench.programs, bench.keys);
  bench.report.begin(
      "policy",
      "Two processes of the same program take turns, block by block, one keep-alive connection, "
      "one "
      "request at a time. On: 1,000 keys, a limit of every kind at key and tenant (thirteen checks "
      "a request and as many settlements), budgets journaled, the ledger, limits of addresses. "
      "Off: "
      "none of it. Medians of five rounds; a round has 5,000 requests of the first kind and 300 of "
      "the second for each side, whose p99 is thus its third largest.",
      ComparisonColumns{"on", "off"});
  const std::string question =
      R"("messages":[{"role":"user","content":"What is the capital of France?"}]})";
  compare(bench, servers,
          {"count_tokens", "/v1/messages/count_tokens", R"({"model":"smollm2-135m",)" + question,
           250, 20},
          key);
  compare(bench, servers,
          {"one token behind a cached prompt", "/v1/messages",
           R"({"model":"smollm2-135m","max_tokens":1,"temperature":0,)" + question, 30, 10},
          key);
}

}  // namespace zerohop::bench
