// What the door costs: from a parsed head to the decision (on_request, on_head), with keys, limits
// of every kind at key and tenant, limits of addresses, gateways looked for, and a tier to ask for
// pressure. Goal: 10 µs at the median for a request that comes in; a refusal includes its whole
// answer. And the whole of what the hooks do around a request. No sockets, no bodies;
// BM_EndOfARequest alone logs.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_ring.h"
#include "app/request_context.h"
#include "app/server_hooks.h"
#include "app/service.h"
#include "app/test_folder.h"
#include "app/test_tier.h"
#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::size_t kKeys = 1'000;
constexpr std::uint64_t kPlenty = 1'000'000'000'000;
constexpr std::size_t kSamplesMax = 1'000'000;

Limits full_set() {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.kind) limits.*field.member = std::min(kPlenty, field.max);
  }
  return limits;
}

Config door_config() {
  Config config;
  config.instance.id = "bench-1";
  config.engine.context_tokens = 1024;
  config.engine.sequences = 4;
  config.server.address_requests_per_minute = 1'000'000'000;
  config.server.address_exempt.clear();
  config.auth.required = AuthRequired::kAlways;
  return config;
}

// A service with a thousand keys and a fake model, as a server has it, and its hooks.
class Door {
 public:
  Door() : config_(door_config()), service_(config_, clock_), hooks_(make_server_hooks(service_)) {
    log_configure({.level = LogLevel::kOff});
    service_.loaded_tier = make_fake_tier(config_.engine, clock_, waker_);
    service_.limits.set(service_.live.get()->limits, config_.instance.labels);
    service_.keys.ring().set(std::make_shared<const KeyRing>(contents()));
    ZH_CHECK(service_.limits.keep(folder_.path(), io_.get_executor()).ok());
  }
  ~Door() {
    service_.limits.stop();
    service_.limits.close_books();
    service_.workers.join();
    service_.waiters.join();
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// From a parsed head to the decision: what refuses it, or nothing.
  std::optional<HttpResponse> decide(const RequestHead& head, std::shared_ptr<void>& ticket) const {
    std::optional<HttpResponse> refusal = hooks_.on_request(head, ticket);
    return refusal ? std::move(refusal) : hooks_.on_head(head, ticket);
  }
  const ServerHooks& hooks() const { return hooks_; }
  const Clock& clock() const { return clock_; }
  const std::string& key(std::size_t number) const { return texts_[number % texts_.size()]; }
  /// A key that may make no request at all.
  const std::string& refused_key() const { return refused_text_; }
  Service& service() { return service_; }

 private:
  KeyStoreContents contents() {
    KeyStoreContents made;
    made.secret = std::string(kKeySecretCharacters, 's');
    made.had_keys = true;
    TenantRecord tenant;
    tenant.number = TenantId{1};
    tenant.limits = full_set();
    made.tenants.push_back(tenant);
    const KeyHasher hasher(made.secret);
    for (std::size_t i = 0; i <= kKeys; ++i) {
      const std::string text = make_key_text();
      KeyRecord key;
      key.number = KeyId{i + 1};
      key.id = "key_" + std::to_string(i);
      key.tenant = TenantId{1};
      key.hash = hasher.hash(text);
      key.limits = full_set();
      if (i == kKeys) {
        key.limits.requests_per_minute = 0;
        refused_text_ = text;
      } else {
        texts_.push_back(text);
      }
      made.keys.push_back(std::move(key));
    }
    return made;
  }

  const TestFolder folder_;
  const SteadyClock clock_;
  const Config config_;
  boost::asio::io_context io_;
  NobodyToWake waker_;
  Service service_;
  const ServerHooks hooks_;
  std::vector<std::string> texts_;
  std::string refused_text_;
};

// What an official client sends.
RequestHead head_with(std::string_view key) {
  RequestHead head;
  head.method = "POST";
  head.target = head.path = "/v1/messages";
  head.remote_address = "192.0.2.7";
  head.peer = *IpAddress::parse(head.remote_address);
  head.content_length = 130;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"host", "localhost:8080"},
           {"accept", "application/json"},
           {"content-type", "application/json"},
           {"user-agent", "Anthropic/Python 0.97.0"},
           {"x-api-key", std::string(key)},
           {"anthropic-version", "2023-06-01"},
           {"x-stainless-lang", "python"},
           {"x-stainless-package-version", "0.97.0"},
           {"x-stainless-os", "Linux"},
           {"x-stainless-arch", "x64"},
           {"x-stainless-runtime", "CPython"},
           {"x-stainless-retry-count", "0"},
           {"x-stainless-timeout", "600"},
           {"accept-encoding", "gzip, deflate"},
           {"connection", "keep-alive"},
           {"content-length", "130"}}) {
    head.headers.add(name, value);
  }
  return head;
}

