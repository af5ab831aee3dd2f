// The rules of fair_queue.h as plainly as they can be written: lists that are searched from end to
// end, nothing forgotten, nothing kept in order. Tests and the fuzz target hold the queue against
// it. Weights and credit should be powers of two, so that both add up to the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/fair_queue.h"

namespace zerohop {

class FairQueueTwin {
 public:
  explicit FairQueueTwin(const FairQueueOptions& options) : options_(options) {}

  void push(const QueuedWork& queued) {
    raise_levels();
    const std::size_t k = class_of(queued);
    Tenant& tenant = tenants_[{k, queued.tenant}];
    const double credit = options_.idle_credit / options_.classes[k].weight;
    if (count(k, queued.tenant, State::kWaiting) + count(k, queued.tenant, State::kHeld) == 0) {
      tenant.counter = std::max(tenant.counter, level_[k] - credit);
    }
    if (count(k, queued.tenant, State::kWaiting) == 0) tenant.turn = ++turns_;
    works_.push_back({queued, State::kWaiting, 0});
    raise_levels();
  }

  bool erase(WorkId id) {
    const auto at = std::find_if(works_.begin(), works_.end(),
                                 [&](const Work& work) { return work.queued.id == id; });
    if (at == works_.end() || at->state == State::kRunning) return false;
    raise_levels();
    works_.erase(at);
    raise_levels();
    return true;
  }

  void set_uncached(WorkId id, std::uint32_t tokens) { find(id).queued.uncached_tokens = tokens; }

  void hold(WorkId id) {
    raise_levels();
    find(id).state = State::kHeld;
    raise_levels();
  }

  void unhold(WorkId id) {
    raise_levels();
    Work& work = find(id);
    const std::size_t k = class_of(work.queued);
    if (work.state == State::kWaiting) return;
    if (count(k, work.queued.tenant, State::kWaiting) == 0) {
      tenants_[{k, work.queued.tenant}].turn = ++turns_;
    }
    work.state = State::kWaiting;
    raise_levels();
  }

  std::optional<WorkId> next(TimePoint now) const { return choose(open(std::nullopt), now); }
  std::optional<WorkId> head(TimePoint now) const { return choose({true, true, true}, now); }
  std::optional<WorkId> next_without(WorkId id, TimePoint now) const {
    return choose(open(class_of(find(id).queued)), now);
  }

  void start(WorkId id, TimePoint now) {
    unhold(id);
    Work& work = find(id);
    const std::size_t k = class_of(work.queued);
    Mask mask = open(std::nullopt);
    if (!mask[k]) mask = {true, true, true};
    mask = part_of(mask, now);
    mask[k] = true;
    std::array<double, kPriorityClasses> lifted{};
    for (std::size_t j = 0; j < kPriorityClasses; ++j) lifted[j] = served_by(j, mask);
    for (std::size_t j = 0; j < kPriorityClasses; ++j) {
      part_[j] = mask[j];
      if (mask[j]) served_[j] = lifted[j];
    }
    work.state = State::kRunning;
    work.prepaid = std::max(work.queued.uncached_tokens, 1u);
    pay(work, work.prepaid);
    raise_levels();
  }

  void stopped(WorkId id) {
    raise_levels();
    Work& work = find(id);
    pay(work, -static_cast<double>(work.prepaid));
    std::erase_if(works_, [&](const Work& other) { return other.queued.id == id; });
    raise_levels();
  }

  void charge(WorkId id, std::uint32_t tokens) {
    Work& work = find(id);
    for (; tokens > 0 && work.prepaid > 0; --tokens) --work.prepaid;
    pay(work, tokens);
    raise_levels();
  }

  double counter(WorkId id) const {
    const QueuedWork& queued = find(id).queued;
    return tenants_.at({class_of(queued), queued.tenant}).counter;
  }

  std::size_t waiting() const { return works_.size() - running(); }
  std::size_t running() const {
    return static_cast<std::size_t>(std::count_if(
        works_.begin(), works_.end(), [](const Work& w) { return w.state == State::kRunning; }));
  }

 private:
  enum class State : std::uint8_t { kWaiting, kHeld, kRunning };
  using Mask = std::array<bool, kPriorityClasses>;
  struct Work {
    QueuedWork queued;
    State state;
    std::uint32_t prepaid;
  };
  struct Tenant {
    double counter = 0;
    std::uint64_t turn = 0;
  };

  static std::size_t class_of(const QueuedWork& work) {
    return static_cast<std::size_t>(work.priority);
  }
  Work& find(WorkId id) {
    for (Work& work : works_) {
      if (work.queued.id == id) return work;
    }
    ZH_CHECK(false);
    return works_.front();
  }
  const Work& find(WorkId id) const { return const_cast<FairQueueTwin*>(this)->find(id); }

