#include "prefix_load.h"

#include <poll.h>

#include <string>

#include "base/check.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kWarmUpPairs = 3;
constexpr int kSystemTokens = 1000;
constexpr int kQuestionTokens = 12;
constexpr Room kRoom{.sequences = 8, .cells = 8 * 2048, .window = 2048};

// The compute threads of the server that answered last go on polling for a while: without a pause
// they take a core from the next one.
constexpr int kPauseMs = 400;

void one_token(ChatLoad& load, PrefixSeries& series) {
  poll(nullptr, 0, kPauseMs);
  const std::size_t index = load.start(series.last);
  load.run();
  const ChatLog& log = load.log(index);
  ZH_CHECK(log.end == ChatEnd::kWhole);
  series.milliseconds.push_back(log.total_seconds() * 1e3);
  series.computed_tokens = log.prompt_tokens - log.cached_tokens;
}

}  // namespace

PrefixTimes measure_prefix(const Programs& programs, Side side, int pairs) {
  const ChildServer warm_server(programs, side, kRoom);
  const ChildServer brief_server(programs, side, kRoom);
  ChatLoad warm(warm_server.port());
  ChatLoad brief(brief_server.port());
  TextSource text(400);
  PrefixTimes times;
  times.brief.last = {.system = "Hi.", .turns = {""}, .max_tokens = 1, .endless = false};
  times.warm.last = times.brief.last;
  times.warm.last.system = text.text(kSystemTokens);
  for (int i = -kWarmUpPairs; i < pairs; ++i) {
    if (i == 0) {
      times.warm.milliseconds.clear();
      times.brief.milliseconds.clear();
    }
    times.warm.last.turns.front() = text.text(kQuestionTokens);
    times.brief.last.turns = times.warm.last.turns;
    one_token(warm, times.warm);
    one_token(brief, times.brief);
  }
  return times;
}

}  // namespace zerohop::bench
