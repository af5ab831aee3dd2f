// Where everything is kept. Every account (a tenant in a class) is in the sets that its state asks
// for:
//
//   somebody waits             waiting, by Rank; the first of its by_due is whose turn it is
//   somebody runs              busy
//   nobody waits, runs, holds  idle, by counter, until level − credit has passed the counter
//
// `waiting` and `idle` are ordered by the counter, so a counter changes only inside change(), which
// takes the account out and puts it back. An account of which somebody runs and nobody waits is in
// neither, so its charges are two additions.
#include "core/fair_queue.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {
namespace {

// At this many tokens half of the ageing is used up: short prompts are told apart finely, long ones
// coarsely.
constexpr double kHalfAgeingTokens = 512;

}  // namespace

FairQueue::FairQueue(const FairQueueOptions& options) : options_(options) {
  for (const ClassShare& share : options_.classes) ZH_CHECK(share.weight > 0);
  set_sequences(options_.sequences);
  ZH_CHECK(options_.ageing > Duration::zero());
}

void FairQueue::set_sequences(std::uint32_t sequences) {
  std::uint64_t reserved = options_.pool_reserved_sequences;
  for (const ClassShare& share : options_.classes) reserved += share.reserved_sequences;
  ZH_CHECK(sequences > 0 && reserved <= sequences);
  options_.sequences = sequences;
}

// ---- the books ----

std::size_t FairQueue::class_of(const Work& work) { return index_of(work.queued.priority); }

FairQueue::Work& FairQueue::find(WorkId id) {
  const auto found = works_.find(id);
  ZH_CHECK(found != works_.end());
  return found->second;
}

const FairQueue::Work& FairQueue::find(WorkId id) const {
  const auto found = works_.find(id);
  ZH_CHECK(found != works_.end());
  return found->second;
}

FairQueue::Account& FairQueue::account_of(const Work& work) {
  return books_of(work).accounts.find(work.queued.tenant)->second;
}

TimePoint FairQueue::due_of(const QueuedWork& work) const {
  const double tokens = work.uncached_tokens;
  const double share = tokens / (tokens + kHalfAgeingTokens);
  const TimePoint due = work.arrived_at + from_seconds(to_seconds(options_.ageing) * share);
  return work.start_by ? std::min(due, *work.start_by) : due;
}

double FairQueue::credit(std::size_t priority) const {
  return options_.idle_credit / options_.classes[priority].weight;
}

// `change` may do anything to the work's account but make or drop it.
template <class Change>
void FairQueue::change(const Work& work, Change change) {
  const TenantId tenant = work.queued.tenant;
  ClassBooks& books = books_of(work);
  Account& account = books.accounts[tenant];
  const auto rank = [&] { return Rank{account.counter, account.running, account.turn, tenant}; };
  const auto is_idle = [&] {
    return account.by_due.empty() && account.running == 0 && account.held == 0;
  };
  if (!account.by_due.empty()) {
    books.waiting.erase(rank());
    books.waiting_own.erase(rank());
  }
  if (is_idle()) books.idle.erase({account.counter, tenant});
  change(account);
  if (!account.by_due.empty()) {
    books.waiting.insert(rank());
    if (account.own_pool) books.waiting_own.insert(rank());
  }
  if (is_idle()) books.idle.insert({account.counter, tenant});
  if (account.running > 0) {
    books.busy.insert(tenant);
  } else {
    books.busy.erase(tenant);
  }
}

// From now on `work` may be chosen.
void FairQueue::list(Work& work) {
  change(work, [&](Account& account) {
    if (account.by_due.empty()) account.turn = ++turns_;
    account.own_pool = work.queued.own_pool;
    account.by_due.emplace(work.due, work.queued.id);
  });
  books_of(work).by_arrival.emplace(work.queued.arrived_at, work.queued.id);
}

void FairQueue::unlist(Work& work) {
  change(work, [&](Account& account) { account.by_due.erase({work.due, work.queued.id}); });
  ClassBooks& books = books_of(work);
  books.by_arrival.erase({work.queued.arrived_at, work.queued.id});
  if (books.by_arrival.empty()) books.takes_part = false;
}

// Time in which the tenant asked for nothing is not saved up, but for the credit.
void FairQueue::lift(const Work& work) {
  raise_level(class_of(work));
  const double least = books_of(work).level - credit(class_of(work));
  change(work, [&](Account& account) {
    if (account.by_due.empty() && account.held == 0) {
      account.counter = std::max(account.counter, least);
    }
  });
}

