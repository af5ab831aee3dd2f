// A system prompt whose first line is the time of day: no two requests share a prefix, unless the
// server is told (prompt.volatile) that this line may move.

#include <string>
#include <vector>

#include "base/check.h"
#include "chat_load.h"
#include "peer_scenarios.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kClients = 4;
constexpr int kSystemTokens = 1000;
// A time stamp is 20 tokens that every request brings anew, so beside questions of a few tokens its
// computation alone would double the work. These are sizes of a short exchange.
constexpr int kQuestionTokens = 60;
constexpr int kAnswerTokens = 64;
constexpr Room kRoom{.sequences = 8, .cells = 8 * 2048, .window = 2048};
constexpr const char* kRule = "ZEROHOP_PROMPT_VOLATILE=Current time: *";

enum class Stamp : std::uint8_t { kNone, kFirstLine };

struct Load {
  Stamp stamp = Stamp::kNone;
  int requests = 0;
  std::vector<std::string> environment = {};
};

struct Measured {
  double p50_ms = 0;
  double p99_ms = 0;
  double computed = 0;  // prompt tokens of the median request, those from the cache left out
};

std::string stamp_line(int number) {
  const auto two = [](int value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  return "Current time: 2031-05-17T12:" + two(number / 60 % 60) + ":" + two(number % 60) + "Z\\n";
}

// Each client asks again as soon as it has its answer; the first answer of each is not counted.
Measured measure(const PeerBench& bench, Side side, const Load& wanted) {
  const ChildServer server(bench.programs, side, kRoom, wanted.environment);
  TextSource text(500);
  const std::string system = text.text(kSystemTokens);
  ChatLoad load(server.port());
  int sent = 0;
  const auto ask = [&] {
    const std::string stamp = wanted.stamp == Stamp::kNone ? "" : stamp_line(sent);
    ++sent;
    load.start({.system = stamp + system,
                .turns = {text.text(kQuestionTokens)},
                .max_tokens = kAnswerTokens});
  };
  load.set_on_end([&](std::size_t) {
    if (sent < wanted.requests) ask();
  });
  for (int i = 0; i < kClients; ++i) ask();
  load.run();
  std::vector<double> times;
  std::vector<double> computed;
  for (std::size_t i = kClients; i < load.logs().size(); ++i) {
    const ChatLog& log = load.log(i);
    ZH_CHECK(log.end == ChatEnd::kWhole);
    times.push_back(log.total_seconds() * 1e3);
    computed.push_back(log.prompt_tokens - log.cached_tokens);
  }
  return {percentile(times, 0.5), percentile(times, 0.99), percentile(computed, 0.5)};
}

}  // namespace

void bench_time_stamp(const PeerBench& bench) {
  bench.report.begin(
      "time-stamp",
      "4 clients ask questions (60 tokens, 64 of answer) behind a system prompt of 1,000 tokens "
      "whose first line is the time of day, or is not. `prompt.volatile: [\"Current time: *\"]` is "
      "the rule. 100 requests each; 16 where every prompt is computed whole. With the rule the "
      "stamp stands behind the cached prefix, and it and its markup are 34 tokens more to compute "
      "for each request: that is what the ratio of the times comes from.");
  const Load loads[] = {
      {Stamp::kNone, 100}, {Stamp::kFirstLine, 16}, {Stamp::kFirstLine, 100, {kRule}}};
  const char* labels[] = {"without time stamp", "with time stamp, no rule",
                          "with time stamp and rule"};
  std::vector<double> p50[2][3];
  std::vector<double> p99[2][3];
  std::vector<double> computed[2][3];
  for (int round = 0; round < bench.rounds; ++round) {
    for (const Side side : bench.sides) {
      const int loads_of_side = side == Side::kOurs ? 3 : 2;
      for (int i = 0; i < loads_of_side; ++i) {
        const Measured found = measure(bench, side, loads[i]);
        p50[static_cast<int>(side)][i].push_back(found.p50_ms);
        p99[static_cast<int>(side)][i].push_back(found.p99_ms);
        computed[static_cast<int>(side)][i].push_back(found.computed);
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    const std::string label = labels[i];
    bench.report.add(
        {.label = label + ", p50", .unit = "ms", .ours = p50[0][i], .peer = p50[1][i], .goal = ""});
    ComparisonRow row{
        .label = label + ", p99", .unit = "ms", .ours = p99[0][i], .peer = p99[1][i], .goal = ""};
    if (i == 2) {
      row.goal = "≤ 1.2 × without time stamp";
      row.met = percentile(p99[0][2], 0.5) <= 1.2 * percentile(p99[0][0], 0.5);
    }
    bench.report.add(row);
    bench.report.add({.label = label + ", prompt tokens computed",
                      .ours = computed[0][i],
                      .peer = computed[1][i]});
  }
}

}  // namespace zerohop::bench
