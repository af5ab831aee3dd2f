// What the books of the queue cost at the door and for each request that comes and goes, with
// 1,000 requests of `range` tenants.
#include <benchmark/benchmark.h>

#include "engine/queue_books.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kWaiting = 1000;

void fill(QueueBooks& books, std::uint64_t tenants) {
  for (std::uint64_t i = 0; i < kWaiting; ++i) {
    books.enter({TenantId(1 + i % tenants), PriorityClass::kStandard, 500});
  }
}

void in_front(benchmark::State& state) {
  QueueBooks books({});
  fill(books, static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(books.in_front(TenantId(1), PriorityClass::kStandard));
  }
}
BENCHMARK(in_front)->Arg(1)->Arg(30)->Arg(1000);

void come_and_go(benchmark::State& state) {
  QueueBooks books({});
  fill(books, static_cast<std::uint64_t>(state.range(0)));
  const QueueEntry entry{TenantId(1), PriorityClass::kStandard, 500};
  for (auto _ : state) {
    benchmark::DoNotOptimize(books.enter(entry));
    books.leave(entry);
  }
}
BENCHMARK(come_and_go)->Arg(1)->Arg(30)->Arg(1000);

}  // namespace
}  // namespace zerohop