// Negative `tokens` are given back.
void FairQueue::add(const Work& work, double tokens) {
  const double served = tokens / options_.classes[class_of(work)].weight;
  const double charged = served / work.queued.weight;
  ClassBooks& books = books_of(work);
  books.served += served;
  Account& account = account_of(work);
  if (account.by_due.empty() && account.running > 0) {
    account.counter += charged;
    return;
  }
  change(work, [&](Account& same) { same.counter += charged; });
  raise_level(class_of(work));
}

// After everything that may change who is lowest; before everything that ends a time in which only
// running ones were charged.
void FairQueue::raise_level(std::size_t priority) {
  ClassBooks& books = classes_[priority];
  if (!books.waiting.empty()) {
    books.level = std::max(books.level, books.waiting.begin()->counter);
  } else if (!books.busy.empty()) {
    double lowest = books.accounts.at(*books.busy.begin()).counter;
    for (const TenantId tenant : books.busy) {
      lowest = std::min(lowest, books.accounts.at(tenant).counter);
    }
    books.level = std::max(books.level, lowest);
  } else if (books.held == 0 && !books.idle.empty()) {
    // Nobody asks for anything, so nobody was denied anything: all begin anew as equals.
    books.level = std::max(books.level, books.idle.rbegin()->first + credit(priority));
  }
  forget(priority);
}

// A newcomer starts at level − credit: whoever is no higher need not be remembered.
void FairQueue::forget(std::size_t priority) {
  ClassBooks& books = classes_[priority];
  const double least = books.level - credit(priority);
  while (!books.idle.empty() &&
         (books.idle.begin()->first <= least || books.idle.size() > kAccountsIdleMax)) {
    books.accounts.erase(books.idle.begin()->second);
    books.idle.erase(books.idle.begin());
  }
}

// ---- waiting ----

void FairQueue::push(const QueuedWork& queued) {
  ZH_CHECK(queued.weight > 0);
  const auto [place, is_new] = works_.emplace(queued.id, Work{queued});
  ZH_CHECK(is_new);
  Work& work = place->second;
  work.due = due_of(queued);
  waiting_tokens_ += queued.uncached_tokens;
  lift(work);
  list(work);
  raise_level(class_of(work));
}

bool FairQueue::erase(WorkId id) {
  const auto found = works_.find(id);
  if (found == works_.end() || found->second.state == State::kRunning) return false;
  Work& work = found->second;
  const std::size_t priority = class_of(work);
  raise_level(priority);
  waiting_tokens_ -= work.queued.uncached_tokens;
  if (work.state == State::kHeld) {
    change(work, [](Account& account) { --account.held; });
    --classes_[priority].held;
  } else {
    unlist(work);
  }
  works_.erase(found);
  raise_level(priority);
  return true;
}

void FairQueue::set_uncached(WorkId id, std::uint32_t tokens) {
  Work& work = find(id);
  ZH_CHECK(work.state != State::kRunning);
  if (work.queued.uncached_tokens == tokens) return;
  waiting_tokens_ += tokens;
  waiting_tokens_ -= work.queued.uncached_tokens;
  work.queued.uncached_tokens = tokens;
  const TimePoint due = due_of(work.queued);
  if (work.state == State::kWaiting) {
    change(work, [&](Account& account) {
      account.by_due.erase({work.due, id});
      account.by_due.emplace(due, id);
    });
  }
  work.due = due;
}

void FairQueue::hold(WorkId id) {
  Work& work = find(id);
  ZH_CHECK(work.state != State::kRunning);
  if (work.state == State::kHeld) return;
  // Counted first: an account must not look idle in between.
  change(work, [](Account& account) { ++account.held; });
  ++books_of(work).held;
  unlist(work);
  work.state = State::kHeld;
  raise_level(class_of(work));
}

void FairQueue::unhold(WorkId id) {
  Work& work = find(id);
  ZH_CHECK(work.state != State::kRunning);
  if (work.state == State::kWaiting) return;
  raise_level(class_of(work));
  list(work);
  change(work, [](Account& account) { --account.held; });
  --books_of(work).held;
  work.state = State::kWaiting;
  raise_level(class_of(work));
}

// ---- whose turn ----

