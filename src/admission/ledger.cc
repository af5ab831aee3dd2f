#include "admission/ledger.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "store/columns.h"

namespace zerohop {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::sys_days;

constexpr std::string_view kSchema1 = R"sql(
CREATE TABLE label_sets (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE usage (
  at_ms INTEGER NOT NULL,
  key TEXT NOT NULL,
  tenant TEXT NOT NULL,
  model TEXT NOT NULL,
  labels INTEGER NOT NULL REFERENCES label_sets (number),
  requests INTEGER NOT NULL,
  uncached_input INTEGER NOT NULL,
  cached_input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  money_micros INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_at ON usage (at_ms);
CREATE INDEX usage_tenant ON usage (tenant, at_ms);
)sql";

constexpr std::string_view kSchema2 = R"sql(
ALTER TABLE usage ADD COLUMN tenant_number INTEGER NOT NULL DEFAULT 0;
CREATE INDEX usage_tenant_number ON usage (tenant_number);
)sql";

constexpr std::int64_t kDayMs = 86'400'000;

// Labels as one text: name, kNameEnd, value, kPairEnd, and so on.
constexpr char kNameEnd = '\x1f';
constexpr char kPairEnd = '\x1e';

void append_cleaned(std::string& text, std::string_view part) {
  for (const char c : part) text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
}

std::string label_text(const LedgerLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    append_cleaned(text, name);
    text += kNameEnd;
    append_cleaned(text, value);
    text += kPairEnd;
  }
  return text;
}

