// How long a request of the longest body that the I/O thread reads itself keeps it: parsed,
// its prompt looked up, made into what the engine takes; and one that is parsed in vain, because
// its prompt has to be made by a worker.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/generation_call.h"
#include "app/messages_call.h"
#include "app/test_tier.h"
#include "base/check.h"
#include "base/log.h"

namespace zerohop {
namespace {

Config wide_config() {
  Config config;
  config.engine.context_tokens = 8192;
  config.engine.sequences = 1;
  return config;
}

// A conversation of many turns that fills a body.
std::string full_body(const std::string& turn) {
  std::string body = R"({"max_tokens":5,"system":"Be brief.","messages":[)";
  const std::string end = R"({"role":"user","content":"And now?"}]})";
  for (int i = 0;; ++i) {
    const std::string more = std::string(R"({"role":")") + (i % 2 == 0 ? "user" : "assistant") +
                             R"(","content":")" + turn + std::to_string(i) + R"("},)";
    if (i % 2 == 0 && body.size() + 2 * more.size() + end.size() > kBodyAtOnceMax) break;
    body += more;
  }
  return body + end;
}

class AtOnce {
 public:
  AtOnce() : config_(wide_config()), service_(config_, clock_) {
    log_configure({.level = LogLevel::kOff});
    service_.loaded_tier = make_fake_tier(config_.engine, clock_, waker_);
  }
  ~AtOnce() {
    service_.workers.join();
    service_.waiters.join();
  }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;

  std::unique_ptr<DialectCall> call() {
    MessagesHead head;
    head.profile = &service_.live.get()->wire_profiles.find("");
    return make_messages_call({service_, service_.live.get()}, std::move(head));
  }

 private:
  const SteadyClock clock_;
  const Config config_;
  NobodyToWake waker_;
  Service service_;
};

// By the length of its turns: 100 short ones, or some 20 long ones.
void BM_AtOnce(benchmark::State& state) {
  AtOnce server;
  const std::string body =
      full_body(std::string(static_cast<std::size_t>(state.range(0)), 'a') + " ");
  const auto first = server.call();
  ZH_CHECK(first->parse(body).ok() && first->prepare().ok());
  for (auto _ : state) {
    const auto call = server.call();
    ZH_CHECK(call->parse(body).ok());
    ZH_CHECK(call->recall());
    benchmark::DoNotOptimize(call->prepare());
  }
  state.counters["bytes"] = static_cast<double>(body.size());
}
BENCHMARK(BM_AtOnce)->Arg(1)->Arg(150);

void BM_AtOnceInVain(benchmark::State& state) {
  AtOnce server;
  const std::string body =
      full_body(std::string(static_cast<std::size_t>(state.range(0)), 'b') + " ");
  for (auto _ : state) {
    const auto call = server.call();
    ZH_CHECK(call->parse(body).ok());
    ZH_CHECK(!call->recall());
  }
}
BENCHMARK(BM_AtOnceInVain)->Arg(1)->Arg(150);

}  // namespace
}  // namespace zerohop
