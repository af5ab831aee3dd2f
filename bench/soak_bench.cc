// Many short requests, some of whose clients leave at a random moment: does anything leak?
//
// Prompts of 4 to 100 tokens, most of them short, half of them behind one of 8 shared beginnings,
// answers of 1 to 8 tokens, 16 clients on 8 sequences. An aborted request is closed after a random
// part of the time that a whole one takes (in the queue, in prefill, on the way back) or after its
// first piece of text. At the end the server must hold nothing and its memory must be what it was
// when the caches had filled; so the host memory for parked states is 64 MiB here, and the cache of
// tokenised texts is filled by counting first.
//
// ./dev bench soak -- --requests 20000 --aborts 0.3

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench_clock.h"
#include "chat_load.h"
#include "child_server.h"
#include "http_wire.h"
#include "program_words.h"
#include "text_source.h"

namespace zerohop::bench {
namespace {

constexpr int kClients = 16;
constexpr std::size_t kSharedBeginnings = 8;
constexpr double kFirstSecondsGuess = 0.5;
// Caches fill long into the run; a leak goes on in the last quarter. 8 MiB there are 1.6 kB a
// request of 20,000.
constexpr double kWarmUpShare = 0.75;
constexpr int kTextsCounted = 17'000;  // more than the cache of tokenised texts keeps
constexpr double kQuietSeconds = 1;
constexpr double kTick = 0.002;
constexpr double kRefusedPause = 0.25;
constexpr double kGrowthMibMax = 8;
constexpr Room kRoom{.sequences = 8, .cells = 8192, .window = 1024};

struct SoakOptions {
  int requests = 2000;
  double aborts = 0.3;
};

enum class Departure : std::uint8_t { kStays, kAfterTime, kAfterText };

class Soak {
 public:
  Soak(ChatLoad& load, const SoakOptions& options) : load_(load), options_(options), text_(900) {
    for (std::size_t i = 0; i < kSharedBeginnings; ++i) beginnings_.push_back(text_.text(120));
    load_.set_on_end([this](std::size_t index) {
      const ChatEnd end = load_.log(index).end;
      if (end == ChatEnd::kRefused) {
        // The door is right to refuse where a queue grows too long: all wait, then ask again.
        ++refused_;
        --sent_;
        next_send_ = now_seconds() + kRefusedPause;
        return;
      }
      // Counted by itself: an answer may be whole before its client would have left.
      if (end != ChatEnd::kWhole) ++errors_;
      mean_seconds_ += 0.05 * (load_.log(index).total_seconds() - mean_seconds_);
    });
  }

  /// One round of the clients: new requests for those that ended, departures that are due.
  void turn() {
    while (load_.running() < kClients && sent_ < options_.requests && now_seconds() >= next_send_) {
      send();
    }
    load_.poll_once(kTick);
    const double now = now_seconds();
    for (Visit& visit : visits_) {
      const ChatLog& log = load_.log(visit.index);
      if (log.end != ChatEnd::kRunning) continue;
      const bool leaves = (visit.departure == Departure::kAfterTime && now >= visit.leaves_at) ||
                          (visit.departure == Departure::kAfterText && !log.text_times.empty());
      if (!leaves) continue;
      load_.abort(visit.index);
      ++aborted_;
    }
    std::erase_if(visits_, [this](const Visit& visit) {
      return load_.log(visit.index).end != ChatEnd::kRunning;
    });
  }

  bool over() const { return sent_ == options_.requests && load_.running() == 0; }
  int sent() const { return sent_; }
  int errors() const { return errors_; }
  int refused() const { return refused_; }
  int aborted() const { return aborted_; }

 private:
  struct Visit {
    std::size_t index = 0;
    Departure departure = Departure::kStays;
    double leaves_at = 0;
  };

