#include "core/fair_queue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "core/fair_queue_twin.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TenantId kHeavy{1};
constexpr TenantId kLight{2};
constexpr TenantId kOther{3};
const TimePoint kStart{std::chrono::hours(1)};

FairQueueOptions options(std::uint32_t sequences, std::uint32_t credit = 0) {
  FairQueueOptions chosen;
  chosen.sequences = sequences;
  chosen.idle_credit = credit;
  return chosen;
}

QueuedWork work(std::uint64_t id, TenantId tenant, std::uint32_t tokens,
                PriorityClass priority = PriorityClass::kStandard) {
  QueuedWork queued;
  queued.id = WorkId(id);
  queued.tenant = tenant;
  queued.uncached_tokens = tokens;
  queued.priority = priority;
  queued.arrived_at = kStart;
  return queued;
}

// The next one starts, is computed and ends.
std::uint64_t serve(FairQueue& queue, TimePoint now, std::uint32_t output = 0) {
  const std::optional<WorkId> id = queue.next(now);
  if (!id) return 0;
  queue.start(*id, now);
  queue.charge(*id, 100 + output);
  queue.stopped(*id);
  queue.check_integrity();
  return id->value;
}

std::vector<std::uint64_t> numbers(const std::vector<WorkId>& ids) {
  std::vector<std::uint64_t> values;
  for (const WorkId id : ids) values.push_back(id.value);
  return values;
}

TEST(FairQueue, GivesTenantsTheirTurnsWhateverTheLengthOfTheirQueues) {
  FairQueue queue(options(8));
  for (std::uint64_t id = 1; id <= 4; ++id) queue.push(work(id, kHeavy, 100));
  queue.push(work(5, kLight, 100));
  queue.push(work(6, kOther, 100));
  EXPECT_EQ(numbers(queue.order(kStart)), (std::vector<std::uint64_t>{1, 5, 6, 2, 3, 4}));
  queue.check_integrity();
}

TEST(FairQueue, KeepsSequencesFreeForItsOwnPool) {
  FairQueueOptions chosen = options(3);
  chosen.pool_reserved_sequences = 2;
  FairQueue queue(chosen);
  queue.push(work(1, kHeavy, 100));
  queue.push(work(2, kHeavy, 100));
  queue.start(*queue.next(kStart), kStart);
  EXPECT_FALSE(queue.next(kStart).has_value()) << "two are kept";
  EXPECT_EQ(queue.head(kStart), WorkId(2));
  QueuedWork own = work(3, kLight, 100, PriorityClass::kBatch);
  own.own_pool = true;
  queue.push(own);
  own.id = WorkId(4);
  queue.push(own);
  own.id = WorkId(5);
  queue.push(own);
  queue.check_integrity();
  // Also behind a higher class that waits.
  EXPECT_EQ(queue.next(kStart), WorkId(3));
  queue.start(WorkId(3), kStart);
  EXPECT_EQ(queue.next(kStart), WorkId(4));
  queue.start(WorkId(4), kStart);
  EXPECT_FALSE(queue.next(kStart).has_value());
  // What it has beyond its reservation it gets like everybody.
  EXPECT_EQ(queue.next_without(WorkId(1), kStart), WorkId(2));
  EXPECT_EQ(queue.next_without(WorkId(3), kStart), WorkId(5)) << "one is kept again";
  queue.stopped(WorkId(1));
  queue.check_integrity();
  EXPECT_EQ(queue.next(kStart), WorkId(2)) << "the pool has its two";
}

TEST(FairQueue, RunsFewerOrMoreAtOnceWhenTold) {
  FairQueue queue(options(4));
  for (std::uint64_t id = 1; id <= 4; ++id) queue.push(work(id, kHeavy, 100));
  queue.start(WorkId(1), kStart);
  queue.start(WorkId(2), kStart);
  queue.set_sequences(1);
  EXPECT_FALSE(queue.next(kStart).has_value());
  queue.stopped(WorkId(1));
  EXPECT_FALSE(queue.next(kStart).has_value()) << "one runs";
  queue.set_sequences(2);
  EXPECT_EQ(queue.next(kStart), WorkId(3));
  queue.check_integrity();
}

