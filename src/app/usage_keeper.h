// What outlives the process of limits and usage: the journal of budgets and the ledger, written
// behind by a thread of its own.
//
//   I/O thread   touch() ─▶ timer (kJournalPeriod) ─▶ thread: write ─▶ as long as requests run or
//                                                     rows wait: timer again
//
// A server without requests wakes nobody but once an hour, when old rows go. Machines start with
// clocks that are months ahead until somebody sets them, and what goes then is gone. So until the
// server has run for a day, no more time is taken to have passed than the newest row of the ledger
// shows; from then on the clock is believed.
//
// While the disk fails,
// what waits stays in memory and is tried again every kRetryPeriod; the operator is told once for
// each cause.
//
// I/O thread, but for erase(); the destructor after it has ended.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "admission/budget_journal.h"
#include "admission/ledger.h"
#include "admission/limiter.h"
#include "app/worker_pool.h"
#include "base/clock.h"
#include "base/file_lock.h"
#include "http/awaitable.h"

namespace zerohop {

struct UsageKeeperParts {
  std::filesystem::path folder;  ///< made if it is not there
  Limiter* limiter = nullptr;
  const Clock* clock = nullptr;
  std::chrono::days kept{400};  ///< rows of the ledger
  /// So long after its start it believes the wall clock when something is to be dropped.
  Duration doubts_clock{std::chrono::hours(24)};
};

/// Whoever is no more: nothing of them is kept.
struct GoneOwners {
  std::vector<TenantId> tenants;      ///< with their keys
  std::vector<LimitIdentity> owners;  ///< of budgets
};

/// In the user's state folder.
inline constexpr std::string_view kUsageFolderName = "usage";

/// Where the ledger stands in the folder of a UsageKeeper.
std::filesystem::path ledger_file(const std::filesystem::path& folder);

class UsageKeeper {
 public:
  static constexpr std::chrono::seconds kRetryPeriod{2};
  static constexpr std::chrono::hours kCleanPeriod{1};

  /// Opens both files, takes them for this process, and restores budgets as they appear in the
  /// limiter. What `parts` points to, and the executor's context, outlive the result. Errors:
  /// kConfiguration (cannot be made or opened, or another process has them).
  static Result<std::unique_ptr<UsageKeeper>> open(UsageKeeperParts parts,
                                                   boost::asio::any_io_executor executor);
  /// Writes everything, budgets without their leases.
  ~UsageKeeper();
  UsageKeeper(const UsageKeeper&) = delete;
  UsageKeeper& operator=(const UsageKeeper&) = delete;

  void add(LedgerRow row);
  /// Sums of the ledger, the last row included. Errors: Ledger::sums().
  Awaitable<Result<std::vector<LedgerSum>>> sums(LedgerQuery query);
  /// Ledger::adopt(), once; any thread.
  void adopt(Ledger::OwnerOf owner_of);
  /// Forgets them on the disk; the limiter has done so. What the disk refuses is tried again.
  /// Any thread.
  void erase(GoneOwners gone);
  /// Something was reserved or settled.
  void touch();
  /// No more writing until the destructor.
  void stop();

 private:
  UsageKeeper(UsageKeeperParts parts, boost::asio::any_io_executor executor, FileLock lock)
      : parts_(std::move(parts)),
        lock_(std::move(lock)),
        opened_at_(parts_.clock->now()),
        timer_(executor),
        clean_timer_(executor) {}

  void set_timer(Duration delay);
  void set_clean_timer();
  void written(bool ok);
  bool write();
  bool report(const StoreResult<void>& result, std::string& complaint);
  void clean();
  void erase_gone();
  void drop_old();
  StoreResult<std::optional<WallTime>> time_passed();

  // Constant
  const UsageKeeperParts parts_;
  const FileLock lock_;
  const TimePoint opened_at_;
  std::unique_ptr<BudgetJournal> journal_;
  std::unique_ptr<Ledger> ledger_;

  // I/O thread
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer clean_timer_;
  bool pending_ = false;  // a timer or a write is under way
  bool stopped_ = false;

  // The keeper's thread
  std::string journal_complaint_;
  std::string ledger_complaint_;
  PeriodNumber cleaned_day_ = 0;
  std::vector<LimitIdentity> gone_;  // to be erased
  std::set<TenantId> gone_tenants_;  // likewise
  std::unordered_set<TenantId> erased_;

  WorkerPool thread_{1};  // last: its work uses all the others
};

}  // namespace zerohop
