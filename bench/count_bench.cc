#include "count_bench.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "app/machine.h"
#include "base/random.h"
#include "load_client.h"
#include "report.h"

namespace zerohop::bench {
namespace {

constexpr int kRounds = 5;
constexpr double kSeconds = 2;
constexpr std::size_t kTextBytes = 1000;
constexpr std::size_t kSeenTexts = 64;

// English-like text; two of them share no long stretch.
std::string make_text(Random& random) {
  static const std::vector<std::string> words{
      "the",     "contract", "between", "both",   "parties", "ends",   "when",    "a",
      "machine", "reports",  "its",     "state",  "to",      "broker", "Tuesday", "invoice",
      "of",      "2,450.00", "euros",   "within", "thirty",  "days",   "unless",  "otherwise",
      "agreed;", "sensors",  "measure", "every",  "second,", "and",    "nobody",  "objects."};
  std::string text;
  while (text.size() < kTextBytes) {
    text += words[random.below(words.size())];
    text += ' ';
  }
  text.resize(kTextBytes);
  return text;
}

std::string body_of(const std::string& text) {
  return R"({"model":"smollm2-135m","messages":[{"role":"user","content":")" + text + R"("}]})";
}

double bare_rate(const Tokenizer& tokenizer, std::uint64_t seed) {
  std::atomic<std::uint64_t> texts{0};
  std::vector<std::thread> threads;
  const double begin = now_seconds();
  for (std::size_t i = 0; i < usable_cores(); ++i) {
    threads.emplace_back([&, i] {
      Random random(seed + i);
      while (now_seconds() < begin + kSeconds) {
        tokenizer.tokenize(make_text(random), SpecialTokens::kParse);
        ++texts;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(texts.load()) / (now_seconds() - begin);
}

}  // namespace

void bench_count(std::uint16_t port, const Tier& tier) {
  const RequestPump pump{port, "/v1/messages/count_tokens", 16};
  Random random(7);
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < kSeenTexts; ++i) seen.push_back(body_of(make_text(random)));
  std::vector<double> known;
  std::vector<double> fresh;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    std::size_t next = 0;
    known.push_back(pump.run([&] { return seen[next++ % seen.size()]; }, kSeconds));
    fresh.push_back(pump.run([&] { return body_of(make_text(random)); }, kSeconds));
    bare.push_back(bare_rate(tier.model().tokenizer(), 1000 + static_cast<std::uint64_t>(round)));
    ratios.push_back(fresh.back() / bare.back());
  }
  print_row("count_tokens of 1 kB, text seen before", known, "requests/s");
  print_row("count_tokens of 1 kB, fresh text", fresh, "requests/s");
  print_row("bare tokenizer, fresh text of 1 kB", bare, "texts/s");
  print_row("fresh text, ratio", ratios, "");
}

}  // namespace zerohop::bench