TEST(FairQueue, PutsWhoeverWasServedLessFirst) {
  FairQueue queue(options(1));
  queue.push(work(1, kHeavy, 100));
  queue.push(work(2, kHeavy, 100));
  queue.push(work(3, kLight, 100));
  EXPECT_EQ(serve(queue, kStart), 1u);
  EXPECT_EQ(serve(queue, kStart, 500), 3u);
  // The light one had 600 tokens computed, the heavy one 100.
  queue.push(work(4, kLight, 100));
  EXPECT_EQ(serve(queue, kStart), 2u);
}

TEST(FairQueue, GivesATenantOfTwiceTheWeightTwiceAsMuch) {
  FairQueue queue(options(1));
  std::map<std::uint64_t, int> served;
  for (std::uint64_t id = 1; id <= 60; ++id) {
    QueuedWork queued = work(id, id <= 30 ? kHeavy : kLight, 100);
    queued.weight = id <= 30 ? 2 : 1;
    queue.push(queued);
  }
  for (int turn = 0; turn < 30; ++turn) ++served[serve(queue, kStart) <= 30 ? 1 : 2];
  EXPECT_EQ(served[1], 20);
  EXPECT_EQ(served[2], 10);
}

TEST(FairQueue, ChargesNothingForWhatWasCached) {
  FairQueue queue(options(8));
  queue.push(work(1, kHeavy, 2000));
  queue.push(work(2, kLight, 1));  // of a long prompt that is in the cache
  queue.push(work(3, kHeavy, 10));
  queue.push(work(4, kLight, 1));
  queue.push(work(5, kLight, 1));
  queue.start(WorkId(1), kStart);
  EXPECT_EQ(numbers(queue.order(kStart)), (std::vector<std::uint64_t>{2, 4, 5, 3}));
}

TEST(FairQueue, PutsTheShortestOfATenantFirst) {
  FairQueue queue(options(8));
  queue.push(work(1, kHeavy, 2000));
  queue.push(work(2, kHeavy, 50));
  queue.push(work(3, kHeavy, 400));
  EXPECT_EQ(numbers(queue.order(kStart)), (std::vector<std::uint64_t>{2, 3, 1}));
  queue.set_uncached(WorkId(1), 3);
  EXPECT_EQ(queue.next(kStart), WorkId(1));
  EXPECT_EQ(queue.waiting_tokens(), 453u);
}

