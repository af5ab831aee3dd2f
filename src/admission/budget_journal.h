// Budgets survive a restart, and a crash makes none larger than it was, but for a stated window.
//
// Nothing waits for the disk: requests are counted in memory and written behind. So that a crash
// errs on the safe side, what is written runs ahead of what was spent, by a lease:
//
//   |─────── spent ──────────|── lease ──|         on disk: spent + lease
//                            │           └─ a restart after a crash begins here
//                            └─ a restart after an orderly end begins here
//
// A lease is a thousandth of the budget. When half of it is used, the next write_behind() takes
// another; when the budget has changed, at once one of the new size. A crash forfeits the rest of
// the open lease. It can only lose spending where more than the lease was spent since the last
// write_behind(), which its caller makes every kJournalPeriod: then a crash loses what was spent
// within that time, less the lease.
//
// Reservations are not written, so none is stuck behind a restart; what running requests were
// served is (Limiter::count_served).
//
// attach() from any thread, without waiting for the disk. The others wait for it and belong on a
// thread of their own; one call at a time.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "admission/limiter.h"
#include "store/database.h"

namespace zerohop {

inline constexpr std::chrono::milliseconds kJournalPeriod{100};

/// What is written ahead for a budget of that size.
std::uint64_t budget_lease(std::uint64_t limit);

class BudgetJournal {
 public:
  /// Opens or makes the file. Errors: kConfiguration, with file and reason.
  static Result<std::unique_ptr<BudgetJournal>> open(const DatabaseOptions& options);

  /// Restores the budget and writes it down from now on; of one that it has, only the limit is
  /// taken over. What Limiter::on_new_budget() wants.
  void attach(const Limiter::NewBudget& made);

  /// Writes what has used up half of its lease. After an error nothing was written, and the next
  /// call tries again.
  StoreResult<void> write_behind();

  /// At an orderly end, when no request runs: the exact numbers, without leases.
  StoreResult<void> write_exact();

  /// What was written of periods that are over, whoever's: it says nothing any more. The one before
  /// the present is kept, for a clock that is wrong about midnight. How many.
  StoreResult<std::int64_t> drop_over(CalendarTime now);

  /// All of a key or tenant that is deleted; it must have been forgotten by the limiter.
  StoreResult<void> erase(LimitOwner owner, std::string_view id);
  /// All of a tenant and of its keys; likewise.
  StoreResult<void> erase_tenant(TenantId tenant);

 private:
  struct Place {
    LimitOwner owner = LimitOwner::kKey;
    std::string id;
    LimitKind kind = LimitKind::kTokensPerDay;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Entry {
    std::shared_ptr<Budget> budget;
    TenantId tenant;
    std::uint64_t lease = 0;
    Budget::Spent seen;          // when it was written last
    Budget::Spent written;       // on disk
    bool lease_changed = false;  // since it was written last
  };
  struct Found {
    Budget::Spent spent;
    TenantId tenant;
  };
  using FoundBudgets = std::map<Place, Found>;
  FoundBudgets::iterator find_kept(const LimitIdentity& owner, const Place& place);
  struct Write {
    Place place;
    TenantId tenant;
    Budget::Spent seen;
    Budget::Spent written;
  };

  explicit BudgetJournal(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  StoreResult<void> load();
  std::vector<Write> due() const;
  std::vector<Write> inexact() const;
  StoreResult<void> write(const std::vector<Write>& writes);
  template <class Gone>
  void drop(const Gone& gone);

  const std::unique_ptr<Database> database_;  // of the calling thread, one at a time

  mutable std::mutex mutex_;
  FoundBudgets found_;              // guarded by mutex_: in the file, not attached yet
  std::map<Place, Entry> entries_;  // guarded by mutex_
};

}  // namespace zerohop