std::string label_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kPairEnd), text.size());
    const std::string_view pair = text.substr(0, end);
    const std::size_t split = pair.find(kNameEnd);
    if (split != std::string_view::npos && pair.substr(0, split) == name) {
      return std::string(pair.substr(split + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

// The first millisecond that is not in front of `time`.
std::int64_t edge_ms(WallTime time) {
  if (time > WallTime::max() - milliseconds(1)) return ms_column(time) + 1;
  return ms_column(time + (milliseconds(1) - Duration(1)));
}

std::string day_text(std::int64_t day) {
  const std::chrono::year_month_day date{sys_days(days(day))};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

void add_to(LedgerRow& sum, const LedgerRow& row) {
  sum.requests += row.requests;
  sum.tokens.uncached_input += row.tokens.uncached_input;
  sum.tokens.cached_input += row.tokens.cached_input;
  sum.tokens.output += row.tokens.output;
  sum.money_micros += row.money_micros;
}

// One row for each day, key, tenant, model and labels.
std::vector<LedgerRow> condensed(std::vector<LedgerRow> rows) {
  using Place =
      std::tuple<std::int64_t, TenantId, std::string, std::string, std::string, LedgerLabels>;
  std::map<Place, LedgerRow> sums;
  for (LedgerRow& row : rows) {
    const std::int64_t day = std::chrono::floor<days>(row.at).time_since_epoch().count();
    const auto [place, made] =
        sums.try_emplace({day, row.tenant_number, row.key, row.tenant, row.model, row.labels}, row);
    if (!made) add_to(place->second, row);
  }
  std::vector<LedgerRow> kept;
  for (auto& [place, row] : sums) kept.push_back(std::move(row));
  return kept;
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const DatabaseOptions& options) {
  const std::string_view migrations[]{kSchema1, kSchema2};
  StoreResult<std::unique_ptr<Database>> opened = Database::open(options, migrations);
  if (!opened.ok()) return startup_error(opened.error());
  return std::unique_ptr<Ledger>(new Ledger(std::move(opened).value()));
}

void Ledger::add(LedgerRow row) {
  const std::scoped_lock lock(waiting_mutex_);
  if (erased_.contains(row.tenant_number)) return;
  waiting_.push_back(std::move(row));
  // Twice as many, so that rows which have all become one are not added up anew each time.
  if (waiting_.size() >= 2 * kLedgerRowsWaiting) waiting_ = condensed(std::move(waiting_));
}

std::size_t Ledger::waiting() const {
  const std::scoped_lock lock(waiting_mutex_);
  return waiting_.size();
}

// ---- writing ----

StoreResult<void> Ledger::write_behind() {
  const std::scoped_lock lock(database_mutex_);
  return write_waiting();
}

StoreResult<void> Ledger::write_waiting() {
  std::vector<LedgerRow> rows;
  {
    const std::scoped_lock lock(waiting_mutex_);
    rows.swap(waiting_);
  }
  StoreResult<void> written = insert(rows);
  if (written.ok()) return {};
  const std::scoped_lock lock(waiting_mutex_);
  rows.insert(rows.end(), std::make_move_iterator(waiting_.begin()),
              std::make_move_iterator(waiting_.end()));
  waiting_ = std::move(rows);
  return written;
}

StoreResult<void> Ledger::insert(const std::vector<LedgerRow>& rows) {
  if (rows.empty()) return {};
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  ZH_ASSIGN_OR_RETURN(
      Statement statement,
      database_->prepare("INSERT INTO usage (at_ms, key, tenant, model, labels, requests, "
                         "uncached_input, cached_input, output, money_micros, tenant_number) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  std::map<LedgerLabels, std::int64_t> label_sets;
  for (const LedgerRow& row : rows) {
    auto labels = label_sets.find(row.labels);
    if (labels == label_sets.end()) {
      ZH_ASSIGN_OR_RETURN(const std::int64_t number, label_set(row.labels));
      labels = label_sets.emplace(row.labels, number).first;
    }
    statement.bind(ms_column(row.at), row.key, row.tenant, row.model, labels->second,
                   number_column(row.requests), number_column(row.tokens.uncached_input),
                   number_column(row.tokens.cached_input), number_column(row.tokens.output),
                   number_column(row.money_micros), number_column(row.tenant_number.value));
    ZH_RETURN_IF_ERROR(statement.run());
  }
  return transaction.commit();
}

StoreResult<std::int64_t> Ledger::label_set(const LedgerLabels& labels) {
  const std::string text = label_text(labels);
  ZH_ASSIGN_OR_RETURN(Statement make, database_->prepare("INSERT OR IGNORE INTO label_sets (text) "
                                                         "VALUES (?)"));
  ZH_RETURN_IF_ERROR(make.bind(text).run());
  ZH_ASSIGN_OR_RETURN(Statement find,
                      database_->prepare("SELECT number FROM label_sets WHERE text = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, find.bind(text).step());
  if (!found) return StoreError{StoreFault::kCorrupt, "a row of the ledger vanished"};
  return find.integer(0);
}

// ---- reading ----

Result<std::vector<LedgerSum>> Ledger::sums(const LedgerQuery& query) {
  const std::scoped_lock lock(database_mutex_);
  if (const StoreResult<void> written = write_waiting(); !written.ok()) {
    return client_error(written.error());
  }
  StoreResult<std::vector<LedgerSum>> sums = read(query);
  if (!sums.ok()) return client_error(sums.error());
  if (sums->size() > kLedgerRowsMax) {
    return invalid_request("", "more than " + std::to_string(kLedgerRowsMax) +
                                   " sums; ask for a shorter time or keep less apart");
  }
  return std::move(sums).value();
}

StoreResult<std::vector<LedgerSum>> Ledger::read(const LedgerQuery& query) {
  std::string sql =
      "SELECT key, tenant, model, text, at_ms / " + std::to_string(kDayMs) +
      " AS day, sum(requests), sum(uncached_input), sum(cached_input), sum(output), "
      "sum(money_micros), tenant_number FROM usage JOIN label_sets ON labels = number "
      "WHERE at_ms >= ?1 AND at_ms < ?2 AND (?3 = 0 OR key = ?4) AND (?5 = 0 OR tenant = ?6) "
      "GROUP BY day, tenant, tenant_number, key, model, text";
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare(sql));
  row.bind(edge_ms(query.from), edge_ms(query.until), std::int64_t{query.key.has_value()},
           query.key.value_or(""), std::int64_t{query.tenant.has_value()},
           query.tenant.value_or(""));
  // SQL has summed up what differs in nothing; labels and what is not kept apart are summed here.
  using Place = std::tuple<std::string, std::string, TenantId, std::string, std::string,
                           std::vector<std::string>>;
  std::map<Place, LedgerSum> sums;
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more || sums.size() > kLedgerRowsMax) break;
    LedgerSum one;
    if (query.by.key) one.key = std::string(row.text(0));
    if (query.by.tenant) {
      one.tenant = std::string(row.text(1));
      one.tenant_number = TenantId{number_at(row, 10)};
    }
    if (query.by.model) one.model = std::string(row.text(2));
    if (query.by.day) one.day = day_text(row.integer(4));
    for (const std::string& name : query.by.labels) {
      one.labels.push_back(label_value(row.text(3), name));
    }
    const Place place{one.day, one.tenant, one.tenant_number, one.key, one.model, one.labels};
    LedgerSum& sum = sums.try_emplace(place, std::move(one)).first->second;
    const auto number = [&row](int at) { return number_at(row, at); };
    sum.requests += number(5);
    sum.tokens.uncached_input += number(6);
    sum.tokens.cached_input += number(7);
    sum.tokens.output += number(8);
    sum.money_micros += number(9);
  }
  std::vector<LedgerSum> all;
  all.reserve(sums.size());
  for (auto& [place, sum] : sums) all.push_back(std::move(sum));
  return all;
}

StoreResult<std::optional<WallTime>> Ledger::newest() {
  const std::scoped_lock lock(database_mutex_);
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare("SELECT max(at_ms) FROM usage"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.step());
  return found ? time_or_null_at(row, 0) : std::nullopt;
}

// ---- deleting ----

StoreResult<std::int64_t> Ledger::drop_before(WallTime before) {
  const std::scoped_lock lock(database_mutex_);
  ZH_RETURN_IF_ERROR(write_waiting());
  ZH_ASSIGN_OR_RETURN(Statement rows, database_->prepare("DELETE FROM usage WHERE at_ms < ?"));
  ZH_RETURN_IF_ERROR(rows.bind(edge_ms(before)).run());
  return database_->rows_changed();
}

StoreResult<std::int64_t> Ledger::adopt(const OwnerOf& owner_of) {
  const std::scoped_lock lock(database_mutex_);
  ZH_ASSIGN_OR_RETURN(Transaction transaction, database_->begin());
  std::vector<std::pair<std::string, std::string>> owners;  // key, name of the tenant
  {
    ZH_ASSIGN_OR_RETURN(Statement row,
                        database_->prepare("SELECT DISTINCT key, tenant FROM usage WHERE "
                                           "tenant_number = 0 AND key != ''"));
    while (true) {
      ZH_ASSIGN_OR_RETURN(const bool more, row.step());
      if (!more) break;
      owners.emplace_back(row.text(0), row.text(1));
    }
  }
  ZH_ASSIGN_OR_RETURN(Statement change,
                      database_->prepare("UPDATE usage SET tenant_number = ? WHERE tenant_number = "
                                         "0 AND key = ? AND tenant = ?"));
  std::int64_t adopted = 0;
  for (const auto& [key, tenant] : owners) {
    const std::optional<TenantId> number = owner_of(key, tenant);
    if (!number) continue;
    ZH_RETURN_IF_ERROR(change.bind(number_column(number->value), key, tenant).run());
    adopted += database_->rows_changed();
  }
  ZH_RETURN_IF_ERROR(transaction.commit());
  return adopted;
}

StoreResult<std::int64_t> Ledger::erase_tenant(TenantId tenant) {
  const std::scoped_lock lock(database_mutex_);
  {
    const std::scoped_lock waiting_lock(waiting_mutex_);
    erased_.insert(tenant);
    std::erase_if(waiting_, [tenant](const LedgerRow& row) { return row.tenant_number == tenant; });
  }
  ZH_ASSIGN_OR_RETURN(Statement rows,
                      database_->prepare("DELETE FROM usage WHERE tenant_number = ?"));
  ZH_RETURN_IF_ERROR(rows.bind(number_column(tenant.value)).run());
  return database_->rows_changed();
}

}  // namespace zerohop
