// A server whose clients want 1.05 times the cells that it has, under a limit on its memory.
//
// A request needs a prompt of 200 to 400 tokens and 64 to 128 tokens of answer; there are as many
// cells as 8 mean needs divided by 1.05, and one request in five shares a beginning. More clients
// than that come all the time, and the door takes only so many; those that it refuses come back a
// little later. Some leave early. Under the limit (an address space of 1.05 times what the warm
// server uses; warm: its host memory for parked states, 64 MiB here, is nearly full) nothing may be
// killed, no answer cut; refusals are fine.
//
// ./dev bench memcap -- --minutes 60     (default: 2)

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench_clock.h"
#include "chat_load.h"
#include "child_server.h"
#include "program_words.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kSequences = 8;
constexpr int kClients = 24;
constexpr int kPromptTokensMin = 200;
constexpr int kPromptTokensMax = 400;
constexpr int kAnswerTokensMin = 64;
constexpr int kAnswerTokensMax = 128;
constexpr int kSharedTokens = 100;
constexpr double kSharedShare = 0.2;
constexpr double kOvercommit = 1.05;
constexpr double kAbortShare = 0.05;
constexpr double kWarmUpSeconds = 20;
constexpr double kWarmUpSecondsMax = 600;
constexpr double kWarmShare = 0.75;  // of the host memory
constexpr double kTick = 0.01;
constexpr double kRefusedPauseSeconds = 0.25;
constexpr int kTemplateTokens = 40;
constexpr int kWindow = 1024;
constexpr int kNeed = kSequences * ((kPromptTokensMin + kPromptTokensMax) / 2 +
                                    (kAnswerTokensMin + kAnswerTokensMax) / 2 + kTemplateTokens);
constexpr int kCells = static_cast<int>(kNeed / kOvercommit);
constexpr Room kRoom{.sequences = kSequences, .cells = kCells, .window = kWindow};
const char* const kDoor = "ZEROHOP_LIMITS_REQUESTS_MAX=20";

struct Counts {
  int whole = 0;
  int cut = 0;      // 200, but not the tokens that were asked for
  int broken = 0;   // an error or an end inside the stream
  int refused = 0;  // an error status
  int aborted = 0;
  int strange = 0;  // a status that is no refusal for load
};

class MixedLoad {
 public:
  explicit MixedLoad(ChatLoad& load) : load_(load), text_(950) {
    for (int i = 0; i < 6; ++i) beginnings_.push_back(text_.text(kSharedTokens));
    load_.set_on_end([this](std::size_t index) { count(index); });
  }

  void turn() {
    while (load_.running() < kClients && now_seconds() >= not_before_) send();
    load_.poll_once(kTick);
    std::erase_if(leavers_, [this](std::size_t index) {
      const ChatLog& log = load_.log(index);
      if (log.end == ChatEnd::kRunning && log.text_times.empty()) return false;
      if (log.end == ChatEnd::kRunning) {
        load_.abort(index);
        ++counts_.aborted;
      }
      return true;
    });
  }
  const Counts& counts() const { return counts_; }
  void forget() { counts_ = Counts(); }

 private:
  int between(int low, int high) {
    return low + static_cast<int>(text_.random().below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void send() {
    Random& random = text_.random();
    ChatBody body;
    int left = between(kPromptTokensMin, kPromptTokensMax);
    if (random.chance(kSharedShare)) {
      body.system = beginnings_[random.below(beginnings_.size())];
      left -= kSharedTokens;
    }
    body.turns.push_back(text_.text(left));
    body.max_tokens = between(kAnswerTokensMin, kAnswerTokensMax);
    wanted_.push_back(body.max_tokens);
    const std::size_t index = load_.start(body);
    if (random.chance(kAbortShare)) leavers_.push_back(index);
  }

  void count(std::size_t index) {
    const ChatLog& log = load_.log(index);
    if (log.end == ChatEnd::kWhole) {
      ++(log.output_tokens == wanted_[index] && log.finish_reason == "length" ? counts_.whole
                                                                              : counts_.cut);
    } else if (log.end == ChatEnd::kRefused) {
      const bool load_refusal = log.status == 429 || log.status == 503 || log.status == 529;
      ++(load_refusal ? counts_.refused : counts_.strange);
      not_before_ = now_seconds() + kRefusedPauseSeconds;
      if (!load_refusal) std::printf("status %d: %s\n", log.status, log.trouble.c_str());
    } else {
      ++counts_.broken;
      not_before_ = now_seconds() + kRefusedPauseSeconds;
      std::printf("broken: %s\n", log.trouble.c_str());
    }
  }

  ChatLoad& load_;
  TextSource text_;
  std::vector<std::string> beginnings_;
  std::vector<int> wanted_;           // tokens of each request
  std::vector<std::size_t> leavers_;  // those that leave after their first text
  double not_before_ = 0;             // when the next request may be sent
  Counts counts_;
};

// From now on the process gets no more than `factor` times the address space that it has.
void limit_memory(const ChildServer& server, double factor) {
  const double bytes = factor * server.use().address_space_mib * (1 << 20);
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(bytes);
  ZH_CHECK(prlimit(server.pid(), RLIMIT_AS, &limit, nullptr) == 0);  // else nothing is shown
}

void report(const Counts& counts, double seconds, const ProcessUse& use) {
  std::printf(
      "%6.0f s: %d whole, %d cut, %d broken, %d refused, %d strange, %d aborted; RSS %.1f "
      "MiB (peak %.1f)\n",
      seconds, counts.whole, counts.cut, counts.broken, counts.refused, counts.strange,
      counts.aborted, use.resident_mib, use.resident_peak_mib);
  std::fflush(stdout);
}

void warm_up(ChildServer& server, MixedLoad& mixed) {
  const double begin = now_seconds();
  double next_look = begin + kWarmUpSeconds;
  while (now_seconds() < begin + kWarmUpSecondsMax && server.alive()) {
    mixed.turn();
    if (now_seconds() < next_look) continue;
    next_look += 5;
    const double used = server.metric("zerohop_cache_host_bytes", "kind=\"used\"").value_or(0);
    const double most = server.metric("zerohop_cache_host_bytes", "kind=\"max\"").value_or(0);
    if (used >= kWarmShare * most) break;
  }
  std::printf("warm after %.0f s\n", now_seconds() - begin);
  std::fflush(stdout);
}

int run(const ProgramWords& words) {
  const double seconds = 60 * words.share("minutes", 2);
  ChildServer server(words.programs(), Side::kOurs, kRoom, {kDoor, kSmallHostCache});
  std::printf("%d cells for a need of %d, %d clients\n", kCells, kNeed, kClients);
  ChatLoad load(server.port());
  MixedLoad mixed(load);
  warm_up(server, mixed);
  mixed.forget();
  if (server.alive()) limit_memory(server, kOvercommit);
  const double limited_at = now_seconds();
  double next_report = limited_at + 60;
  while (now_seconds() < limited_at + seconds && server.alive()) {
    mixed.turn();
    if (now_seconds() < next_report) continue;
    next_report += 60;
    report(mixed.counts(), now_seconds() - limited_at, server.use());
  }
  const bool alive = server.alive();
  const Counts& counts = mixed.counts();
  report(counts, now_seconds() - limited_at, server.use());
  const bool good = alive && counts.cut == 0 && counts.broken == 0 && counts.strange == 0 &&
                    counts.whole > 0 && counts.refused > 0;
  std::printf("%s\n", good ? "memcap: nothing killed, nothing cut" : "memcap: FAILED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