// Beyond the sequences that are kept for others. `without`: that one stops; or null.
FairQueue::Open FairQueue::open_classes(const Work* without) const {
  std::array<std::uint32_t, kPriorityClasses> unmet{};
  std::uint64_t unmet_all = 0;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    const bool stops = without != nullptr && class_of(*without) == k;
    const std::uint32_t running = classes_[k].running - (stops ? 1 : 0);
    const std::uint32_t reserved = options_.classes[k].reserved_sequences;
    unmet[k] = reserved > running ? reserved - running : 0;
    unmet_all += unmet[k];
  }
  const std::size_t running = running_ - (without != nullptr ? 1 : 0);
  const bool own_stops = without != nullptr && without->queued.own_pool;
  const std::size_t own = running_own_ - (own_stops ? 1 : 0);
  const std::size_t reserved = options_.pool_reserved_sequences;
  const std::size_t unmet_own = reserved > own ? reserved - own : 0;
  const std::size_t free = options_.sequences > running ? options_.sequences - running : 0;
  Open open;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    open.own[k] = free > unmet_all - unmet[k];
    open.all[k] = free > unmet_all - unmet[k] + unmet_own;
  }
  return open;
}

// Of the open classes the highest that waits, and those that have waited long.
FairQueue::ClassMask FairQueue::part_of(const Open& open, TimePoint now) const {
  ClassMask part{};
  bool highest = true;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    const ClassBooks& books = classes_[k];
    const bool all = open.all[k] && !books.waiting.empty();
    const bool own = open.own[k] && !books.waiting_own.empty();
    if (!all && !own) continue;
    part[k] = highest || now - books.by_arrival.begin()->first >= options_.ageing;
    highest = false;
  }
  return part;
}

// One that begins to take part is lifted to the others, as a tenant is.
double FairQueue::served_by(std::size_t priority, const ClassMask& part) const {
  const ClassBooks& books = classes_[priority];
  if (books.takes_part) return books.served;
  std::optional<double> least;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    if (!part[k] || !classes_[k].takes_part) continue;
    least = least ? std::min(*least, classes_[k].served) : classes_[k].served;
  }
  return least ? std::max(*least, books.served) : books.served;
}

std::optional<WorkId> FairQueue::choose(const Open& open, TimePoint now) const {
  const ClassMask part = part_of(open, now);
  std::optional<std::size_t> chosen;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    if (part[k] && (!chosen || served_by(k, part) < served_by(*chosen, part))) chosen = k;
  }
  if (!chosen) return std::nullopt;
  const ClassBooks& books = classes_[*chosen];
  const std::set<Rank>& waiting = open.all[*chosen] ? books.waiting : books.waiting_own;
  return books.accounts.at(waiting.begin()->tenant).by_due.begin()->second;
}

std::optional<WorkId> FairQueue::next(TimePoint now) const {
  return choose(open_classes(nullptr), now);
}

std::optional<WorkId> FairQueue::head(TimePoint now) const {
  Open open;
  open.all.fill(true);
  return choose(open, now);
}

std::optional<WorkId> FairQueue::next_without(WorkId running, TimePoint now) const {
  const Work& work = find(running);
  ZH_CHECK(work.state == State::kRunning);
  return choose(open_classes(&work), now);
}

std::vector<WorkId> FairQueue::order(TimePoint now, std::size_t limit) const {
  std::vector<WorkId> ids;
  FairQueue future(*this);
  while (ids.size() < limit) {
    const std::optional<WorkId> id = future.head(now);
    if (!id) break;
    future.start(*id, now);
    ids.push_back(*id);
  }
  return ids;
}

// ---- running ----

void FairQueue::start(WorkId id, TimePoint now) {
  unhold(id);
  Work& work = find(id);
  Open open = open_classes(nullptr);
  if (!(work.queued.own_pool ? open.own : open.all)[class_of(work)]) open.all.fill(true);
  ClassMask part = part_of(open, now);
  part[class_of(work)] = true;
  std::array<double, kPriorityClasses> served{};
  for (std::size_t k = 0; k < kPriorityClasses; ++k) served[k] = served_by(k, part);
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    classes_[k].takes_part = part[k];
    if (part[k]) classes_[k].served = served[k];
  }

  waiting_tokens_ -= work.queued.uncached_tokens;
  change(work, [](Account& account) { ++account.running; });
  ++books_of(work).running;
  ++running_;
  if (work.queued.own_pool) ++running_own_;
  unlist(work);
  work.state = State::kRunning;
  // At least one token is computed even where all are cached.
  work.prepaid = std::max(work.queued.uncached_tokens, 1u);
  add(work, work.prepaid);
  raise_level(class_of(work));
}

