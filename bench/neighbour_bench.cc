// 8 running streams while another process keeps one core busy for a while: what the streams get
// meanwhile, and afterwards, each against a run without a neighbour at the same time of the run
// (streams slow down as their contexts grow). The neighbour runs in a session of its own, as most
// neighbours do; a scheduler that groups by session then gives it as much as all compute threads
// together.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench_clock.h"
#include "chat_load.h"
#include "peer_scenarios.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kStreams = 8;
constexpr int kStreamTokens = 1400;
constexpr Room kRoom{.sequences = 8, .cells = 8 * 1536, .window = 1536};
// Seconds of each part, and from its beginning to where it is measured.
constexpr double kIdle = 5;
constexpr double kBusy = 10;
constexpr double kAfter = 6;
constexpr double kReaction = 2;
constexpr double kKept = 0.5;
constexpr double kBack = 0.95;

class Neighbour {
 public:
  Neighbour() : pid_(fork()) {
    ZH_CHECK(pid_ >= 0);
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    volatile std::uint64_t spins = 0;
    for (;;) spins = spins + 1;
  }
  ~Neighbour() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  const pid_t pid_;
};

// Pieces of text (one a token) of all streams a second, between two times.
double rate(const ChatLoad& load, double from, double to) {
  double pieces = 0;
  for (const ChatLog& log : load.logs()) {
    pieces += static_cast<double>(std::count_if(log.text_times.begin(), log.text_times.end(),
                                                [&](double at) { return at >= from && at < to; }));
  }
  return pieces / (to - from);
}

// Tokens a second: before the neighbour comes, from a while after it came, from a while after it
// left.
struct Outcome {
  double before = 0;
  double beside = 0;
  double after = 0;
};

enum class Company : std::uint8_t { kNone, kNeighbour };

Outcome run(const PeerBench& bench, Side side, int round, Company company) {
  const ChildServer server(bench.programs, side, kRoom);
  warm_up(server);
  TextSource text(700 + static_cast<std::uint64_t>(round));
  ChatLoad load(server.port());
  for (std::size_t i = 0; i < kStreams; ++i) {
    load.start({.system = text.text(20), .turns = {text.text(20)}, .max_tokens = kStreamTokens});
  }
  load.run_until([&load] {
    return std::all_of(load.logs().begin(), load.logs().end(),
                       [](const ChatLog& log) { return log.text_times.size() >= 20; });
  });
  Outcome outcome;
  const double begin = now_seconds();
  load.run_for(kIdle);
  outcome.before = rate(load, begin, now_seconds());
  {
    std::optional<Neighbour> neighbour;
    if (company == Company::kNeighbour) neighbour.emplace();
    const double came = now_seconds();
    load.run_for(kBusy);
    outcome.beside = rate(load, came + kReaction, now_seconds());
  }
  const double left = now_seconds();
  load.run_for(kAfter);
  outcome.after = rate(load, left + kReaction, now_seconds());
  // Streams that have ended would be counted as slow.
  ZH_CHECK(load.running() == kStreams);
  return outcome;
}

}  // namespace

void bench_neighbour(const PeerBench& bench) {
  bench.report.begin(
      "neighbour",
      "8 streams run; after 5 s another process begins to keep one of the cores "
      "busy, in a session of its own, and ends 10 s later. Tokens of all streams from "
      "2 s after its start and from 2 s after its end, as shares of what a run "
      "without it makes at the same times.");
  std::vector<double> values[2][3];
  for (int round = 0; round < bench.rounds; ++round) {
    for (const Side side : bench.sides) {
      const Outcome alone = run(bench, side, round, Company::kNone);
      const Outcome outcome = run(bench, side, round, Company::kNeighbour);
      std::vector<double>* of_side = values[static_cast<int>(side)];
      of_side[0].push_back(alone.before);
      of_side[1].push_back(outcome.beside / alone.beside);
      of_side[2].push_back(outcome.after / alone.after);
    }
  }
  bench.report.add({.label = "alone",
                    .unit = "tokens/s",
                    .ours = values[0][0],
                    .peer = values[1][0],
                    .goal = ""});
  bench.report.add({.label = "share kept beside the neighbour",
                    .unit = "",
                    .ours = values[0][1],
                    .peer = values[1][1],
                    .goal = "≥ 0.5",
                    .met = percentile(values[0][1], 0.5) >= kKept});
  bench.report.add({.label = "share when it has gone",
                    .unit = "",
                    .ours = values[0][2],
                    .peer = values[1][2],
                    .goal = "≥ 0.95",
                    .met = percentile(values[0][2], 0.5) >= kBack});
}

}  // namespace zerohop::bench