  std::size_t count(std::size_t k, std::optional<TenantId> tenant, State state) const {
    return static_cast<std::size_t>(std::count_if(works_.begin(), works_.end(), [&](const Work& w) {
      return class_of(w.queued) == k && w.state == state && (!tenant || w.queued.tenant == *tenant);
    }));
  }

  void pay(const Work& work, double tokens) {
    const std::size_t k = class_of(work.queued);
    tenants_[{k, work.queued.tenant}].counter +=
        tokens / options_.classes[k].weight / work.queued.weight;
    served_[k] += tokens / options_.classes[k].weight;
  }

  void raise_levels() {
    for (std::size_t k = 0; k < kPriorityClasses; ++k) {
      if (count(k, {}, State::kWaiting) == 0) part_[k] = false;
      const bool waits = count(k, {}, State::kWaiting) > 0;
      const bool runs = count(k, {}, State::kRunning) > 0;
      if (!waits && !runs && count(k, {}, State::kHeld) > 0) continue;
      std::optional<double> lowest;
      for (const auto& [key, tenant] : tenants_) {
        if (key.first != k) continue;
        if (!waits && !runs) {
          level_[k] = std::max(level_[k],
                               tenant.counter + options_.idle_credit / options_.classes[k].weight);
        } else if (count(k, key.second, waits ? State::kWaiting : State::kRunning) > 0) {
          lowest = std::min(lowest.value_or(tenant.counter), tenant.counter);
        }
      }
      if (lowest) level_[k] = std::max(level_[k], *lowest);
    }
  }

  Mask open(std::optional<std::size_t> without) const {
    Mask mask{};
    for (std::size_t k = 0; k < kPriorityClasses; ++k) {
      std::size_t taken = 0;  // by those who run, and by those whom others may still send
      for (std::size_t j = 0; j < kPriorityClasses; ++j) {
        std::size_t runs = count(j, {}, State::kRunning);
        if (without == j) --runs;
        taken +=
            j == k ? runs : std::max<std::size_t>(runs, options_.classes[j].reserved_sequences);
      }
      mask[k] = taken < options_.sequences;
    }
    return mask;
  }

  Mask part_of(const Mask& mask, TimePoint now) const {
    Mask part{};
    bool highest = true;
    for (std::size_t k = 0; k < kPriorityClasses; ++k) {
      if (!mask[k]) continue;
      bool waits = false;
      bool long_ago = false;
      for (const Work& work : works_) {
        if (class_of(work.queued) != k || work.state != State::kWaiting) continue;
        waits = true;
        long_ago = long_ago || now - work.queued.arrived_at >= options_.ageing;
      }
      part[k] = waits && (highest || long_ago);
      if (waits) highest = false;
    }
    return part;
  }

  double served_by(std::size_t k, const Mask& part) const {
    if (part_[k]) return served_[k];
    std::optional<double> least;
    for (std::size_t j = 0; j < kPriorityClasses; ++j) {
      if (part[j] && part_[j]) least = std::min(least.value_or(served_[j]), served_[j]);
    }
    return std::max(served_[k], least.value_or(served_[k]));
  }

  TimePoint due(const QueuedWork& work) const {
    const double tokens = work.uncached_tokens;
    const TimePoint due =
        work.arrived_at + from_seconds(to_seconds(options_.ageing) * (tokens / (tokens + 512)));
    return work.start_by ? std::min(due, *work.start_by) : due;
  }

  std::optional<WorkId> choose(const Mask& open, TimePoint now) const {
    const Mask part = part_of(open, now);
    std::optional<std::size_t> chosen;
    for (std::size_t k = kPriorityClasses; k-- > 0;) {
      if (part[k] && (!chosen || served_by(k, part) <= served_by(*chosen, part))) chosen = k;
    }
    if (!chosen) return std::nullopt;
    const Work* best = nullptr;
    for (const Work& work : works_) {
      if (class_of(work.queued) != *chosen || work.state != State::kWaiting) continue;
      if (best == nullptr || key(work) < key(*best)) best = &work;
    }
    return best == nullptr ? std::nullopt : std::optional(best->queued.id);
  }

  std::tuple<double, std::size_t, std::uint64_t, TimePoint, WorkId> key(const Work& work) const {
    const std::size_t k = class_of(work.queued);
    const Tenant& tenant = tenants_.at({k, work.queued.tenant});
    return {tenant.counter, count(k, work.queued.tenant, State::kRunning), tenant.turn,
            due(work.queued), work.queued.id};
  }