TEST(FairQueue, LetsNobodyBeOvertakenByOneThatCameMuchLater) {
  FairQueue queue(options(8));
  queue.push(work(1, kHeavy, 100'000));
  QueuedWork later = work(2, kHeavy, 1);
  later.arrived_at = kStart + seconds(9);
  queue.push(later);
  EXPECT_EQ(queue.next(kStart), WorkId(2));
  queue.erase(WorkId(2));
  later.arrived_at = kStart + seconds(10);
  queue.push(later);
  EXPECT_EQ(queue.next(kStart), WorkId(1));
}

TEST(FairQueue, PutsADeadlineFirstWithinItsTenantOnly) {
  FairQueue queue(options(8));
  queue.push(work(1, kHeavy, 50));
  QueuedWork urgent = work(2, kHeavy, 2000);
  urgent.start_by = kStart + milliseconds(1);
  queue.push(urgent);
  queue.push(work(3, kLight, 50));
  EXPECT_EQ(numbers(queue.order(kStart)), (std::vector<std::uint64_t>{2, 3, 1}));
}

TEST(FairQueue, PutsHigherClassesFirst) {
  FairQueue queue(options(8));
  queue.push(work(1, kLight, 10, PriorityClass::kBatch));
  queue.push(work(2, kLight, 10, PriorityClass::kStandard));
  queue.push(work(3, kHeavy, 9000, PriorityClass::kPriority));
  queue.push(work(4, kHeavy, 9000, PriorityClass::kPriority));
  EXPECT_EQ(numbers(queue.order(kStart)), (std::vector<std::uint64_t>{3, 4, 2, 1}));
}

// Both classes always have more to do than can be done: the lower one gets its weight's share, no
// less and, however long its queue is, no more.
TEST(FairQueue, GivesAClassThatWaitedLongItsShare) {
  FairQueue queue(options(1));
  std::uint64_t id = 0;
  TimePoint now = kStart;
  std::map<PriorityClass, int> served;
  std::map<std::uint64_t, PriorityClass> classes;
  const auto push = [&](PriorityClass priority) {
    QueuedWork queued = work(++id, kHeavy, 100, priority);
    queued.arrived_at = now;
    queue.push(queued);
    classes[id] = priority;
  };
  for (int i = 0; i < 500; ++i) push(PriorityClass::kStandard);
  for (int round = 0; round < 600; ++round) {
    push(PriorityClass::kPriority);
    const std::uint64_t next = serve(queue, now);
    if (round >= 100) ++served[classes[next]];
    now += milliseconds(200);
  }
  EXPECT_NEAR(served[PriorityClass::kStandard], 100, 5);
  EXPECT_NEAR(served[PriorityClass::kPriority], 400, 5);
}

TEST(FairQueue, LetsALowerClassWaitWhileItHasNotWaitedLong) {
  FairQueue queue(options(1));
  queue.push(work(1, kLight, 10, PriorityClass::kBatch));
  for (std::uint64_t id = 2; id < 50; ++id) {
    queue.push(work(id, kHeavy, 100, PriorityClass::kStandard));
  }
  for (int i = 0; i < 20; ++i) EXPECT_NE(serve(queue, kStart + seconds(9)), 1u);
  EXPECT_NE(queue.next(kStart + seconds(9)), WorkId(1));
  // Of classes that begin to share, the higher one begins.
  EXPECT_NE(serve(queue, kStart + seconds(10)), 1u);
  EXPECT_EQ(serve(queue, kStart + seconds(10)), 1u);
}

TEST(FairQueue, KeepsReservedSequencesForTheirClass) {
  FairQueueOptions chosen = options(3);
  chosen.classes[0].reserved_sequences = 1;
  FairQueue queue(chosen);
  for (std::uint64_t id = 1; id <= 3; ++id) queue.push(work(id, kHeavy, 10));
  queue.start(*queue.next(kStart), kStart);
  queue.start(*queue.next(kStart), kStart);
  EXPECT_FALSE(queue.next(kStart).has_value());
  EXPECT_EQ(queue.head(kStart), WorkId(3));
  queue.push(work(4, kLight, 10, PriorityClass::kPriority));
  EXPECT_EQ(queue.next(kStart), WorkId(4));
  queue.start(WorkId(4), kStart);
  EXPECT_FALSE(queue.next(kStart).has_value());
  queue.stopped(WorkId(4));
  EXPECT_FALSE(queue.next(kStart).has_value());
  queue.stopped(WorkId(1));
  EXPECT_EQ(queue.next(kStart), WorkId(3));
}

TEST(FairQueue, NamesWhomParkingWouldLetIn) {
  FairQueueOptions chosen = options(2);
  chosen.classes[0].reserved_sequences = 1;
  FairQueue queue(chosen);
  queue.push(work(1, kHeavy, 10, PriorityClass::kPriority));
  queue.push(work(2, kHeavy, 10));
  queue.start(WorkId(1), kStart);
  queue.start(WorkId(2), kStart);
  queue.push(work(3, kLight, 10));
  EXPECT_FALSE(queue.next(kStart).has_value());
  // The place of the first is kept for its class.
  EXPECT_FALSE(queue.next_without(WorkId(1), kStart).has_value());
  EXPECT_EQ(queue.next_without(WorkId(2), kStart), WorkId(3));
}

TEST(FairQueue, DoesNotSaveUpIdleTime) {
  FairQueue queue(options(1));
  for (std::uint64_t id = 1; id <= 100; ++id) queue.push(work(id, kHeavy, 100));
  for (int i = 0; i < 20; ++i) serve(queue, kStart);
  for (std::uint64_t id = 201; id <= 220; ++id) queue.push(work(id, kLight, 100));
  EXPECT_EQ(queue.counter(WorkId(201)), queue.counter(WorkId(50)));
  int light = 0;
  for (int i = 0; i < 20; ++i) light += serve(queue, kStart) > 200 ? 1 : 0;
  EXPECT_EQ(light, 10);
}

TEST(FairQueue, GivesWhoeverComesBackASmallCredit) {
  FairQueue queue(options(1, 300));
  for (std::uint64_t id = 1; id <= 100; ++id) queue.push(work(id, kHeavy, 100));
  for (int i = 0; i < 20; ++i) serve(queue, kStart);
  for (std::uint64_t id = 201; id <= 220; ++id) queue.push(work(id, kLight, 100));
  EXPECT_EQ(queue.counter(WorkId(201)) + 300, queue.counter(WorkId(50)));
  for (int i = 0; i < 3; ++i) EXPECT_GT(serve(queue, kStart), 200u);
  int light = 0;
  for (int i = 0; i < 20; ++i) light += serve(queue, kStart) > 200 ? 1 : 0;
  EXPECT_EQ(light, 10);
}

TEST(FairQueue, GivesBackWhatWasNeverComputed) {
  FairQueue queue(options(2));
  queue.push(work(1, kHeavy, 1000));
  queue.push(work(2, kHeavy, 1000));
  queue.start(WorkId(1), kStart);
  EXPECT_EQ(queue.counter(WorkId(2)), 1000);
  queue.charge(WorkId(1), 64);
  EXPECT_EQ(queue.counter(WorkId(2)), 1000);
  queue.stopped(WorkId(1));
  EXPECT_EQ(queue.counter(WorkId(2)), 64);
}

TEST(FairQueue, ChargesTheAnswerBeyondThePrompt) {
  FairQueue queue(options(2));
  queue.push(work(1, kHeavy, 10, PriorityClass::kPriority));
  queue.start(WorkId(1), kStart);
  queue.charge(WorkId(1), 10);
  for (int i = 0; i < 30; ++i) queue.charge(WorkId(1), 1);
  EXPECT_EQ(queue.counter(WorkId(1)), 40 / 4.0);
}

TEST(FairQueue, PassesOverAHeldOneAndItsTenantGoesOn) {
  FairQueue queue(options(4));
  queue.push(work(1, kHeavy, 10));
  queue.push(work(2, kHeavy, 20));
  queue.hold(WorkId(1));
  queue.hold(WorkId(1));
  EXPECT_EQ(queue.next(kStart), WorkId(2));
  queue.start(WorkId(2), kStart);
  EXPECT_FALSE(queue.next(kStart).has_value());
  EXPECT_EQ(queue.waiting(), 1u);
  queue.check_integrity();
  queue.unhold(WorkId(1));
  EXPECT_EQ(queue.next(kStart), WorkId(1));
  queue.hold(WorkId(1));
  EXPECT_TRUE(queue.erase(WorkId(1)));
  EXPECT_FALSE(queue.erase(WorkId(1)));
  EXPECT_FALSE(queue.erase(WorkId(2)));  // it runs
  queue.check_integrity();
}

// Theorem 4.4 of the paper, at random: two tenants that always wait never differ by more than twice
// the larger of the longest prompt and what a full batch can write.
TEST(FairQueue, BoundsTheGapBetweenTenantsThatAlwaysWait) {
  constexpr std::uint32_t kPromptMax = 800;
  constexpr std::uint32_t kOutputMax = 300;
  constexpr std::uint32_t kSequences = 6;
  FairQueue queue(options(kSequences));
  Random random(11);
  std::map<std::uint64_t, std::pair<TenantId, std::uint32_t>> running;  // id → tenant, rest
  std::map<TenantId, double> service;
  std::map<TenantId, std::uint32_t> waiting;
  std::map<std::uint64_t, std::pair<TenantId, std::uint32_t>> known;
  std::uint64_t id = 0;
  double largest = 0;
  for (int step = 0; step < 10'000; ++step) {
    for (const TenantId tenant : {kHeavy, kLight}) {
      while (waiting[tenant] < (tenant == kHeavy ? 40 : 1) * kSequences) {
        const auto prompt = static_cast<std::uint32_t>(1 + random.below(kPromptMax));
        queue.push(work(++id, tenant, prompt));
        known[id] = {tenant, prompt};
        ++waiting[tenant];
      }
    }
    while (const std::optional<WorkId> next = queue.next(kStart)) {
      const auto [tenant, prompt] = known.at(next->value);
      queue.start(*next, kStart);
      queue.charge(*next, prompt);
      service[tenant] += prompt;
      --waiting[tenant];
      running[next->value] = {tenant, static_cast<std::uint32_t>(random.below(kOutputMax))};
    }
    ASSERT_EQ(running.size(), kSequences);  // work-conserving
    for (auto at = running.begin(); at != running.end();) {
      queue.charge(WorkId(at->first), 1);
      service[at->second.first] += 1;
      if (at->second.second-- > 0) {
        ++at;
        continue;
      }
      queue.stopped(WorkId(at->first));
      at = running.erase(at);
    }
    largest = std::max(largest, std::fabs(service[kHeavy] - service[kLight]));
  }
  EXPECT_LE(largest, 2.0 * std::max(kPromptMax, kSequences * kOutputMax));
  EXPECT_GT(service[kHeavy], 20'000);
  queue.check_integrity();
}

TEST(FairQueue, KeepsNoSequenceIdleWhileSomebodyWaits) {
  FairQueue queue(options(4));
  Random random(4);
  std::vector<WorkId> running;
  std::uint64_t id = 0;
  for (int step = 0; step < 5000; ++step) {
    if (random.chance(0.5)) {
      queue.push(work(++id, TenantId(random.below(9)),
                      static_cast<std::uint32_t>(random.below(500)),
                      static_cast<PriorityClass>(random.below(3))));
    }
    while (const std::optional<WorkId> next = queue.next(kStart)) {
      queue.start(*next, kStart);
      running.push_back(*next);
    }
    ASSERT_TRUE(queue.waiting() == 0 || running.size() == 4);
    if (!running.empty() && random.chance(0.5)) {
      queue.stopped(running.back());
      running.pop_back();
    }
  }
}

TEST(FairQueue, ForgetsTenantsThatAreGone) {
  FairQueue queue(options(2, 500));
  // Somebody always runs, so there is never a moment at which all could be forgotten.
  queue.push(work(1, kHeavy, 1));
  queue.start(WorkId(1), kStart);
  for (std::uint64_t id = 2; id < 8'000; ++id) {
    queue.push(work(id, TenantId(id + 10), 100));
    queue.start(WorkId(id), kStart);
    queue.charge(WorkId(id), 130);
    queue.stopped(WorkId(id));
    queue.charge(WorkId(1), 10);
    ASSERT_LE(queue.accounts(), 100u);
  }
  queue.stopped(WorkId(1));
  EXPECT_EQ(queue.accounts(), 0u);
  queue.check_integrity();
}

TEST(FairQueue, RemembersNoMoreThanItsLimitOfTenants) {
  FairQueue queue(options(2));
  queue.push(work(1, kHeavy, 1));
  queue.start(WorkId(1), kStart);
  for (std::uint64_t id = 2; id < 2 * kAccountsIdleMax; ++id) {
    queue.push(work(id, TenantId(id + 10), 100));
    queue.start(WorkId(id), kStart);
    queue.charge(WorkId(id), 100);
    queue.stopped(WorkId(id));
  }
  EXPECT_LE(queue.accounts(), kAccountsIdleMax + 1);
  queue.check_integrity();
}

TEST(FairQueue, DoesWhatItsNaiveTwinDoes) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    FairQueueOptions chosen = options(static_cast<std::uint32_t>(3 + random.below(5)),
                                      static_cast<std::uint32_t>(random.below(3) * 256));
    chosen.ageing = milliseconds(100 + random.below(8000));
    for (ClassShare& share : chosen.classes) {
      share.reserved_sequences = static_cast<std::uint32_t>(random.below(2));
    }
    FairQueuePair pair(chosen, [&random](std::size_t bound) {
      return static_cast<std::size_t>(random.below(bound));
    });
    for (int step = 0; step < 500; ++step) pair.step();
    ASSERT_LE(pair.queue().running(), chosen.sequences);
  }
}

}  // namespace
}  // namespace zerohop
