// 16 conversations of 3 turns behind one system prompt of 1,000 tokens on room for 8: as many
// cells as 8 whole conversations need and 8 sequences (the peer: 8 slots). Each turn adds a
// question of 60 tokens and gets 64 tokens; a conversation sends its next question as soon as it
// has the answer.
//
// A server that shares prefixes needs 1,000 + 16 × 400 = 7,400 of the 12,288 cells. So it has room
// for more sequences than 8: `--sequences 16` measures ours once more with that many, on the same
// cells.

#include <string>
#include <vector>

#include "bench_clock.h"
#include "chat_load.h"
#include "peer_scenarios.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kSessions = 16;
constexpr int kTurns = 3;
constexpr int kSystemTokens = 1000;
constexpr int kAnswerTokens = 64;
constexpr Room kRoom{.sequences = 8, .cells = 8 * 1536, .window = 1536};

struct SessionOptions {
  int question_tokens = 60;
  int spacing_ms = 0;  // between the first requests of two sessions
  int sequences = kRoom.sequences;
  std::uint64_t seed = 0;
};

struct Outcome {
  std::vector<double> first_text_seconds;  // of every turn
  double total_seconds = 0;
  double cached_share = 0;  // of all prompt tokens
  int failures = 0;
};

// The conversations of one run; the load calls back when an answer is whole.
class Sessions {
 public:
  Sessions(ChatLoad& load, const SessionOptions& options)
      : load_(load), options_(options), text_(options.seed), bodies_(kSessions) {
    const std::string system = text_.text(kSystemTokens);
    for (ChatBody& body : bodies_) {
      body.system = system;
      body.max_tokens = kAnswerTokens;
    }
    load_.set_on_end([this](std::size_t index) { on_end(index); });
  }

  void start_all() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (i > 0 && options_.spacing_ms > 0) load_.run_for(options_.spacing_ms * 1e-3);
      ask(i);
    }
  }

 private:
  void ask(std::size_t session) {
    bodies_[session].turns.push_back(text_.text(options_.question_tokens));
    owners_.push_back(session);
    load_.start(bodies_[session]);
  }
  void on_end(std::size_t index) {
    const std::size_t session = owners_[index];
    std::vector<std::string>& turns = bodies_[session].turns;
    turns.push_back(load_.log(index).text);
    if (turns.size() < 2 * kTurns) ask(session);
  }

  ChatLoad& load_;
  const SessionOptions options_;
  TextSource text_;
  std::vector<ChatBody> bodies_;
  std::vector<std::size_t> owners_;  // session of each request
};

Outcome run(const PeerBench& bench, Side side, const SessionOptions& options) {
  Room room = kRoom;
  if (side == Side::kOurs) room.sequences = options.sequences;
  const ChildServer server(bench.programs, side, room);
  warm_up(server);
  ChatLoad load(server.port());
  Sessions sessions(load, options);
  const double begin = now_seconds();
  sessions.start_all();
  load.run();
  Outcome outcome;
  outcome.total_seconds = now_seconds() - begin;
  double prompt = 0;
  double cached = 0;
  for (const ChatLog& log : load.logs()) {
    outcome.first_text_seconds.push_back(log.first_text_seconds());
    prompt += log.prompt_tokens;
    cached += log.cached_tokens;
    if (log.end != ChatEnd::kWhole || log.output_tokens != kAnswerTokens) ++outcome.failures;
  }
  outcome.cached_share = cached / prompt;
  return outcome;
}

// Values of each round.
struct Rounds {
  std::vector<double> p50;
  std::vector<double> p95;
  std::vector<double> longest;
  std::vector<double> total;
  std::vector<double> cached;
  std::vector<double> failures;

  void add(const Outcome& outcome) {
    p50.push_back(percentile(outcome.first_text_seconds, 0.5));
    p95.push_back(percentile(outcome.first_text_seconds, 0.95));
    longest.push_back(percentile(outcome.first_text_seconds, 1));
    total.push_back(outcome.total_seconds);
    cached.push_back(outcome.cached_share);
    failures.push_back(outcome.failures);
  }
};

void report_rows(Comparison& report, const std::string& suffix, const Rounds& ours,
                 const Rounds& peer) {
  const auto row = [&](const char* label, const char* unit, std::vector<double> Rounds::*values) {
    return ComparisonRow{
        .label = label + suffix, .unit = unit, .ours = ours.*values, .peer = peer.*values};
  };
  report.add(row("time to first token, p50", "s", &Rounds::p50));
  ComparisonRow p95 = row("time to first token, p95", "s", &Rounds::p95);
  if (!p95.ours.empty() && !p95.peer.empty()) {
    p95.goal = "≤ 0.2 of the peer";
    p95.met = percentile(p95.ours, 0.5) <= 0.2 * percentile(p95.peer, 0.5);
  }
  report.add(p95);
  report.add(row("time to first token, max", "s", &Rounds::longest));
  report.add(row("all 48 turns", "s", &Rounds::total));
  report.add(row("share of prompt tokens found in the cache", "", &Rounds::cached));
  report.add(row("turns that failed or were cut", "", &Rounds::failures));
}

std::string describe(const SessionOptions& options, int more_sequences) {
  const std::string start = options.spacing_ms == 0
                                ? "all start at once"
                                : "one starts every " + std::to_string(options.spacing_ms) + " ms";
  const std::string more =
      more_sequences == kRoom.sequences
          ? ""
          : " Zerohop is measured once more with " + std::to_string(more_sequences) +
                " sequences on the same cells, beside the same figures of the peer.";
  return "16 sessions of 3 turns share a system prompt of 1,000 tokens; each turn adds a question "
         "of " +
         std::to_string(options.question_tokens) + " tokens and gets 64 tokens; " + start +
         ". Room for 8: 12,288 cells, 8 sequences (the peer: 8 slots). Times to the first token "
         "are over all 48 turns; the prompt cache of each server as it is by default." +
         more;
}

}  // namespace

void bench_sessions(const PeerBench& bench) {
  SessionOptions options{.question_tokens = bench.words.number("question", 60),
                         .spacing_ms = bench.words.number("spacing", 0)};
  const int more_sequences = bench.words.number("sequences", kRoom.sequences);
  bench.report.begin("sessions", describe(options, more_sequences));
  Rounds rounds[2];
  Rounds with_more;
  for (int round = 0; round < bench.rounds; ++round) {
    options.seed = 100 + static_cast<std::uint64_t>(round);
    for (const Side side : bench.sides) {
      rounds[static_cast<int>(side)].add(run(bench, side, options));
      if (side != Side::kOurs || more_sequences == kRoom.sequences) continue;
      SessionOptions more = options;
      more.sequences = more_sequences;
      with_more.add(run(bench, side, more));
    }
  }
  report_rows(bench.report, "", rounds[0], rounds[1]);
  if (with_more.p50.empty()) return;
  report_rows(bench.report, ", " + std::to_string(more_sequences) + " sequences", with_more,
              rounds[1]);
}

}  // namespace zerohop::bench
