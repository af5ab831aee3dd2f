// What the queue costs an engine's step: limits::kInboxMax requests of many tenants wait, some run.
#include <benchmark/benchmark.h>

#include <deque>

#include "base/random.h"
#include "core/fair_queue.h"
#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kSequences = 8;
const TimePoint kNow{std::chrono::hours(1)};

class FullQueue {
 public:
  explicit FullQueue(std::uint64_t tenants) : queue_(options()), tenants_(tenants) {
    while (queue_.waiting() < limits::kInboxMax) push();
    while (start()) {
    }
    push();
  }

  void push() {
    QueuedWork work;
    work.id = WorkId(++ids_);
    work.tenant = TenantId(random_.below(tenants_));
    work.uncached_tokens = static_cast<std::uint32_t>(random_.below(2000));
    work.arrived_at = kNow;
    queue_.push(work);
  }

  bool start() {
    const std::optional<WorkId> id = queue_.next(kNow);
    if (!id) return false;
    queue_.start(*id, kNow);
    running_.push_back(*id);
    return true;
  }

  // One ends, the next starts, another one comes.
  void turn() {
    queue_.stopped(running_.front());
    running_.pop_front();
    start();
    push();
  }

  void charge() {
    for (const WorkId id : running_) queue_.charge(id, 1);
  }

 private:
  static FairQueueOptions options() {
    FairQueueOptions chosen;
    chosen.sequences = kSequences;
    return chosen;
  }

  FairQueue queue_;
  const std::uint64_t tenants_;
  Random random_{1};
  std::deque<WorkId> running_;
  std::uint64_t ids_ = 0;
};

// stopped(), next(), start() and push().
void turn_of_a_sequence(benchmark::State& state) {
  FullQueue queue(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) queue.turn();
}
BENCHMARK(turn_of_a_sequence)->Arg(1)->Arg(30)->Arg(100'000);

// charge() for each of the running ones, as in each step.
void charges_of_a_step(benchmark::State& state) {
  FullQueue queue(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) queue.charge();
}
BENCHMARK(charges_of_a_step)->Arg(1)->Arg(30)->Arg(100'000);

}  // namespace
}  // namespace zerohop