void FairQueue::stopped(WorkId id) {
  Work& work = find(id);
  ZH_CHECK(work.state == State::kRunning);
  const std::size_t priority = class_of(work);
  raise_level(priority);
  add(work, -static_cast<double>(work.prepaid));
  change(work, [](Account& account) { --account.running; });
  --classes_[priority].running;
  --running_;
  if (work.queued.own_pool) --running_own_;
  works_.erase(id);
  raise_level(priority);
}

void FairQueue::charge(WorkId id, std::uint32_t tokens) {
  Work& work = find(id);
  ZH_CHECK(work.state == State::kRunning);
  const std::uint32_t paid = std::min(work.prepaid, tokens);
  work.prepaid -= paid;
  if (tokens > paid) add(work, tokens - paid);
}

// ---- questions ----

double FairQueue::counter(WorkId id) const {
  const Work& work = find(id);
  return classes_[class_of(work)].accounts.at(work.queued.tenant).counter;
}

std::size_t FairQueue::accounts() const {
  std::size_t count = 0;
  for (const ClassBooks& books : classes_) count += books.accounts.size();
  return count;
}

void FairQueue::check_work(const Work& work) const {
  const ClassBooks& books = classes_[class_of(work)];
  const WorkId id = work.queued.id;
  const bool waits = work.state == State::kWaiting;
  ZH_CHECK(books.by_arrival.contains({work.queued.arrived_at, id}) == waits);
  const auto account = books.accounts.find(work.queued.tenant);
  ZH_CHECK(account != books.accounts.end());
  ZH_CHECK(account->second.by_due.contains({work.due, id}) == waits);
  ZH_CHECK(work.due == due_of(work.queued));
  ZH_CHECK(work.state == State::kRunning || work.prepaid == 0);
}

void FairQueue::check_class(std::size_t priority) const {
  const ClassBooks& books = classes_[priority];
  std::size_t listed = 0;
  std::uint32_t running = 0;
  std::uint32_t held = 0;
  std::size_t waiting = 0;
  std::size_t busy = 0;
  std::size_t idle = 0;
  for (const auto& [tenant, account] : books.accounts) {
    listed += account.by_due.size();
    running += account.running;
    held += account.held;
    const Rank rank{account.counter, account.running, account.turn, tenant};
    const bool waits = !account.by_due.empty();
    const bool nobody = !waits && account.running == 0 && account.held == 0;
    ZH_CHECK(books.waiting.contains(rank) == waits);
    ZH_CHECK(books.waiting_own.contains(rank) == (waits && account.own_pool));
    ZH_CHECK(books.busy.contains(tenant) == (account.running > 0));
    ZH_CHECK(books.idle.contains({account.counter, tenant}) == nobody);
    waiting += waits ? 1 : 0;
    busy += account.running > 0 ? 1 : 0;
    idle += nobody ? 1 : 0;
  }
  ZH_CHECK(listed == books.by_arrival.size() && running == books.running && held == books.held);
  ZH_CHECK(waiting == books.waiting.size() && busy == books.busy.size());
  ZH_CHECK(idle == books.idle.size() && idle <= kAccountsIdleMax);
  ZH_CHECK(!books.takes_part || !books.by_arrival.empty());
}

void FairQueue::check_integrity() const {
  std::size_t running = 0;
  std::size_t held = 0;
  std::size_t listed = 0;
  for (std::size_t k = 0; k < kPriorityClasses; ++k) {
    check_class(k);
    running += classes_[k].running;
    held += classes_[k].held;
    listed += classes_[k].by_arrival.size();
  }
  std::uint64_t tokens = 0;
  std::size_t own = 0;
  for (const auto& [id, work] : works_) {
    ZH_CHECK(work.queued.id == id);
    check_work(work);
    if (work.state == State::kRunning && work.queued.own_pool) ++own;
    if (work.state != State::kRunning) tokens += work.queued.uncached_tokens;
  }
  ZH_CHECK(running == running_ && works_.size() == running + held + listed);
  ZH_CHECK(tokens == waiting_tokens_ && own == running_own_);
}

}  // namespace zerohop
