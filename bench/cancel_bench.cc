// Clients that leave. What is still computed for them costs those who stay.

#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "chat_load.h"
#include "peer_scenarios.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kPromptTokens = 2000;
constexpr int kShortTokens = 8;
constexpr int kRepetitions = 5;
constexpr double kPrefillSeconds = 1;  // of some 7 that the prompt takes
constexpr double kAfterSeconds = 0.5;
constexpr Room kRoom{.sequences = 4, .cells = 4 * 3072, .window = 3072};
constexpr Room kNarrow{.sequences = 1, .cells = 3072, .window = 3072};

class Visitor {
 public:
  Visitor(const ChildServer& server, std::uint64_t seed) : load_(server.port()), text_(seed) {}

  // Milliseconds of a short request from sending to its end.
  double short_request() {
    const std::size_t index =
        load_.start({.system = "Be brief.", .turns = {text_.text(12)}, .max_tokens = kShortTokens});
    load_.run_until([&] { return load_.log(index).end != ChatEnd::kRunning; });
    ZH_CHECK(load_.log(index).end == ChatEnd::kWhole);
    return load_.log(index).total_seconds() * 1e3;
  }

  std::size_t start(int prompt_tokens, int max_tokens) {
    return load_.start(
        {.system = text_.text(prompt_tokens), .turns = {"Go on."}, .max_tokens = max_tokens});
  }

  ChatLoad& load() { return load_; }

 private:
  ChatLoad load_;
  TextSource text_;
};

struct ShortTimes {
  std::vector<double> idle_ms;
  std::vector<double> after_ms;
};

ShortTimes measure_short(const PeerBench& bench, Side side) {
  const ChildServer server(bench.programs, side, kRoom);
  Visitor visitor(server, 300);
  for (int i = 0; i < 3; ++i) visitor.short_request();
  ShortTimes times;
  for (int i = 0; i < kRepetitions; ++i) times.idle_ms.push_back(visitor.short_request());
  for (int i = 0; i < kRepetitions; ++i) {
    const std::size_t gone = visitor.start(kPromptTokens, 16);
    visitor.load().run_for(kPrefillSeconds);
    visitor.load().abort(gone);
    times.after_ms.push_back(visitor.short_request());
    visitor.short_request();  // whatever was left over is done now
  }
  return times;
}

double steps(const ChildServer& server) {
  const std::optional<double> steps = server.metric("zerohop_engine_steps_total");
  ZH_CHECK(steps && *steps > 0);
  return *steps;
}

double computed_prompt_tokens(const ChildServer& server) {
  return server.metric("zerohop_prompt_tokens_total").value_or(0) -
         server.metric("zerohop_prompt_tokens_cached_total").value_or(0);
}

// Steps that end after the client has gone, the one that was running then among them. One that is
// aborted inside the forward pass does not count.
double steps_after(const ChildServer& server, Visitor& visitor, std::size_t index) {
  const double before = steps(server);
  visitor.load().abort(index);
  visitor.load().run_for(kAfterSeconds);
  return steps(server) - before;
}

double steps_after_prefill(const ChildServer& server, Visitor& visitor) {
  const std::size_t gone = visitor.start(kPromptTokens, 16);
  visitor.load().run_for(kPrefillSeconds);
  return steps_after(server, visitor, gone);
}

double steps_after_decode(const ChildServer& server, Visitor& visitor) {
  const std::size_t gone = visitor.start(20, 500);
  visitor.load().run_until([&] { return visitor.load().log(gone).text_times.size() >= 10; });
  // A step has just ended, so the next one is running when the counter is read.
  return steps_after(server, visitor, gone);
}

// Prompt tokens computed for a request whose client left while it waited for the only sequence.
double tokens_of_queued(const PeerBench& bench) {
  const ChildServer server(bench.programs, Side::kOurs, kNarrow);
  Visitor visitor(server, 301);
  const std::size_t first = visitor.start(20, 100);
  visitor.load().run_until([&] { return visitor.load().log(first).text_times.size() >= 10; });
  const double before = computed_prompt_tokens(server);
  const std::size_t waiting = visitor.start(kPromptTokens, 16);
  visitor.load().run_for(0.05);
  visitor.load().abort(waiting);
  visitor.load().run();
  visitor.load().run_for(kAfterSeconds);
  return computed_prompt_tokens(server) - before;
}

ComparisonRow steps_row(const char* label, const std::vector<double>& values) {
  return {.label = label,
          .unit = "",
          .ours = values,
          .peer = {},
          .goal = "≤ 1",
          .met = percentile(values, 1) <= 1};
}

}  // namespace

void bench_cancel(const PeerBench& bench) {
  bench.report.begin(
      "cancel",
      "The client of a 2,000-token prompt closes its connection one second into the prefill; a "
      "short request (8 tokens) follows at once. Five times, beside the same short request on an "
      "idle server. Then, from the server's own counters, what is computed for clients that left.");
  ShortTimes times[2];
  for (const Side side : bench.sides) {
    times[static_cast<int>(side)] = measure_short(bench, side);
  }
  bench.report.add({.label = "short request, idle",
                    .unit = "ms",
                    .ours = times[0].idle_ms,
                    .peer = times[1].idle_ms,
                    .goal = ""});
  bench.report.add(
      {.label = "short request behind the cancelled one",
       .unit = "ms",
       .ours = times[0].after_ms,
       .peer = times[1].after_ms,
       .goal = "≤ 2 × idle",
       .met = percentile(times[0].after_ms, 0.5) <= 2 * percentile(times[0].idle_ms, 0.5)});
  std::vector<double> prefill;
  std::vector<double> decode;
  {
    const ChildServer server(bench.programs, Side::kOurs, kRoom);
    Visitor visitor(server, 302);
    visitor.short_request();
    for (int i = 0; i < kRepetitions; ++i) {
      prefill.push_back(steps_after_prefill(server, visitor));
      decode.push_back(steps_after_decode(server, visitor));
    }
  }
  bench.report.add(steps_row("steps after a disconnect in prefill", prefill));
  bench.report.add(steps_row("steps after a disconnect in decode", decode));
  const double queued = tokens_of_queued(bench);
  bench.report.add({.label = "prompt tokens computed after one in the queue",
                    .unit = "",
                    .ours = {queued},
                    .peer = {},
                    .goal = "0",
                    .met = queued == 0});
}

}  // namespace zerohop::bench
