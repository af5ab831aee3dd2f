#include "app/usage_keeper.h"

#include <boost/asio/post.hpp>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;

namespace {

Error no_folder(const std::filesystem::path& folder, const std::string& reason) {
  return Error{ErrorCode::kConfiguration,
               "limits.usage_folder: '" + folder.string() + "' " + reason,
               "",
               {}};
}

// Two processes must not both hand out the same budgets.
Result<FileLock> take_lock(const std::filesystem::path& folder) {
  FileLock lock;
  if (const std::error_code fault = lock.open(folder / "usage.lock", 0600)) {
    return no_folder(folder, "cannot be written: " + fault.message());
  }
  if (lock.try_lock()) return no_folder(folder, "is in use by another process");
  return lock;
}

}  // namespace

std::filesystem::path ledger_file(const std::filesystem::path& folder) {
  return folder / "ledger.sqlite";
}

Result<std::unique_ptr<UsageKeeper>> UsageKeeper::open(UsageKeeperParts parts,
                                                       asio::any_io_executor executor) {
  std::error_code fault;
  std::filesystem::create_directories(parts.folder, fault);
  if (fault) return no_folder(parts.folder, "cannot be made: " + fault.message());
  ZH_ASSIGN_OR_RETURN(FileLock lock, take_lock(parts.folder));
  std::unique_ptr<UsageKeeper> keeper(
      new UsageKeeper(std::move(parts), std::move(executor), std::move(lock)));
  DatabaseOptions budgets;
  budgets.path = (keeper->parts_.folder / "budgets.sqlite").string();
  ZH_ASSIGN_OR_RETURN(keeper->journal_, BudgetJournal::open(budgets));
  DatabaseOptions rows;
  rows.path = ledger_file(keeper->parts_.folder).string();
  ZH_ASSIGN_OR_RETURN(keeper->ledger_, Ledger::open(rows));
  keeper->parts_.limiter->on_new_budget(
      [journal = keeper->journal_.get()](const Limiter::NewBudget& made) {
        journal->attach(made);
      });
  return keeper;
}

UsageKeeper::~UsageKeeper() {
  stop();
  thread_.join();
  if (!journal_ || !ledger_) return;  // open() failed
  parts_.limiter->on_new_budget(nullptr);
  parts_.limiter->count_served();
  report(journal_->write_exact(), journal_complaint_);
  report(ledger_->write_behind(), ledger_complaint_);
}

// ---- I/O thread ----

void UsageKeeper::add(LedgerRow row) {
  ledger_->add(std::move(row));
  touch();
}

void UsageKeeper::touch() {
  if (!pending_) set_timer(kJournalPeriod);
}

void UsageKeeper::stop() {
  stopped_ = true;
  timer_.cancel();
}

void UsageKeeper::set_timer(Duration delay) {
  if (stopped_) return;
  pending_ = true;
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    asio::post(thread_, [this, home = timer_.get_executor()] {
      const bool ok = write();
      asio::post(home, [this, ok] { written(ok); });
    });
  });
}

void UsageKeeper::written(bool ok) {
  pending_ = false;
  if (!ok) return set_timer(kRetryPeriod);
  if (parts_.limiter->reservations() > 0 || ledger_->waiting() > 0) set_timer(kJournalPeriod);
}

// ---- the keeper's thread ----

bool UsageKeeper::write() {
  parts_.limiter->count_served();
  const bool budgets = report(journal_->write_behind(), journal_complaint_);
  const bool rows = report(ledger_->write_behind(), ledger_complaint_);
  if (rows) drop_old();
  return budgets && rows;
}

bool UsageKeeper::report(const StoreResult<void>& result, std::string& complaint) {
  if (result.ok()) {
    complaint.clear();
    return true;
  }
  if (result.error().message != complaint) {
    complaint = result.error().message;
    log_error("usage cannot be written; it waits in memory", {{"reason", complaint}});
  }
  return false;
}

// Once a day.
void UsageKeeper::drop_old() {
  const WallTime now = parts_.clock->wall();
  const PeriodNumber today = calendar_at(now).day;
  if (today == cleaned_day_) return;
  const StoreResult<std::int64_t> dropped = ledger_->drop_before(now - parts_.kept);
  if (!dropped.ok()) return;
  cleaned_day_ = today;
  if (*dropped > 0) log_info("dropped old usage", {{"rows", std::to_string(*dropped)}});
}

}  // namespace zerohop
