#include "admission/key_store.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "admission/key_rows.h"
#include "base/check.h"
#include "base/hex.h"
#include "base/random.h"

namespace zerohop {
namespace {

// Times in milliseconds since 1970. Numbers are never used again (AUTOINCREMENT), so that whoever
// kept one of an erased tenant or key never means another. `secrets` has one row.
constexpr std::string_view kSchema1 = R"sql(
CREATE TABLE secrets (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE TABLE tenants (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  weight_permille INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  pool TEXT NOT NULL,
  models TEXT NOT NULL
) STRICT;
CREATE TABLE erased_tenants (
  number INTEGER PRIMARY KEY
) STRICT;
CREATE TABLE keys (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant INTEGER NOT NULL REFERENCES tenants (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  shown TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER
) STRICT;
CREATE INDEX keys_of_tenant ON keys (tenant);
CREATE TABLE limits (
  owner INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner, number, name)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER erase_tenant AFTER DELETE ON tenants BEGIN
  INSERT INTO erased_tenants (number) VALUES (OLD.number);
  DELETE FROM limits WHERE owner = 1 AND number = OLD.number;
END;
CREATE TRIGGER erase_key AFTER DELETE ON keys BEGIN
  DELETE FROM limits WHERE owner = 2 AND number = OLD.number;
END;
)sql";

constexpr std::string_view kSchema2 = R"sql(
ALTER TABLE tenants ADD COLUMN overload_status INTEGER;
)sql";

constexpr std::size_t kIdCharacters = 16;

// Where numbers begin, and how far apart they are at most. 2^48 + 2^29 steps are below 2^53, up to
// which numbers of JSON are exact.
constexpr std::uint64_t kFirstNumbers = std::uint64_t{1} << 48;
constexpr std::uint64_t kNumberSteps = std::uint64_t{1} << 22;

// For the operator, who alone works on the store: with the file and the reason.
Error operator_error(const StoreError& error) {
  Error shown = client_error(error);
  if (shown.code == ErrorCode::kInternal) shown.code = ErrorCode::kConfiguration;
  shown.message = error.message;
  return shown;
}

Error no_key(std::string_view key) {
  // A secret that was mistyped is nearly a secret.
  const bool secret = key.starts_with(kKeyMark);
  return Error{ErrorCode::kNotFound,
               secret ? "no key has that text" : "no key has the id '" + std::string(key) + "'",
               "key",
               {}};
}

Error no_tenant(std::string_view name) {
  return Error{
      ErrorCode::kNotFound, "no tenant has the name '" + std::string(name) + "'", "tenant", {}};
}

Result<void> make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code fault;
  if (!folder.empty()) std::filesystem::create_directories(folder, fault);
  if (!fault) return {};
  return Error{ErrorCode::kConfiguration,
               "store \"" + path + "\": its folder cannot be made: " + fault.message(),
               "",
               {}};
}

}  // namespace

/// Hands a StoreError on to the operator.
#define ZH_STORED(declaration, expression)                        \
  auto ZH_CONCAT(zh_kept_, __LINE__) = (expression);              \
  if (!ZH_CONCAT(zh_kept_, __LINE__).ok()) {                      \
    return operator_error(ZH_CONCAT(zh_kept_, __LINE__).error()); \
  }                                                               \
  declaration = std::move(ZH_CONCAT(zh_kept_, __LINE__)).value()

#define ZH_STORED_OR_RETURN(expression)                        \
  do {                                                         \
    const auto zh_kept = (expression);                         \
    if (!zh_kept.ok()) return operator_error(zh_kept.error()); \
  } while (false)

Result<std::unique_ptr<KeyStore>> KeyStore::open(const std::string& path, OpenRule rule) {
  if (rule == OpenRule::kMake) ZH_RETURN_IF_ERROR(make_folder_of(path));
  DatabaseOptions options;
  options.path = path;
  options.durability = Durability::kPower;
  options.rule = rule;
  const std::string_view migrations[]{kSchema1, kSchema2};
  ZH_STORED(std::unique_ptr<Database> database, Database::open(options, migrations));
  std::unique_ptr<KeyStore> store(new KeyStore(std::move(database)));
  ZH_STORED_OR_RETURN(store->make_secret());
  return store;
}

