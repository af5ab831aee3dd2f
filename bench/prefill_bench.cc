#include "prefill_bench.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/chat_session.h"
#include "base/check.h"
#include "bench_clock.h"
#include "prefix_load.h"
#include "report.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 5;
constexpr std::size_t kStreams = 4;
constexpr std::size_t kTokensBefore = 20;
constexpr int kPromptTokens = 2000;
constexpr int kPairs = 40;

struct SeenStep {
  StepReport report;
  double ended_at = 0;
};

// Written by the engine thread.
class StepRecorder {
 public:
  void add(const StepReport& report) {
    const std::scoped_lock lock(mutex_);
    steps_.push_back({report, now_seconds()});
  }
  std::vector<SeenStep> since(double at) const {
    const std::scoped_lock lock(mutex_);
    std::vector<SeenStep> out;
    for (const SeenStep& step : steps_) {
      if (step.ended_at > at) out.push_back(step);
    }
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<SeenStep> steps_;  // guarded by mutex_
};

// A request in the tier and how many tokens of its answer have come.
struct Running {
  std::shared_ptr<TokenStream> stream;
  std::vector<Token> prompt;
  std::size_t cached_tokens = 0;  // of the prompt
  std::size_t tokens = 0;

  void read() {
    std::vector<Event> events;
    stream->read(events);
    for (const Event& event : events) {
      ZH_CHECK(!std::holds_alternative<Failed>(event));
      if (const auto* started = std::get_if<Started>(&event)) {
        cached_tokens = started->usage.prompt_tokens_cached;
      }
      tokens += std::holds_alternative<TokenLogprobs>(event) ? 1 : 0;
    }
  }
};

Running submit(Tier& tier, const std::string& text, std::uint32_t max_tokens) {
  Conversation conversation;
  Message message;
  message.content.push_back(TextBlock{text});
  conversation.messages.push_back(message);
  GenerationParameters generation;
  generation.max_tokens = max_tokens;
  generation.sampling.temperature = 0;
  const TokenTable& table = tier.model().tokenizer().table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (table.is_end_of_generation(token)) generation.sampling.logit_bias.push_back({token, -100});
  }
  PreparedGeneration prepared = *tier.prepare(conversation, generation);
  // One event for each token, so that they can be counted.
  prepared.request.top_logprobs = 0;
  Running running;
  running.prompt = prepared.request.prompt;
  running.stream = *tier.submit(std::move(prepared));
  return running;
}

struct Prefill {
  ReplayedPrefill steps;
  double seconds = 0;  // from the begin of the first step to the end of the last
};

// The steps in which `late` was computed. Streams only decode, so of each step the rows that are
// not theirs are the prompt's; the last one also samples its first token.
Prefill prefill_of(const std::vector<SeenStep>& seen, const Running& late) {
  Prefill prefill;
  std::size_t left = late.prompt.size() - late.cached_tokens;
  double begin = 0;
  for (const SeenStep& step : seen) {
    const bool last = step.report.rows >= left + step.report.sampled - 1;
    const std::uint32_t decode_rows = step.report.sampled - (last ? 1 : 0);
    const std::uint32_t prompt_rows = step.report.rows - decode_rows;
    if (prompt_rows == 0 && prefill.steps.steps.empty()) continue;
    if (prefill.steps.steps.empty()) {
      begin = step.ended_at - std::chrono::duration<double>(step.report.duration).count();
    }
    prefill.steps.steps.push_back({static_cast<int>(decode_rows), static_cast<int>(prompt_rows)});
    left -= prompt_rows;
    prefill.seconds = step.ended_at - begin;
    if (left == 0) break;
  }
  ZH_CHECK(left == 0);
  return prefill;
}

