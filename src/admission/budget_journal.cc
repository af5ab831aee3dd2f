#include "admission/budget_journal.h"

#include <algorithm>
#include <string_view>

#include "store/columns.h"

namespace zerohop {
namespace {

constexpr std::string_view kSchema1 = R"sql(
CREATE TABLE budgets (
  owner INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  period INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  PRIMARY KEY (owner, id, kind)
) STRICT, WITHOUT ROWID;
)sql";

// Whose it is, so that a tenant's keys go with it.
constexpr std::string_view kSchema2 = R"sql(
ALTER TABLE budgets ADD COLUMN tenant INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::uint64_t kLeaseParts = 1'000;

}  // namespace

std::uint64_t budget_lease(std::uint64_t limit) {
  return std::max<std::uint64_t>(1, std::min(limit, kBudgetMax) / kLeaseParts);
}

Result<std::unique_ptr<BudgetJournal>> BudgetJournal::open(const DatabaseOptions& options) {
  const std::string_view migrations[]{kSchema1, kSchema2};
  StoreResult<std::unique_ptr<Database>> opened = Database::open(options, migrations);
  if (!opened.ok()) return startup_error(opened.error());
  std::unique_ptr<BudgetJournal> journal(new BudgetJournal(std::move(opened).value()));
  if (const StoreResult<void> loaded = journal->load(); !loaded.ok()) {
    return startup_error(loaded.error());
  }
  return journal;
}

StoreResult<void> BudgetJournal::load() {
  const std::scoped_lock lock(mutex_);
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare("SELECT owner, id, kind, period, spent, tenant FROM budgets"));
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return {};
    const LimitField* const field = find_limit(row.text(2));
    const bool sound = field != nullptr && field->kind && row.integer(3) >= 0 &&
                       row.integer(3) <= kPeriodMax && row.integer(4) >= 0;
    if (!sound) continue;  // not written by this program: there is no such budget
    const auto owner = row.integer(0) == 0 ? LimitOwner::kKey : LimitOwner::kTenant;
    const Budget::Spent spent{static_cast<PeriodNumber>(row.integer(3)), number_at(row, 4)};
    found_[Place{owner, std::string(row.text(1)), *field->kind}] =
        Found{spent, TenantId{number_at(row, 5)}};
  }
}

// Schema 1 knew tenants by their names. What such a row says is taken over once; the next write is
// under the number.
BudgetJournal::FoundBudgets::iterator BudgetJournal::find_kept(const LimitIdentity& owner,
                                                               const Place& place) {
  const auto found = found_.find(place);
  if (found != found_.end() || owner.owner != LimitOwner::kTenant) return found;
  const auto named = found_.find(Place{owner.owner, owner.name, place.kind});
  return named != found_.end() && named->second.tenant == TenantId{} ? named : found_.end();
}

void BudgetJournal::attach(const Limiter::NewBudget& made) {
  const std::scoped_lock lock(mutex_);
  const Place place{made.owner->owner, made.owner->id, made.kind};
  Entry entry{made.budget, made.owner->tenant, budget_lease(made.limit), {}, {}};
  if (const auto known = entries_.find(place); known != entries_.end()) {
    if (known->second.budget == made.budget) {
      known->second.lease_changed |= known->second.lease != entry.lease;
      known->second.lease = entry.lease;
      return;
    }
    // The limiter had forgotten it in between.
    entry.seen = known->second.seen;
    entry.written = known->second.written;
    entry.budget->restore(known->second.budget->spent(), made.now);
  } else if (const auto found = find_kept(*made.owner, place); found != found_.end()) {
    entry.written = found->second.spent;
    entry.budget->restore(found->second.spent, made.now);
    entry.seen = entry.budget->spent();  // nothing is written before something is spent
    found_.erase(found);
  }
  entries_[place] = std::move(entry);
}