// ---- reading ----

// Two processes may come here at once; the first one's secret stays.
StoreResult<void> KeyStore::make_secret() {
  ZH_ASSIGN_OR_RETURN(const std::string known, secret());
  if (!known.empty()) return {};
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare("INSERT OR IGNORE INTO secrets VALUES ('key hash', ?)"));
  return row.bind(os_random_text(kKeySecretCharacters)).run();
}

StoreResult<std::string> KeyStore::secret() {
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare("SELECT value FROM secrets WHERE name = 'key hash'"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.step());
  if (!found) return std::string();
  std::string value(row.text(0));
  return value;
}

StoreResult<bool> KeyStore::had_keys() {
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare("SELECT seq FROM sqlite_sequence WHERE name = 'keys'"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.step());
  return found && row.integer(0) > 0;
}

StoreResult<std::vector<TenantRecord>> KeyStore::tenants(const AllLimits& limits) {
  std::vector<TenantRecord> all;
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare(std::string("SELECT ") + kTenantColumns +
                                                        " FROM tenants ORDER BY number"));
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return all;
    ZH_ASSIGN_OR_RETURN(TenantRecord tenant, read_tenant(row));
    const auto own = limits.find({LimitRowOwner::kTenant, row.integer(0)});
    if (own != limits.end()) tenant.limits = own->second;
    all.push_back(std::move(tenant));
  }
}

StoreResult<std::vector<TenantId>> KeyStore::erased_tenants() {
  std::vector<TenantId> all;
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare("SELECT number FROM erased_tenants"));
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return all;
    all.push_back(TenantId{static_cast<std::uint64_t>(row.integer(0))});
  }
}

StoreResult<std::vector<KeyRecord>> KeyStore::keys(const AllLimits& limits) {
  std::vector<KeyRecord> all;
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare(std::string("SELECT ") + kKeyColumns +
                                                        " FROM keys ORDER BY number"));
  while (true) {
    ZH_ASSIGN_OR_RETURN(const bool more, row.step());
    if (!more) return all;
    ZH_ASSIGN_OR_RETURN(KeyRecord key, read_key(row));
    const auto own = limits.find({LimitRowOwner::kKey, row.integer(0)});
    if (own != limits.end()) key.limits = own->second;
    all.push_back(std::move(key));
  }
}

Result<KeyStoreContents> KeyStore::read() {
  KeyStoreContents contents;
  ZH_STORED(const Transaction moment, database_->begin_reading());
  ZH_STORED(contents.secret, secret());
  ZH_STORED(const AllLimits limits, read_all_limits(*database_));
  ZH_STORED(contents.tenants, tenants(limits));
  ZH_STORED(contents.keys, keys(limits));
  ZH_STORED(contents.erased_tenants, erased_tenants());
  ZH_STORED(contents.had_keys, had_keys());
  if (contents.secret.size() != kKeySecretCharacters) {
    return operator_error({StoreFault::kCorrupt, "the key store has lost its secret"});
  }
  return contents;
}

Result<std::int64_t> KeyStore::data_version() {
  ZH_STORED(const std::int64_t version, database_->data_version());
  return version;
}

// ---- keys ----

StoreResult<std::int64_t> KeyStore::count_keys() {
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare("SELECT count(*) FROM keys"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.step());
  ZH_CHECK(found);
  return row.integer(0);
}

