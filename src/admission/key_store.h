// The keys and tenants of a server, in one SQLite file that only its owner may read. Texts of keys
// are not in it (key_text.h).
//
//   key:     made ──▶ good ──▶ revoked ──(retention)──▶ dropped
//                       └────▶ expired ──(retention)──▶ dropped
//   tenant:  put ──▶ put again … ──▶ erased with all its keys
//
// What else is kept of tenants and keys (usage, budgets, message batches) knows them by their
// numbers, which outlive the file: it may be replaced by a new one, or by an older copy of itself.
// So numbers begin at a random one and grow by random steps, and no other tenant gets one that was
// used, in whichever file.
//
// Every change is one transaction that survives a loss of power, because a revocation must not come
// undone: hence a rollback journal and not a write-ahead log (store/database.h). Some milliseconds
// a change, and nothing of it is on the path of a request: the server reads everything into a
// KeyRing and looks once a second whether another process has changed the file (data_version()).
//
// Errors of every call beside its own, always with the file and the reason: kOverloaded when the
// disk is full or another process holds the file, kConfiguration when the file fails; nothing was
// changed then. One thread at a time; calls wait for the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_records.h"
#include "admission/key_ring.h"
#include "admission/key_rows.h"
#include "base/clock.h"
#include "core/error.h"
#include "store/database.h"

namespace zerohop {

struct NewKey {
  std::string tenant{kDefaultTenantName};  ///< this one is made where it is missing, no other
  std::string name;                        ///< for people; may be empty
  std::optional<WallTime> expires_at;
  Limits limits;
};

struct MadeKey {
  std::string text;  ///< nowhere else, and not again
  KeyRecord record;
};

class KeyStore {
 public:
  /// Opens the file; makes it and its folder where `rule` allows. Errors: kConfiguration.
  static Result<std::unique_ptr<KeyStore>> open(const std::string& path,
                                                OpenRule rule = OpenRule::kMake);

  // ---- reading ----

  /// Everything, as of one moment.
  Result<KeyStoreContents> read();

  /// A number that changes whenever somebody else has changed the file.
  Result<std::int64_t> data_version();
  /// A number that changes whenever this store has changed something itself.
  std::int64_t own_changes() const { return database_->total_changes(); }

  // ---- keys ----

  /// Errors: kNotFound (no such tenant), kInvalidRequest (the name, the limits, an expiry that is
  /// not after `now`, too many keys).
  Result<MadeKey> create_key(const NewKey& wanted, WallTime now);

  /// `key` is an id, or the text of the key itself: of one that leaked, often nothing else is
  /// known. A key that is revoked already stays as it is. Errors: kNotFound.
  Result<KeyRecord> revoke_key(std::string_view key, WallTime now);

  /// Gives a key the limits that `change` makes of its own. Errors: kNotFound, kInvalidRequest.
  Result<KeyRecord> change_key_limits(std::string_view key,
                                      const std::function<void(Limits&)>& change);

  // ---- tenants ----

  /// Makes the tenant of that name, or changes it. Errors: kInvalidRequest, with the field.
  Result<TenantRecord> change_tenant(std::string_view name,
                                     const std::function<void(TenantRecord&)>& change);

  /// The tenant goes with all its keys; its number is remembered, so that who keeps other things
  /// of it (message batches) lets them go. The number of keys. Errors: kNotFound.
  Result<std::size_t> erase_tenant(std::string_view name);

  // ---- keeping ----

  /// Drops keys that were revoked or expired before `before`; how many.
  Result<std::size_t> drop_ended(WallTime before);

  /// A copy as of now in a new file; the store stays in use. Errors: kConfiguration where `path` is
  /// taken or cannot be written.
  Result<void> backup_to(const std::string& path);

 private:
  explicit KeyStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  StoreResult<void> make_secret();
  StoreResult<std::string> secret();
  StoreResult<bool> had_keys();
  StoreResult<std::vector<TenantRecord>> tenants(const AllLimits& limits);
  StoreResult<std::vector<KeyRecord>> keys(const AllLimits& limits);
  StoreResult<std::vector<TenantId>> erased_tenants();
  StoreResult<std::optional<TenantRecord>> find_tenant(std::string_view name);
  StoreResult<std::optional<KeyRecord>> find_key(std::string_view key);
  StoreResult<TenantRecord> store_tenant(TenantRecord tenant);
  StoreResult<KeyRecord> insert_key(KeyRecord key);
  StoreResult<std::int64_t> next_number(std::string_view table);
  StoreResult<std::int64_t> count_keys();

  const std::unique_ptr<Database> database_;
};

/// Keys of one store, ended ones included: all are in memory, at some 500 bytes each.
inline constexpr std::size_t kKeysMax = 1'000'000;

}  // namespace zerohop
