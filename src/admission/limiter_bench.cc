// What limits cost a request. One check is one limit; a request with a full set passes thirteen of
// them, at key and tenant, and settles them again. A check must take 100 ns at most.
#include <benchmark/benchmark.h>

#include "admission/limiter.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kPlenty = 1'000'000'000'000;

Limits full_set() {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.kind) limits.*field.member = kPlenty;
  }
  limits.cached_input_weight_permille = 100;
  return limits;
}

void BM_GcraCheck(benchmark::State& state) {
  Gcra bucket(kPlenty, TimePoint{});
  TimePoint now{};
  for (auto _ : state) {
    now += Duration(100);
    benchmark::DoNotOptimize(bucket.try_take(100, now));
  }
}
BENCHMARK(BM_GcraCheck);

void BM_GcraRefusal(benchmark::State& state) {
  Gcra bucket(60, TimePoint{});
  bucket.charge(60, TimePoint{});
  for (auto _ : state) benchmark::DoNotOptimize(bucket.try_take(1, TimePoint{}));
}
BENCHMARK(BM_GcraRefusal);

void BM_BudgetCheck(benchmark::State& state) {
  Budget budget(BudgetPeriod::kDay);
  const CalendarTime now{100, 3};
  for (auto _ : state) {
    std::optional<BudgetHold> hold = budget.try_reserve(100, kBudgetMax, now);
    benchmark::DoNotOptimize(hold);
    budget.settle(*hold, 0);
  }
}
BENCHMARK(BM_BudgetCheck);

// Many threads on one budget: what a compare-and-swap costs when others want the same word.
void BM_BudgetCheckShared(benchmark::State& state) {
  static Budget budget(BudgetPeriod::kDay);
  const CalendarTime now{100, 3};
  for (auto _ : state) {
    std::optional<BudgetHold> hold = budget.try_reserve(100, kBudgetMax, now);
    if (hold) budget.settle(*hold, 0);
  }
}
BENCHMARK(BM_BudgetCheckShared)->Threads(2);

void BM_Moment(benchmark::State& state) {
  const SteadyClock clock;
  for (auto _ : state) benchmark::DoNotOptimize(limit_moment(clock));
}
BENCHMARK(BM_Moment);

// A whole request with one budget at its key, or all limits at key and tenant.
void BM_Request(benchmark::State& state) {
  Limiter limiter;
  const SteadyClock clock;
  LimitParties parties;
  Limits one;
  one.tokens_per_day = kPlenty;
  parties.key = LimitParty{"key_0123456789abcdef", state.range(0) == 0 ? one : full_set()};
  if (state.range(0) != 0) parties.tenant = LimitParty{"tenant", full_set()};
  const TokenClaim claim{{200, 1'000, 500}, {1'000'000, 100'000, 2'000'000}};
  for (auto _ : state) {
    auto reservation = limiter.enter(parties, limit_moment(clock));
    const auto grant = reservation->claim(claim, limit_moment(clock));
    benchmark::DoNotOptimize(grant);
    reservation->settle({200, 1'000, 40}, limit_moment(clock));
  }
}
BENCHMARK(BM_Request)->ArgName("all_limits")->Arg(0)->Arg(1);

void BM_MeterToken(benchmark::State& state) {
  Limiter limiter;
  const SteadyClock clock;
  LimitParties parties;
  parties.key = LimitParty{"key", full_set()};
  auto reservation = limiter.enter(parties, limit_moment(clock));
  const auto grant = reservation->claim({{1, 0, kPlenty / 2}, {}}, limit_moment(clock));
  benchmark::DoNotOptimize(grant);
  const std::unique_ptr<TokenMeter> meter = reservation->meter({});
  for (auto _ : state) benchmark::DoNotOptimize(meter->spend_output_token());
}
BENCHMARK(BM_MeterToken);

}  // namespace
}  // namespace zerohop
