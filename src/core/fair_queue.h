// Who goes next: the waiting requests of one engine in fair order.
//
//   class       a higher class goes first, as long as the reserved capacity of the others is kept
//   tenant      within a class, the tenant that was served least (virtual token counter)
//   request     within a tenant, the one with the fewest tokens to compute, ageing with its wait
//
// Virtual token counters (Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024):
// each tenant is charged for what was computed for it, divided by the weights of its class and its
// own; whoever has the lowest counter goes next. Charged are computed tokens: what was found in the
// prefix cache is cheap for everybody. A tenant has one counter for each class that it uses. The
// tokens of a prompt are charged when it starts, as in the paper, so that several starts in a row
// are fair; what charge() then reports is taken off that first, and what was never computed is
// given back.
//
// Idle time is not saved up, but for a small credit: a tenant that comes back is lifted to the
// level less `idle_credit`. The level is the lowest counter of those that wait, or of those that
// run where nobody waits; it never falls. The credit is what lets somebody who asks now and then go
// before those who always ask. Of two tenants that both wait all the time, neither gets more than
//
//   2 · max(longest prompt, tokens computed for the running ones between two starts) + credit
//
// tokens by weight ahead (theorem 4.4 of the paper, plus the credit). Work-conserving: capacity is
// never kept idle for a tenant that does not wait, except what a class has reserved.
//
// Classes. As long as nobody of a lower class has waited for `ageing`, the highest class that waits
// goes first. A class whose oldest request has waited that long takes part by its weight: of
// classes that take part, the one that was served least by weight goes next. So a lower class is
// never starved, and however long its queue is it gets no more than its weight's share.
//
// Reserved capacity. Sequences may be kept free for a class, and for the tenants of the instance's
// own pool whatever their class: only who may use what is kept then gets it, and the others wait as
// if it were not there.
//
// Requests of one tenant go by the time at which they are due,
//
//   due = arrived_at + ageing · tokens ÷ (tokens + 512)    or `start_by`, if that is earlier
//
// so short ones overtake long ones, and nobody is overtaken by one that came `ageing` later.
//
// Cost: O(log n) for each call but order(), and a look at those that run where nobody waits.
// charge() of a tenant of whom nobody waits is two hash lookups and two additions. A tenant that
// neither waits nor runs is forgotten as soon as a newcomer would start no lower, and of those that
// are remembered there are at most kAccountsIdleMax in a class.
//
// A pure class, not thread-safe; its owner (the engine thread) passes the time in. Other threads
// read what the owner publishes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strong_id.h"
#include "core/tenant.h"

namespace zerohop {

struct WorkTag;
/// A waiting or running request of the queue's owner.
using WorkId = StrongId<WorkTag, std::uint64_t>;

struct ClassShare {
  double weight = 1;                     ///< > 0; of two classes that both have waited long
  std::uint32_t reserved_sequences = 0;  ///< kept free for this class
};

struct FairQueueOptions {
  std::array<ClassShare, kPriorityClasses> classes{{{4, 0}, {1, 0}, {0.25, 0}}};
  std::uint32_t sequences = 1;  ///< that run at once; no fewer than are reserved in all
  std::uint32_t pool_reserved_sequences = 0;  ///< kept free for QueuedWork::own_pool
  /// A request is never overtaken by one of its tenant that came so much later, and a class whose
  /// oldest request has waited so long takes part beside higher ones.
  Duration ageing{std::chrono::seconds(10)};
  /// Tokens that a tenant who was idle may be behind the others when it comes back. On the trace of
  /// the paper's artifact (27 clients) with 2.2 times the load that the machine can do, the median
  /// time to first token of the lighter half is 3.7 times that of running alone with 1024, 2.2 with
  /// 2048 and 1.5 with 4096 (light simulation, parking as in engine/park_policy.h).
  std::uint32_t idle_credit = 4096;
};

/// Tenants of a class that neither wait nor run but are remembered, because they were served more
/// than the others. Beyond that number the one that was served least is forgotten.
inline constexpr std::size_t kAccountsIdleMax = 4096;

struct QueuedWork {
  WorkId id;
  TenantId tenant;
  PriorityClass priority = PriorityClass::kStandard;
  /// Of the prompt, as far as is known; an order, not a promise.
  std::uint32_t uncached_tokens = 0;
  TimePoint arrived_at{};
  /// When it has to start to meet its deadline (latest_start() in core/service_estimate.h). Moves
  /// it forward among those of its own tenant only.
  std::optional<TimePoint> start_by = {};
  /// Its tenant belongs to the pool of the instance; the same for all of a tenant's that wait.
  bool own_pool = false;
  /// > 0. Of its tenant among those of the same class: with twice the weight goes twice as much.
  double weight = 1;
};

class FairQueue {
 public:
  explicit FairQueue(const FairQueueOptions& options);

  // ---- waiting ----

  /// `work.id` must be new. One that was running and was parked comes back with its old arrival.
  void push(const QueuedWork& work);
  /// It goes away unserved. False when it does not wait.
  bool erase(WorkId id);
  /// More or less of a waiting one is cached by now.
  void set_uncached(WorkId id, std::uint32_t tokens);
  /// A waiting one is passed over (it waits for a prefix that is being computed) until unhold().
  /// Its tenant's others and everybody else go on. Both may be called twice.
  void hold(WorkId id);
  void unhold(WorkId id);