  FairQueueOptions options_;
  std::vector<Work> works_;
  std::map<std::pair<std::size_t, TenantId>, Tenant> tenants_;
  std::array<double, kPriorityClasses> level_{};
  std::array<double, kPriorityClasses> served_{};
  std::array<bool, kPriorityClasses> part_{};
  std::uint64_t turns_ = 0;
};

/// One random operation on both, and everything that can be asked compared. `pick(bound)` gives a
/// number below `bound`: from a generator, or from the bytes of a fuzzer.
template <class Pick>
class FairQueuePair {
 public:
  FairQueuePair(const FairQueueOptions& options, Pick pick)
      : queue_(options), twin_(options), options_(options), pick_(pick) {}

  void step() {
    now_ += std::chrono::milliseconds(pick_(4) == 0 ? pick_(3000) : pick_(20));
    switch (pick_(10)) {
      case 0:
      case 1:
      case 2: push(); break;
      case 3:
      case 4: start(); break;
      case 5: stop(); break;
      case 6:
      case 7: charge(); break;
      default: change_waiting();
    }
    compare();
  }

  const FairQueue& queue() const { return queue_; }

 private:
  void push() {
    if (waiting_.size() >= 24) return;
    QueuedWork work;
    work.id = WorkId(++ids_);
    work.tenant = TenantId(pick_(5));
    work.priority = static_cast<PriorityClass>(pick_(3));
    work.uncached_tokens = static_cast<std::uint32_t>(pick_(3) == 0 ? pick_(3000) : pick_(60));
    work.arrived_at = now_ - std::chrono::milliseconds(pick_(5) == 0 ? pick_(2000) : 0);
    if (pick_(6) == 0) work.start_by = now_ + std::chrono::milliseconds(pick_(1000));
    if (work.tenant.value > 2) work.weight = work.tenant.value == 3 ? 4 : 0.25;
    queue_.push(work);
    twin_.push(work);
    waiting_.push_back(work.id);
  }

  void start() {
    std::optional<WorkId> id = queue_.next(now_);
    // Now and then somebody whose turn it is not, as an owner does whose head finds no room.
    if (pick_(8) == 0 && !waiting_.empty() && running_.size() < options_.sequences) {
      id = waiting_[pick_(waiting_.size())];
    }
    if (!id) return;
    queue_.start(*id, now_);
    twin_.start(*id, now_);
    std::erase(waiting_, *id);
    running_.push_back(*id);
  }

  void stop() {
    if (running_.empty()) return;
    const WorkId id = running_[pick_(running_.size())];
    queue_.stopped(id);
    twin_.stopped(id);
    std::erase(running_, id);
  }

  void charge() {
    for (const WorkId id : running_) {
      const auto tokens = static_cast<std::uint32_t>(pick_(4) == 0 ? pick_(600) : 1);
      queue_.charge(id, tokens);
      twin_.charge(id, tokens);
    }
  }

  void change_waiting() {
    if (waiting_.empty()) return;
    const WorkId id = waiting_[pick_(waiting_.size())];
    switch (pick_(4)) {
      case 0: queue_.hold(id); return twin_.hold(id);
      case 1: queue_.unhold(id); return twin_.unhold(id);
      case 2: {
        const auto tokens = static_cast<std::uint32_t>(pick_(2000));
        queue_.set_uncached(id, tokens);
        return twin_.set_uncached(id, tokens);
      }
      default: ZH_CHECK(queue_.erase(id) && twin_.erase(id)); std::erase(waiting_, id);
    }
  }

  void compare() {
    queue_.check_integrity();
    ZH_CHECK(queue_.next(now_) == twin_.next(now_));
    ZH_CHECK(queue_.head(now_) == twin_.head(now_));
    ZH_CHECK(queue_.waiting() == twin_.waiting() && queue_.running() == twin_.running());
    for (const WorkId id : waiting_) ZH_CHECK(queue_.counter(id) == twin_.counter(id));
    for (const WorkId id : running_) {
      ZH_CHECK(queue_.counter(id) == twin_.counter(id));
      ZH_CHECK(queue_.next_without(id, now_) == twin_.next_without(id, now_));
      ZH_CHECK(!queue_.erase(id));
    }
  }

  FairQueue queue_;
  FairQueueTwin twin_;
  const FairQueueOptions options_;
  Pick pick_;
  TimePoint now_{std::chrono::hours(1)};
  std::uint64_t ids_ = 0;
  std::vector<WorkId> waiting_;
  std::vector<WorkId> running_;
};

}  // namespace zerohop
