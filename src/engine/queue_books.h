// Who waits for a first slot, counted by class and tenant: what bounds the queue, and what a
// newcomer would find in front of it. Kept from the moment a request is handed in, not from the
// step that takes it out of the inbox, so a burst that comes within one step is seen by its own
// later half.
//
// In front of a request of class c and tenant t, since turns are fair (core/fair_queue.h):
//
//   higher classes   all of them
//   class c          of each tenant at most as many as of t, and one
//   lower classes    none
//
//   waiting, all standard: A: 100, B: 1     in front of the next of A: 100 + 1
//                                           of B: 2 + 1       of a third tenant: 1 + 1
//
// To tell that without a look at every tenant, each class keeps how many tenants have one or more
// waiting, how many two or more, and so on: the sum of the first `n` of these numbers is how many
// requests there are of which each tenant counts at most `n`. Their prompts are taken to be of the
// mean length of those that wait in their class.
//
// Each call takes one short lock: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "core/service_estimate.h"
#include "core/tenant.h"

namespace zerohop {

struct QueueLimits {
  std::size_t requests_max = limits::kInboxMax;
  std::uint64_t tokens_max = limits::kQueuedTokensMax;  ///< of prompts that are not cached
  /// Of both, the part that one tenant may take; (0, 1]. The tenant that all share (0) may take all
  /// of it.
  double tenant_share = 1;
};

/// What is full.
enum class QueueBound : std::uint8_t { kRequests, kTokens, kTenantRequests, kTenantTokens };

struct QueueEntry {
  TenantId tenant;
  PriorityClass priority = PriorityClass::kStandard;
  std::uint32_t tokens = 0;  ///< of the prompt, as far as it is known what of it is cached
};

class QueueBooks {
 public:
  explicit QueueBooks(const QueueLimits& limits) : limits_(limits) {}

  /// A request waits from now on; or what has no room for it. A single request always finds room,
  /// however long it is.
  std::optional<QueueBound> enter(const QueueEntry& entry);
  /// The same for all answers of one request, which are of one tenant and class: all or none.
  std::optional<QueueBound> enter_all(std::span<const QueueEntry> answers);
  /// It waits no more. `entry` as it stands in the books.
  void leave(const QueueEntry& entry);
  /// So many tokens of it are not cached: `entry` and the books say so from now on.
  void recount(QueueEntry& entry, std::uint32_t tokens);

  /// Whether enter() would refuse one of so many requests of `tenant` whatever their length.
  std::optional<QueueBound> full_for(TenantId tenant, std::size_t requests = 1) const;

  /// What a new request of that tenant and class would find in front of it.
  InFront in_front(TenantId tenant, PriorityClass priority) const;
  /// The same as a part of all that waits; 0 where nobody does.
  double part_in_front(TenantId tenant, PriorityClass priority) const;

  struct Totals {
    std::array<std::uint32_t, kPriorityClasses> requests{};
    std::array<std::uint64_t, kPriorityClasses> tokens{};
  };
  Totals totals() const;
  std::size_t requests() const;

 private:
  struct Tenant {
    std::array<std::uint32_t, kPriorityClasses> requests{};
    std::uint64_t tokens = 0;
    std::size_t all() const;
  };
  struct Class {
    std::uint32_t requests = 0;
    std::uint64_t tokens = 0;
    std::vector<std::uint32_t> tenants_with;  // [i]: tenants of whom more than i wait
  };

  /// What comes at once.
  struct Load {
    std::size_t requests = 0;
    std::uint64_t tokens = 0;
  };
  std::optional<QueueBound> bound_of(TenantId tenant, const Load& load) const;
  void add(const QueueEntry& entry);
  double in_front_of_class(const Class& books, std::size_t own) const;

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<TenantId, Tenant> tenants_;  // guarded by mutex_; none without a request
  std::array<Class, kPriorityClasses> classes_;   // guarded by mutex_
  std::size_t requests_ = 0;                      // guarded by mutex_
  std::uint64_t tokens_ = 0;                      // guarded by mutex_
};

/// For a refusal: what is full, as people read it.
std::string_view queue_bound_text(QueueBound bound);
/// As Error::detail: "queue;requests", "queue;tokens", "queue;tenant_requests",
/// "queue;tenant_tokens".
std::string_view queue_bound_detail(QueueBound bound);

}  // namespace zerohop