  // ---- whose turn ----

  /// Whose turn it is; nothing when nobody waits, or no sequence is free for those who do.
  std::optional<WorkId> next(TimePoint now) const;
  /// Whose turn it would be if sequences were plenty; nothing when nobody waits.
  std::optional<WorkId> head(TimePoint now) const;
  /// Whose turn it would be if `running` had just stopped: whom parking it would let in.
  std::optional<WorkId> next_without(WorkId running, TimePoint now) const;
  /// The first `limit` waiting ones, in the order in which they would start if sequences were
  /// plenty. Copies the queue: for reports and tests, not for each step.
  std::vector<WorkId> order(TimePoint now, std::size_t limit = SIZE_MAX) const;

  /// So many run at once from now on: no fewer than are reserved in all. Whoever runs beyond that
  /// goes on.
  void set_sequences(std::uint32_t sequences);
  std::uint32_t sequences() const { return options_.sequences; }

  // ---- running ----

  /// `id` leaves the queue and runs; it counts for its class and tenant until stopped(). Its
  /// uncached tokens are charged now, so set_uncached() comes first where more of it was found in
  /// the cache. It may be another one than the queue named (that found no room), and a held one.
  void start(WorkId id, TimePoint now);
  /// A running one ended or was parked.
  void stopped(WorkId id);
  /// `tokens` were computed for a running one.
  void charge(WorkId id, std::uint32_t tokens);

  // ---- questions ----

  /// Charged tokens by weight, of the tenant of a waiting or running one, in that one's class.
  /// Lower goes first.
  double counter(WorkId id) const;
  /// Held ones included.
  std::size_t waiting() const { return works_.size() - running_; }
  std::size_t running() const { return running_; }
  /// Prompt tokens of all waiting ones that are not cached.
  std::uint64_t waiting_tokens() const { return waiting_tokens_; }
  /// Tenants, by class, that are remembered.
  std::size_t accounts() const;

  /// The books balance; crashes where they do not.
  void check_integrity() const;

 private:
  enum class State : std::uint8_t { kWaiting, kHeld, kRunning };

  struct Work {
    QueuedWork queued;
    State state = State::kWaiting;
    TimePoint due{};
    std::uint32_t prepaid = 0;  // charged at the start, not yet computed
  };

  /// One tenant in one class.
  struct Account {
    double counter = 0;
    std::uint32_t running = 0;
    std::uint32_t held = 0;
    bool own_pool = false;
    std::uint64_t turn = 0;                         // grows with each beginning of a wait
    std::set<std::pair<TimePoint, WorkId>> by_due;  // those that wait and are not held
  };

  /// Lowest first: whose turn it is within a class. Of equals the one who has less running.
  struct Rank {
    double counter = 0;
    std::uint32_t running = 0;
    std::uint64_t turn = 0;
    TenantId tenant;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  struct ClassBooks {
    std::unordered_map<TenantId, Account> accounts;
    std::set<Rank> waiting;                             // accounts with somebody in by_due
    std::set<Rank> waiting_own;                         // of these, those of the own pool
    std::set<std::pair<TimePoint, WorkId>> by_arrival;  // everybody in a by_due
    std::set<TenantId> busy;                            // accounts with somebody running
    std::set<std::pair<double, TenantId>> idle;         // accounts with nobody, by counter
    double level = 0;
    double served = 0;  // of the whole class, by weight
    bool takes_part = false;
    std::uint32_t running = 0;
    std::uint32_t held = 0;
  };

  using ClassMask = std::array<bool, kPriorityClasses>;

  /// Classes for which a sequence is free: for everybody, and for those of the own pool.
  struct Open {
    ClassMask all{};
    ClassMask own{};
  };

  static std::size_t class_of(const Work& work);
  Work& find(WorkId id);
  const Work& find(WorkId id) const;
  ClassBooks& books_of(const Work& work) { return classes_[class_of(work)]; }
  Account& account_of(const Work& work);
  TimePoint due_of(const QueuedWork& work) const;
  double credit(std::size_t priority) const;

  template <class Change>
  void change(const Work& work, Change change);
  void list(Work& work);
  void unlist(Work& work);
  void lift(const Work& work);
  void add(const Work& work, double tokens);
  void raise_level(std::size_t priority);
  void forget(std::size_t priority);

  Open open_classes(const Work* without) const;
  ClassMask part_of(const Open& open, TimePoint now) const;
  double served_by(std::size_t priority, const ClassMask& part) const;
  std::optional<WorkId> choose(const Open& open, TimePoint now) const;
  void check_class(std::size_t priority) const;
  void check_work(const Work& work) const;

  FairQueueOptions options_;
  std::unordered_map<WorkId, Work> works_;
  std::array<ClassBooks, kPriorityClasses> classes_;
  std::size_t running_ = 0;
  std::size_t running_own_ = 0;  // of the own pool
  std::uint64_t waiting_tokens_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace zerohop