ExchangeSummary summary_of(const RequestHead& head, const std::shared_ptr<void>& ticket,
                           int status) {
  return {.head = &head,
          .ticket = ticket,
          .route = "/v1/messages",
          .status = status,
          .end = ExchangeEnd::kCompleted,
          .streamed = false,
          .request_body_bytes = 0,
          .response_bytes = 0,
          .received_at = {},
          .until_first_byte = {},
          .total = {}};
}

// Percentiles beside the mean: a mean hides what a slow path costs some.
void report(benchmark::State& state, std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&samples](double share) {
    const auto last = static_cast<double>(samples.size() - 1);
    return samples[static_cast<std::size_t>(share * last)];
  };
  state.counters["p50_ns"] = at(0.5);
  state.counters["p99_ns"] = at(0.99);
}

void decide(benchmark::State& state, Door& door, const std::vector<RequestHead>& heads) {
  std::vector<double> samples;
  std::size_t next = 0;
  int status = 0;
  for (auto _ : state) {
    const RequestHead& head = heads[next++ % heads.size()];
    std::shared_ptr<void> ticket;
    const TimePoint begin = door.clock().now();
    const std::optional<HttpResponse> refusal = door.decide(head, ticket);
    const Duration spent = door.clock().now() - begin;
    status = refusal ? refusal->status : 200;
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
    if (samples.size() < kSamplesMax) {
      samples.push_back(std::chrono::duration<double, std::nano>(spent).count());
    }
    door.hooks().on_done(summary_of(head, ticket, status));
  }
  report(state, samples);
  state.SetLabel("status " + std::to_string(status));
}

void BM_HeadToDecision(benchmark::State& state) {
  Door door;
  std::vector<RequestHead> heads;
  for (std::size_t i = 0; i < kKeys; ++i) heads.push_back(head_with(door.key(i)));
  decide(state, door, heads);
}
BENCHMARK(BM_HeadToDecision)->UseManualTime();

void BM_HeadToRefusalOfKey(benchmark::State& state) {
  Door door;
  decide(state, door, {head_with("sk-zh-0123456789abcdefghijklmnopqrstuv")});
}
BENCHMARK(BM_HeadToRefusalOfKey)->UseManualTime();

void BM_HeadToRefusalByLimit(benchmark::State& state) {
  Door door;
  decide(state, door, {head_with(door.refused_key())});
}
BENCHMARK(BM_HeadToRefusalByLimit)->UseManualTime();

void BM_HeadToRefusalWithoutPermit(benchmark::State& state) {
  Door door;
  std::vector<Permit> all;
  for (auto permit = door.service().admission.admit(); permit.ok();
       permit = door.service().admission.admit()) {
    all.push_back(std::move(permit).value());
  }
  decide(state, door, {head_with(door.key(1))});
}
BENCHMARK(BM_HeadToRefusalWithoutPermit)->UseManualTime();

// Everything around a request that is answered: door, common headers of the answer, the end.
void BM_AllHooksOfARequest(benchmark::State& state) {
  Door door;
  std::vector<RequestHead> heads;
  for (std::size_t i = 0; i < kKeys; ++i) heads.push_back(head_with(door.key(i)));
  std::size_t next = 0;
  for (auto _ : state) {
    const RequestHead& head = heads[next++ % heads.size()];
    std::shared_ptr<void> ticket;
    const std::optional<HttpResponse> refusal = door.decide(head, ticket);
    ZH_CHECK(!refusal);
    ResponseHead answer;
    door.hooks().decorate(ExchangeContext{&head, ticket, door.clock().now()}, answer);
    benchmark::DoNotOptimize(answer);
    door.hooks().on_done(summary_of(head, ticket, 200));
  }
}
BENCHMARK(BM_AllHooksOfARequest);

// Standard error goes nowhere while this lives.
class NoErrors {
 public:
  NoErrors() : kept_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~NoErrors() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  NoErrors(const NoErrors&) = delete;
  NoErrors& operator=(const NoErrors&) = delete;

 private:
  const int kept_;
};

// What is kept of a request that is over: its record, counters, log line, place in the history.
void BM_EndOfARequest(benchmark::State& state) {
  Door door;
  log_configure({.level = LogLevel::kInfo, .format = LogFormat::kJson});
  const NoErrors quiet;
  const RequestHead head = head_with(door.key(1));
  for (auto _ : state) {
    std::shared_ptr<void> ticket;
    ZH_CHECK(!door.decide(head, ticket));
    const ExchangeSummary summary = summary_of(head, ticket, 200);
    const TimePoint begin = door.clock().now();
    door.hooks().on_done(summary);
    const Duration spent = door.clock().now() - begin;
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
  }
  log_configure({.level = LogLevel::kOff});
}
BENCHMARK(BM_EndOfARequest)->UseManualTime();

}  // namespace
}  // namespace zerohop
