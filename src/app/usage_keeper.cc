#include "app/usage_keeper.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "app/kept_files.h"
#include "base/log.h"

namespace zerohop {

namespace asio = boost::asio;

std::filesystem::path ledger_file(const std::filesystem::path& folder) {
  return folder / "ledger.sqlite";
}

Result<std::unique_ptr<UsageKeeper>> UsageKeeper::open(UsageKeeperParts parts,
                                                       asio::any_io_executor executor) {
  // Two processes must not both hand out the same budgets.
  ZH_ASSIGN_OR_RETURN(FileLock lock,
                      hold_folder({"limits.usage_folder", parts.folder, "usage.lock"}));
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
  keeper->thread_.post([keeper = keeper.get()] { keeper->clean(); });
  keeper->set_clean_timer();
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
  clean_timer_.cancel();
}

Awaitable<Result<std::vector<LedgerSum>>> UsageKeeper::sums(LedgerQuery query) {
  auto work = [this, query = std::move(query)] { return ledger_->sums(query); };
  co_return co_await run_on_worker(thread_, std::move(work));
}

void UsageKeeper::set_clean_timer() {
  clean_timer_.expires_after(kCleanPeriod);
  clean_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    thread_.post([this] { clean(); });
    set_clean_timer();
  });
}

void UsageKeeper::set_timer(Duration delay) {
  if (stopped_) return;
  pending_ = true;
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    thread_.post([this, home = timer_.get_executor()] {
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

void UsageKeeper::erase(GoneOwners gone) {
  thread_.post([this, gone = std::move(gone)] {
    for (const TenantId tenant : gone.tenants) {
      if (!erased_.contains(tenant)) gone_tenants_.insert(tenant);
    }
    gone_.insert(gone_.end(), gone.owners.begin(), gone.owners.end());
    erase_gone();
  });
}

// What the disk refuses now is adopted at the next start.
void UsageKeeper::adopt(Ledger::OwnerOf owner_of) {
  thread_.post([this, owner_of = std::move(owner_of)] {
    const StoreResult<std::int64_t> adopted = ledger_->adopt(owner_of);
    if (!adopted.ok()) return void(report(adopted.error(), ledger_complaint_));
    if (*adopted > 0) {
      log_info("gave usage of an earlier version its tenants",
               {{"rows", std::to_string(*adopted)}});
    }
  });
}

void UsageKeeper::clean() {
  erase_gone();
  drop_old();
}

// What the disk refuses stays for the next time.
void UsageKeeper::erase_gone() {
  while (!gone_.empty()) {
    const LimitIdentity& owner = gone_.back();
    if (!report(journal_->erase(owner.owner, owner.id), journal_complaint_)) return;
    gone_.pop_back();
  }
  while (!gone_tenants_.empty()) {
    const TenantId tenant = *gone_tenants_.begin();
    if (!report(journal_->erase_tenant(tenant), journal_complaint_)) return;
    const StoreResult<std::int64_t> rows = ledger_->erase_tenant(tenant);
    if (!rows.ok()) return void(report(rows.error(), ledger_complaint_));
    erased_.insert(tenant);
    gone_tenants_.erase(tenant);
    if (*rows > 0) log_info("erased the usage of a tenant", {{"rows", std::to_string(*rows)}});
  }
}

// Now, as far as it is sure that it is so late; nothing: of that there is no sign.
StoreResult<std::optional<WallTime>> UsageKeeper::time_passed() {
  const WallTime now = parts_.clock->wall();
  if (parts_.clock->now() - opened_at_ >= parts_.doubts_clock) return std::optional(now);
  ZH_ASSIGN_OR_RETURN(std::optional<WallTime> newest, ledger_->newest());
  if (newest) newest = std::min(*newest, now);
  return newest;
}

// Once a day. Budgets of keys and tenants that are no more end with their period.
void UsageKeeper::drop_old() {
  const PeriodNumber today = calendar_at(parts_.clock->wall()).day;
  if (today == cleaned_day_) return;
  const auto now = time_passed();
  if (!now.ok()) return void(report(now.error(), ledger_complaint_));
  if (!*now) return;
  const StoreResult<std::int64_t> over = journal_->drop_over(calendar_at(**now));
  const StoreResult<std::int64_t> dropped = ledger_->drop_before(**now - parts_.kept);
  if (!over.ok()) return void(report(over.error(), journal_complaint_));
  if (!dropped.ok()) return void(report(dropped.error(), ledger_complaint_));
  cleaned_day_ = today;
  if (*dropped > 0) log_info("dropped old usage", {{"rows", std::to_string(*dropped)}});
}

}  // namespace zerohop