std::vector<BudgetJournal::Write> BudgetJournal::due() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Write> writes;
  for (const auto& [place, entry] : entries_) {
    const Budget::Spent spent = entry.budget->spent();
    if (spent == entry.seen && !entry.lease_changed) continue;
    const bool leased = !entry.lease_changed && spent.period == entry.written.period &&
                        spent.amount + entry.lease / 2 < entry.written.amount &&
                        spent.amount + 2 * entry.lease >= entry.written.amount;
    if (leased) continue;
    const std::uint64_t ahead = std::min(kBudgetMax, spent.amount + entry.lease);
    writes.push_back({place, entry.tenant, spent, {spent.period, ahead}});
  }
  return writes;
}

std::vector<BudgetJournal::Write> BudgetJournal::inexact() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Write> writes;
  for (const auto& [place, entry] : entries_) {
    const Budget::Spent spent = entry.budget->spent();
    if (spent == entry.written) continue;
    writes.push_back({place, entry.tenant, spent, spent});
  }
  return writes;
}

StoreResult<void> BudgetJournal::write(const std::vector<Write>& writes) {
  if (writes.empty()) return {};
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare("INSERT INTO budgets (owner, id, kind, period, spent, tenant) VALUES (?, "
                         "?, ?, ?, ?, ?) ON CONFLICT (owner, id, kind) DO UPDATE SET period = "
                         "excluded.period, spent = excluded.spent, tenant = excluded.tenant"));
  for (const Write& write : writes) {
    const std::int64_t owner = write.place.owner == LimitOwner::kKey ? 0 : 1;
    row.bind(owner, write.place.id, limit_field(write.place.kind).name,
             std::int64_t{write.written.period}, number_column(write.written.amount),
             number_column(write.tenant.value));
    ZH_RETURN_IF_ERROR(row.run());
  }
  ZH_RETURN_IF_ERROR(transaction.commit());
  const std::scoped_lock lock(mutex_);
  for (const Write& write : writes) {
    const auto entry = entries_.find(write.place);
    if (entry == entries_.end()) continue;
    entry->second.seen = write.seen;
    entry->second.written = write.written;
    entry->second.lease_changed = false;
  }
  return {};
}

StoreResult<void> BudgetJournal::write_behind() { return write(due()); }

StoreResult<void> BudgetJournal::write_exact() { return write(inexact()); }

// ---- deleting ----

// `gone(place, tenant)`
template <class Gone>
void BudgetJournal::drop(const Gone& gone) {
  const std::scoped_lock lock(mutex_);
  const auto of_entry = [&gone](const auto& one) { return gone(one.first, one.second.tenant); };
  std::erase_if(found_, of_entry);
  std::erase_if(entries_, of_entry);
}

StoreResult<std::int64_t> BudgetJournal::drop_over(CalendarTime now) {
  std::int64_t dropped = 0;
  ZH_ASSIGN_OR_RETURN(Statement rows,
                      database_->prepare("DELETE FROM budgets WHERE kind = ? AND period < ?"));
  for (const LimitField& field : limit_fields()) {
    const auto length = field.kind ? budget_period(*field.kind) : std::nullopt;
    if (!length) continue;
    const PeriodNumber present = now.of(*length);
    const PeriodNumber first_kept = present > 0 ? present - 1 : 0;
    ZH_RETURN_IF_ERROR(rows.bind(field.name, std::int64_t{first_kept}).run());
    dropped += database_->rows_changed();
    const std::scoped_lock lock(mutex_);
    std::erase_if(found_, [&](const auto& one) {
      return one.first.kind == *field.kind && one.second.spent.period < first_kept;
    });
  }
  return dropped;
}

StoreResult<void> BudgetJournal::erase(LimitOwner owner, std::string_view id) {
  drop(
      [owner, id](const Place& place, TenantId) { return place.owner == owner && place.id == id; });
  ZH_ASSIGN_OR_RETURN(Statement rows,
                      database_->prepare("DELETE FROM budgets WHERE owner = ? AND id = ?"));
  return rows.bind(std::int64_t{owner == LimitOwner::kKey ? 0 : 1}, id).run();
}

StoreResult<void> BudgetJournal::erase_tenant(TenantId tenant) {
  drop([tenant](const Place&, TenantId whose) { return whose == tenant; });
  ZH_ASSIGN_OR_RETURN(Statement rows, database_->prepare("DELETE FROM budgets WHERE tenant = ?"));
  return rows.bind(number_column(tenant.value)).run();
}

}  // namespace zerohop