// For a new row: above every number that the table has ever had, in this file.
StoreResult<std::int64_t> KeyStore::next_number(std::string_view table) {
  ZH_ASSIGN_OR_RETURN(Statement row,
                      database_->prepare("SELECT seq FROM sqlite_sequence WHERE name = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.bind(table).step());
  const std::uint64_t last = found ? number_at(row, 0) : 0;
  // Files of earlier versions counted from 1.
  const std::uint64_t from =
      last >= kFirstNumbers / 2 ? last : kFirstNumbers / 2 + os_random_seed() % kFirstNumbers;
  return number_column(from + 1 + os_random_seed() % kNumberSteps);
}

StoreResult<KeyRecord> KeyStore::insert_key(KeyRecord key) {
  ZH_ASSIGN_OR_RETURN(const std::int64_t number, next_number("keys"));
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare("INSERT INTO keys (id, tenant, name, shown, hash, created_ms, expires_ms, "
                         "number) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(key.id, number_column(key.tenant.value), key.name, key.shown, hex_of(key.hash),
           ms_column(key.created_at), ms_column(key.expires_at), number);
  ZH_RETURN_IF_ERROR(row.run());
  key.number = KeyId{static_cast<std::uint64_t>(number)};
  ZH_RETURN_IF_ERROR(write_limits(*database_, {LimitRowOwner::kKey, number}, key.limits));
  return key;
}

Result<MadeKey> KeyStore::create_key(const NewKey& wanted, WallTime now) {
  ZH_RETURN_IF_ERROR(check_key_name(wanted.name));
  ZH_RETURN_IF_ERROR(check_limits(wanted.limits, "limits"));
  if (wanted.expires_at && *wanted.expires_at <= now) {
    return invalid_request("expires_at", "expires_at: is not in the future");
  }
  ZH_STORED(Transaction transaction, database_->begin());
  ZH_STORED(std::optional<TenantRecord> tenant, find_tenant(wanted.tenant));
  if (!tenant && wanted.tenant == kDefaultTenantName) {
    ZH_STORED(tenant, store_tenant(TenantRecord{}));
  }
  if (!tenant) return no_tenant(wanted.tenant);
  ZH_STORED(const std::int64_t count, count_keys());
  if (static_cast<std::size_t>(count) >= kKeysMax) {
    return invalid_request("", "a store holds at most " + std::to_string(kKeysMax) + " keys");
  }
  ZH_STORED(const std::string hash_secret, secret());
  MadeKey made;
  made.text = make_key_text();
  made.record.id = "key_" + os_random_text(kIdCharacters);
  made.record.tenant = tenant->number;
  made.record.name = wanted.name;
  made.record.shown = made.text.substr(0, kKeyShownCharacters);
  made.record.hash = KeyHasher(hash_secret).hash(made.text);
  made.record.created_at = now;
  made.record.expires_at = wanted.expires_at;
  made.record.limits = wanted.limits;
  ZH_STORED(made.record, insert_key(std::move(made.record)));
  ZH_STORED_OR_RETURN(transaction.commit());
  return made;
}

StoreResult<std::optional<KeyRecord>> KeyStore::find_key(std::string_view key) {
  const bool by_text = is_key_text(key);
  std::string wanted(key);
  if (by_text) {
    ZH_ASSIGN_OR_RETURN(const std::string hash_secret, secret());
    wanted = hex_of(KeyHasher(hash_secret).hash(key));
  }
  ZH_ASSIGN_OR_RETURN(
      Statement row, database_->prepare(std::string("SELECT ") + kKeyColumns + " FROM keys WHERE " +
                                        (by_text ? "hash" : "id") + " = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.bind(wanted).step());
  if (!found) return std::optional<KeyRecord>();
  ZH_ASSIGN_OR_RETURN(KeyRecord record, read_key(row));
  ZH_ASSIGN_OR_RETURN(record.limits,
                      read_limits(*database_, {LimitRowOwner::kKey, row.integer(0)}));
  return std::optional<KeyRecord>(std::move(record));
}

Result<KeyRecord> KeyStore::revoke_key(std::string_view key, WallTime now) {
  ZH_STORED(Transaction transaction, database_->begin());
  ZH_STORED(std::optional<KeyRecord> record, find_key(key));
  if (!record) return no_key(key);
  if (record->revoked_at) return std::move(*record);
  record->revoked_at = now;
  ZH_STORED(Statement row, database_->prepare("UPDATE keys SET revoked_ms = ? WHERE number = ?"));
  row.bind(ms_column(now), number_column(record->number.value));
  ZH_STORED_OR_RETURN(row.run());
  ZH_STORED_OR_RETURN(transaction.commit());
  return std::move(*record);
}

Result<KeyRecord> KeyStore::change_key_limits(std::string_view key,
                                              const std::function<void(Limits&)>& change) {
  ZH_STORED(Transaction transaction, database_->begin());
  ZH_STORED(std::optional<KeyRecord> record, find_key(key));
  if (!record) return no_key(key);
  change(record->limits);
  ZH_RETURN_IF_ERROR(check_limits(record->limits, "limits"));
  const LimitPlace place{LimitRowOwner::kKey, number_column(record->number.value)};
  ZH_STORED_OR_RETURN(write_limits(*database_, place, record->limits));
  ZH_STORED_OR_RETURN(transaction.commit());
  return std::move(*record);
}

// ---- tenants ----

StoreResult<std::optional<TenantRecord>> KeyStore::find_tenant(std::string_view name) {
  ZH_ASSIGN_OR_RETURN(Statement row, database_->prepare(std::string("SELECT ") + kTenantColumns +
                                                        " FROM tenants WHERE name = ?"));
  ZH_ASSIGN_OR_RETURN(const bool found, row.bind(name).step());
  if (!found) return std::optional<TenantRecord>();
  ZH_ASSIGN_OR_RETURN(TenantRecord tenant, read_tenant(row));
  ZH_ASSIGN_OR_RETURN(tenant.limits,
                      read_limits(*database_, {LimitRowOwner::kTenant, row.integer(0)}));
  return std::optional<TenantRecord>(std::move(tenant));
}

StoreResult<TenantRecord> KeyStore::store_tenant(TenantRecord tenant) {
  ZH_ASSIGN_OR_RETURN(const std::int64_t unused, next_number("tenants"));
  ZH_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare("INSERT INTO tenants (name, weight_permille, priority, pool, models, "
                         "overload_status, number) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT "
                         "(name) DO UPDATE SET weight_permille = ?2, priority = ?3, pool = ?4, "
                         "models = ?5, overload_status = ?6 RETURNING number"));
  row.bind(tenant.name, permille_of(tenant.weight), static_cast<std::int64_t>(tenant.priority),
           tenant.pool, joined(tenant.models), std::optional<std::int64_t>(tenant.overload_status),
           unused);
  ZH_ASSIGN_OR_RETURN(const bool stored, row.step());
  ZH_CHECK(stored);
  const std::int64_t number = row.integer(0);
  ZH_ASSIGN_OR_RETURN(const bool more, row.step());
  ZH_CHECK(!more);
  tenant.number = TenantId{static_cast<std::uint64_t>(number)};
  ZH_RETURN_IF_ERROR(write_limits(*database_, {LimitRowOwner::kTenant, number}, tenant.limits));
  return tenant;
}

Result<TenantRecord> KeyStore::change_tenant(std::string_view name,
                                             const std::function<void(TenantRecord&)>& change) {
  ZH_STORED(Transaction transaction, database_->begin());
  ZH_STORED(std::optional<TenantRecord> found, find_tenant(name));
  TenantRecord tenant = found ? std::move(*found) : TenantRecord{};
  change(tenant);
  tenant.name = std::string(name);
  ZH_RETURN_IF_ERROR(check_tenant(tenant));
  ZH_STORED(tenant, store_tenant(std::move(tenant)));
  ZH_STORED_OR_RETURN(transaction.commit());
  return tenant;
}

Result<std::size_t> KeyStore::erase_tenant(std::string_view name) {
  ZH_STORED(Transaction transaction, database_->begin());
  ZH_STORED(const std::optional<TenantRecord> tenant, find_tenant(name));
  if (!tenant) return no_tenant(name);
  const auto number = number_column(tenant->number.value);
  ZH_STORED(Statement keys, database_->prepare("DELETE FROM keys WHERE tenant = ?"));
  ZH_STORED_OR_RETURN(keys.bind(number).run());
  const std::int64_t count = database_->rows_changed();
  ZH_STORED(Statement row, database_->prepare("DELETE FROM tenants WHERE number = ?"));
  ZH_STORED_OR_RETURN(row.bind(number).run());
  ZH_STORED_OR_RETURN(transaction.commit());
  return static_cast<std::size_t>(count);
}

// ---- keeping ----

Result<std::size_t> KeyStore::drop_ended(WallTime before) {
  ZH_STORED(Statement row, database_->prepare("DELETE FROM keys WHERE revoked_ms < ?1 OR "
                                              "expires_ms < ?1"));
  ZH_STORED_OR_RETURN(row.bind(ms_column(before)).run());
  return static_cast<std::size_t>(database_->rows_changed());
}

Result<void> KeyStore::backup_to(const std::string& path) {
  ZH_STORED_OR_RETURN(database_->backup_to(path));
  return {};
}

}  // namespace zerohop
