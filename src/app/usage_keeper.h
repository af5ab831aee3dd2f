// What outlives the process of limits and usage: the journal of budgets and the ledger, written
// behind by a thread of its own.
//
//   I/O thread   touch() ─▶ timer (kJournalPeriod) ─▶ thread: write ─▶ as long as requests run or
//                                                     rows wait: timer again
//
// A server without requests wakes nobody. While the disk fails, what waits stays in memory and is
// tried again every kRetryPeriod; the operator is told once for each cause.
//
// I/O thread; the destructor after it has ended.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "admission/budget_journal.h"
#include "admission/ledger.h"
#include "admission/limiter.h"
#include "app/worker_pool.h"
#include "base/clock.h"
#include "base/file_lock.h"

namespace zerohop {

struct UsageKeeperParts {
  std::filesystem::path folder;  ///< made if it is not there
  Limiter* limiter = nullptr;
  const Clock* clock = nullptr;
  std::chrono::days kept{400};  ///< rows of the ledger
};

/// Where the ledger stands in the folder of a UsageKeeper.
std::filesystem::path ledger_file(const std::filesystem::path& folder);

class UsageKeeper {
 public:
  static constexpr std::chrono::seconds kRetryPeriod{2};

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
  /// Something was reserved or settled.
  void touch();
  /// No more writing until the destructor.
  void stop();

 private:
  UsageKeeper(UsageKeeperParts parts, boost::asio::any_io_executor executor, FileLock lock)
      : parts_(std::move(parts)), lock_(std::move(lock)), timer_(std::move(executor)) {}

  void set_timer(Duration delay);
  void written(bool ok);
  bool write();
  bool report(const StoreResult<void>& result, std::string& complaint);
  void drop_old();

  // Constant
  const UsageKeeperParts parts_;
  const FileLock lock_;
  std::unique_ptr<BudgetJournal> journal_;
  std::unique_ptr<Ledger> ledger_;

  // I/O thread
  boost::asio::steady_timer timer_;
  bool pending_ = false;  // a timer or a write is under way
  bool stopped_ = false;

  // The keeper's thread
  std::string journal_complaint_;
  std::string ledger_complaint_;
  PeriodNumber cleaned_day_ = 0;

  WorkerPool thread_{1};  // last: its work uses all the others
};

}  // namespace zerohop
