// 16 conversations of 3 turns behind one system prompt of 1,000 tokens on room for 8: as many
// cells as 8 whole conversations need and 8 sequences (the peer: 8 slots). Each turn adds a
// question of 60 tokens and gets 64 tokens; a conversation sends its next question as soon as it
// has the answer.
//
// A server that shares prefixes needs 1,000 + 16 × 400 = 7,400 of the 12,288 cells.

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

}  // namespace

void bench_sessions(const PeerBench& bench) {
  SessionOptions options{.question_tokens = bench.words.number("question", 60),
                         .spacing_ms = bench.words.number("spacing", 0),
                         .sequences = bench.words.number("sequences", kRoom.sequences)};
  const std::string start = options.spacing_ms == 0
                                ? "all start at once"
                                : "one starts every " + std::to_string(options.spacing_ms) + " ms";
  bench.report.begin(
      "sessions",
      "16 sessions of 3 turns share a system prompt of 1,000 tokens; each turn adds a question "
      "of " +
          std::to_string(options.question_tokens) + " tokens and gets 64 tokens; " + start +
          ". Room for 8: 12,288 cells, " + std::to_string(options.sequences) +
          " sequences (the peer: 8 slots). Times to the first token are over all 48 turns; the "
          "prompt cache of each server as it is by default.");
  std::vector<double> values[2][6];
  for (int round = 0; round < bench.rounds; ++round) {
    options.seed = 100 + static_cast<std::uint64_t>(round);
    for (const Side side : bench.sides) {
      const Outcome outcome = run(bench, side, options);
      std::vector<double>* of_side = values[static_cast<int>(side)];
      of_side[0].push_back(percentile(outcome.first_text_seconds, 0.5));
      of_side[1].push_back(percentile(outcome.first_text_seconds, 0.95));
      of_side[2].push_back(percentile(outcome.first_text_seconds, 1));
      of_side[3].push_back(outcome.total_seconds);
      of_side[4].push_back(outcome.cached_share);
      of_side[5].push_back(outcome.failures);
    }
  }
  const auto row = [&](int i, const char* label, const char* unit) {
    return ComparisonRow{.label = label, .unit = unit, .ours = values[0][i], .peer = values[1][i]};
  };
  bench.report.add(row(0, "time to first token, p50", "s"));
  ComparisonRow p95 = row(1, "time to first token, p95", "s");
  if (!p95.ours.empty() && !p95.peer.empty()) {
    p95.goal = "≤ 0.2 of the peer";
    p95.met = percentile(p95.ours, 0.5) <= 0.2 * percentile(p95.peer, 0.5);
  }
  bench.report.add(p95);
  bench.report.add(row(2, "time to first token, max", "s"));
  bench.report.add(row(3, "all 48 turns", "s"));
  bench.report.add(row(4, "share of prompt tokens found in the cache", ""));
  bench.report.add(row(5, "turns that failed or were cut", ""));
}

}  // namespace zerohop::bench