  void send() {
    Random& random = text_.random();
    ChatBody body;
    if (random.chance(0.5)) body.system = beginnings_[random.below(kSharedBeginnings)];
    // Skewed to short ones: the mean is 16.
    const double skew = random.uniform() * random.uniform() * random.uniform();
    body.turns.push_back(text_.text(4 + static_cast<int>(96 * skew)));
    body.max_tokens = 1 + static_cast<int>(random.below(8));
    Visit visit;
    visit.index = load_.start(body);
    // Some answers are whole before their client would leave, so chance alone aborts too few.
    if (aborted_ < options_.aborts * sent_) {
      visit.departure = random.chance(0.7) ? Departure::kAfterTime : Departure::kAfterText;
      visit.leaves_at = now_seconds() + random.uniform() * mean_seconds_;
    }
    visits_.push_back(visit);
    ++sent_;
  }

  ChatLoad& load_;
  const SoakOptions options_;
  TextSource text_;
  std::vector<std::string> beginnings_;
  std::vector<Visit> visits_;  // those that run
  int sent_ = 0;
  int errors_ = 0;
  int aborted_ = 0;
  int refused_ = 0;
  double next_send_ = 0;
  double mean_seconds_ = kFirstSecondsGuess;  // that a whole request takes
};

// What the server says it still holds.
double held(const ChildServer& server) {
  double sum = 0;
  for (const char* gauge :
       {"zerohop_requests_in_flight", "zerohop_engine_queued", "zerohop_engine_prefilling",
        "zerohop_engine_decoding", "zerohop_engine_paused"}) {
    sum += server.metric(gauge).value_or(1);
  }
  return sum + server.metric("zerohop_kv_cells", "state=\"reserved\"").value_or(1);
}

void fill_token_cache(const ChildServer& server, TextSource text) {
  for (int i = 0; i < kTextsCounted; ++i) {
    const std::optional<Answer> answer = exchange(
        server.port(), "/v1/messages/count_tokens",
        R"({"model":"any","messages":[{"role":"user","content":")" + text.text(40) + R"("}]})");
    ZH_CHECK(answer && answer->status == 200);
  }
}

int run(const ProgramWords& words) {
  const SoakOptions options{.requests = words.number("requests", 2000),
                            .aborts = words.share("aborts", 0.3)};
  ChildServer server(words.programs(), Side::kOurs, kRoom, {kSmallHostCache});
  fill_token_cache(server, TextSource(901));
  ChatLoad load(server.port());
  Soak soak(load, options);
  const double rss_start = server.use().resident_mib;
  double rss_warm = 0;
  double rss_max = 0;
  int reported = 0;
  const double begin = now_seconds();
  while (!soak.over() && server.alive()) {
    soak.turn();
    if (rss_warm == 0 && soak.sent() >= kWarmUpShare * options.requests) {
      rss_warm = server.use().resident_mib;
    }
    if (soak.sent() >= reported + 1000) {
      reported = soak.sent();
      rss_max = std::max(rss_max, server.use().resident_mib);
      std::printf("%6d requests, %6.0f s, RSS %.1f MiB\n", reported, now_seconds() - begin,
                  server.use().resident_mib);
      std::fflush(stdout);
    }
  }
  load.run_for(kQuietSeconds);
  const bool alive = server.alive();
  const double left = alive ? held(server) : 1;
  const double rss_end = server.use().resident_mib;
  std::printf("%d requests, %d aborted, %d refused and asked again, %d errors, %.0f s; server %s\n",
              soak.sent(), soak.aborted(), soak.refused(), soak.errors(), now_seconds() - begin,
              alive ? "alive" : "DEAD");
  std::printf("RSS start %.1f, at three quarters %.1f, end %.1f MiB\n", rss_start, rss_warm,
              rss_end);
  std::printf("held at the end (requests, sequences, reserved cells): %.0f\n", left);
  const bool good = alive && soak.errors() == 0 && left == 0 && rss_end - rss_warm <= kGrowthMibMax;
  std::printf("%s\n", good ? "soak: flat and clean" : "soak: FAILED");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
