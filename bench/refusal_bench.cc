// How quickly work is refused: as many refusals as go, and their latency at a fixed rate.
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/check.h"
#include "door_scenarios.h"
#include "http_wire.h"
#include "paced_load.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 3;
constexpr double kClosedSeconds = 1.5;
constexpr double kOpenRate = 5'000;
constexpr double kOpenSeconds = 2;
constexpr double kRateGoal = 10'000;
constexpr double kLatencyGoalMs = 1;
// So many failures has an address before it is told to wait (auth_attempts.h).
constexpr std::size_t kFailuresOfAddress = 10;
constexpr Room kRoom{.sequences = 2, .cells = 2048, .window = 1024};

const std::string kBody =
    R"({"model":"smollm2-135m","max_tokens":1,"temperature":0,)"
    R"("messages":[{"role":"user","content":"What is the capital of France?"}]})";

struct Kind {
  std::string name;
  int status = 0;
  std::string request;
  std::size_t requests_per_connection = 0;
};

std::string message_of(const std::string& key) {
  return post_bytes("/v1/messages", kBody, key_header(key));
}

// Takes the only permit: a request whose body never ends holds it.
class HeldPermit {
 public:
  HeldPermit(std::uint16_t port, const std::string& key) : descriptor_(connect_to(port)) {
    ZH_CHECK(descriptor_ >= 0);
    std::string head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n" + key_header(key) +
                       "content-length: 1000000\r\n\r\n{";
    ZH_CHECK(send_all(descriptor_, head));
  }
  ~HeldPermit() { close(descriptor_); }
  HeldPermit(const HeldPermit&) = delete;
  HeldPermit& operator=(const HeldPermit&) = delete;

 private:
  const int descriptor_;
};

int status_of_one(std::uint16_t port, const std::string& request) {
  const LoadFigures figures =
      run_closed({.port = port, .requests = {request}, .connections = 1}, {30, 1});
  return figures.answers.empty() ? 0 : figures.answers.front().status;
}

void measure(const DoorBench& bench, std::uint16_t port, const Kind& kind) {
  const PacedLoad load{.port = port,
                       .requests = {kind.request},
                       .connections = 32,
                       .requests_per_connection = kind.requests_per_connection};
  ComparisonRow rate{kind.name + ", as many as go", "/s"};
  ComparisonRow middle{"… at 5,000/s, p50", "ms"};
  ComparisonRow late{"… at 5,000/s, p99", "ms"};
  std::vector<std::string> others;
  const auto keep = [&](const LoadFigures& figures) {
    if (figures.latencies(kind.status).size() == figures.answers.size() && figures.broken == 0) {
      return;
    }
    others.push_back(figures.statuses());
  };
  for (int round = 0; round < kRounds; ++round) {
    const LoadFigures closed = run_closed(load, {kClosedSeconds});
    rate.ours.push_back(closed.rate());
    keep(closed);
    const LoadFigures open = run_open(load, {kOpenRate, kOpenSeconds});
    middle.ours.push_back(percentile(open.latencies(), 0.5) * 1e3);
    late.ours.push_back(percentile(open.latencies(), 0.99) * 1e3);
    keep(open);
  }
  rate.goal = "≥ 10,000/s";
  rate.met = percentile(rate.ours, 0.5) >= kRateGoal;
  late.goal = "< 1 ms";
  late.met = percentile(late.ours, 0.5) < kLatencyGoalMs;
  for (const ComparisonRow& row : {rate, middle, late}) bench.report.add(row);
  for (const std::string& text : others) {
    std::printf("  not all were %d: %s\n", kind.status, text.c_str());
  }
}

}  // namespace

void bench_refusals(const DoorBench& bench) {
  const std::string& good = bench.keys.texts().front();
  const std::string& slow = bench.keys.slow();
  std::vector<std::string> environment = bench.keys.environment();
  environment.emplace_back("ZEROHOP_LIMITS_REQUESTS_MAX=1");
  environment.emplace_back("ZEROHOP_SERVER_BODY_TIMEOUT_SECONDS=86400");
  const ChildServer server(bench.programs, Side::kOurs, kRoom, environment);
  ZH_CHECK(status_of_one(server.port(), message_of(slow)) == 200);
  const HeldPermit held(server.port(), good);
  while (status_of_one(server.port(), message_of(good)) != 529) {
  }
  bench.report.begin(
      "refusals",
      "POST /v1/messages with a body of 130 bytes on 32 keep-alive connections; the generator runs "
      "on the same cores. 1,000 keys with a limit of every kind, the ledger on, one permit, which "
      "another request holds. First as many as go (1.5 s), then 5,000 a second whatever becomes of "
      "the earlier ones (2 s), latencies from the time at which a request is due; three rounds. An "
      "address may fail ten times before it is told to wait, so those with status 401 come from a "
      "new loopback address, and thus on a new connection, every ten requests.",
      kFigures);
  const std::string unknown = "sk-zh-0123456789abcdefghijklmnopqrstuv";
  measure(bench, server.port(), {"401, unknown key", 401, message_of(unknown), kFailuresOfAddress});
  measure(bench, server.port(), {"429, unknown key again and again", 429, message_of(unknown)});
  measure(bench, server.port(), {"429, key over its requests a minute", 429, message_of(slow)});
  measure(bench, server.port(), {"529, no permit is left", 529, message_of(good)});
}

}  // namespace zerohop::bench