// One arrival of the long prompt beside the streams.
Prefill measure(Tier& tier, BlockingWaker& waker, const StepRecorder& recorder, int round) {
  TextSource text(600 + static_cast<std::uint64_t>(round));
  std::vector<Running> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams.push_back(submit(tier, text.text(20), 1000));
  }
  const auto read_until = [&](const auto& done) {
    while (!done()) {
      waker.wait(std::chrono::seconds(60));
      for (Running& stream : streams) stream.read();
    }
  };
  read_until([&] {
    return std::all_of(streams.begin(), streams.end(),
                       [](const Running& stream) { return stream.tokens >= kTokensBefore; });
  });
  std::vector<std::vector<Token>> before;
  for (const Running& stream : streams) {
    before.push_back(stream.prompt);
    // Which tokens does not matter to the model's time, how many does.
    before.back().resize(stream.prompt.size() + stream.tokens, stream.prompt.back());
  }
  const double submitted_at = now_seconds();
  Running late = submit(tier, text.text(kPromptTokens), 3);
  read_until([&] {
    late.read();
    // A step is reported behind its events, so the first token's is there with the second.
    return late.tokens > 1;
  });
  for (Running& stream : streams) stream.stream->cancel();
  Prefill prefill = prefill_of(recorder.since(submitted_at), late);
  prefill.steps.streams = std::move(before);
  prefill.steps.prompt = late.prompt;
  prefill.steps.cached_tokens = static_cast<int>(late.cached_tokens);
  return prefill;
}

// The bare time of what the server computed of the last request of `series`.
double bare_median_ms(const Tier& tier, BareLoop& bare, const PrefixSeries& series) {
  Conversation conversation;
  conversation.system.push_back(TextBlock{series.last.system});
  Message message;
  message.content.push_back(TextBlock{series.last.turns.front()});
  conversation.messages.push_back(message);
  const std::vector<Token> prompt = tier.prompts().prepare(conversation)->tokens;
  return percentile(bare.tail_seconds(prompt, series.computed_tokens, kPairs), 0.5) * 1e3;
}

}  // namespace

Result<void> bench_prefill(std::unique_ptr<Model> model, const EngineConfig& config,
                           BareLoop& bare) {
  const SteadyClock clock;
  BlockingWaker waker;
  StepRecorder recorder;
  TierParts parts;
  parts.clock = &clock;
  parts.waker = &waker;
  parts.on_step = [&recorder](const StepReport& report) { recorder.add(report); };
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Tier> tier,
                      Tier::create(std::move(model), config, std::move(parts)));
  tier->start();
  std::vector<double> served;
  std::vector<double> direct;
  std::vector<double> ratios;
  std::vector<double> steps;
  for (int round = 0; round < kRounds; ++round) {
    const Prefill prefill = measure(*tier, waker, recorder, round);
    served.push_back(prefill.seconds);
    direct.push_back(bare.replay(prefill.steps));
    ratios.push_back(served.back() / direct.back());
    steps.push_back(static_cast<double>(prefill.steps.steps.size()));
  }
  tier->stop();
  print_row("2,000-token prompt beside 4 streams, engine", served, "s");
  print_row("  the same steps in a bare loop", direct, "s");
  print_row("  ratio", ratios, "");
  print_row("  steps", steps, "");
  return {};
}

void bench_warm_prefix(const Tier& tier, BareLoop& bare, const Programs& programs) {
  std::vector<double> served;
  std::vector<double> direct;
  std::vector<double> own;
  for (int round = 0; round < kRounds; ++round) {
    const PrefixTimes times = measure_prefix(programs, Side::kOurs, kPairs);
    served.push_back(percentile(times.warm.milliseconds, 0.5) -
                     percentile(times.brief.milliseconds, 0.5));
    direct.push_back(bare_median_ms(tier, bare, times.warm) -
                     bare_median_ms(tier, bare, times.brief));
    own.push_back(served.back() - direct.back());
  }
  print_row("1,000 cached tokens in front, served", served, "ms");
  print_row("  the same in a bare loop: attention", direct, "ms");
  print_row("  the server's part", own, "ms");
}

}  // namespace zerohop::bench
