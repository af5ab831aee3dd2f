// KeyRing: all keys of a store in memory, for the door to look into. Immutable; a change of the
// store makes a new ring, and requests that hold the old one go on with it.
//
//   text ─ HMAC ─→ hash ─ its first 8 bytes: place in the index ─→ records to compare hashes with
//
// A lookup costs 0.5 µs, 0.8 with 100,000 keys, whether the key is known or not: mostly the hash
// (key_ring_bench.cc). Comparison is in constant time, and where it happens depends on a hash that
// nobody outside can compute (key_text.h).
//
// Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/key_records.h"

namespace zerohop {

/// Everything that a store holds.
struct KeyStoreContents {
  std::string secret;  ///< of the hashes
  std::vector<TenantRecord> tenants;
  std::vector<KeyRecord> keys;  ///< each of one of `tenants`, in the order of their numbers
  /// Numbers of tenants that were erased: whatever else is kept of them has to go.
  std::vector<TenantId> erased_tenants;
  /// There was a key once. A store whose last key was revoked or dropped lets nobody in.
  bool had_keys = false;
};

enum class KeyVerdict : std::uint8_t {
  kGood,
  kUnknown,
  kRevoked,
  kExpired,
};

/// Pointers live as long as the ring.
struct KeyLookup {
  KeyVerdict verdict = KeyVerdict::kUnknown;
  const KeyRecord* key = nullptr;        ///< null for kUnknown
  const TenantRecord* tenant = nullptr;  ///< likewise
};

class KeyRing {
 public:
  explicit KeyRing(KeyStoreContents contents);

  /// `now` decides about expiry. A key that this ring has once found expired stays so, whatever the
  /// clock does afterwards.
  KeyLookup find(std::string_view text, WallTime now) const;

  /// The same of the key that is named so, for whoever has proved its name otherwise (by a
  /// certificate). kUnknown where several keys that are good have the name.
  KeyLookup find_named(std::string_view name, WallTime now) const;
  /// The same of a key by its number, for what it has left behind (a message batch).
  KeyLookup find_key(KeyId number, WallTime now) const;

  /// Whether keys are asked for where the configuration leaves it to the store.
  bool had_keys() const { return contents_.had_keys; }
  std::size_t size() const { return contents_.keys.size(); }
  const std::vector<TenantRecord>& tenants() const { return contents_.tenants; }
  const std::vector<KeyRecord>& keys() const { return contents_.keys; }
  const std::vector<TenantId>& erased_tenants() const { return contents_.erased_tenants; }
  /// Null: it is no more.
  const TenantRecord* find_tenant(TenantId number) const;

 private:
  std::size_t place_of(const KeyHash& hash) const;
  KeyLookup judge(std::size_t index, WallTime now) const;

  const KeyStoreContents contents_;
  const KeyHasher hasher_;
  std::vector<std::uint32_t> places_;  // open addressing: index of a key + 1; 0: nobody
  std::unordered_multimap<std::string_view, std::uint32_t> named_;  // index of each with a name
  std::vector<std::uint32_t> tenant_of_;            // of each key, its index in contents_.tenants
  mutable std::vector<std::atomic<bool>> expired_;  // of each key, once seen
};

/// The ring in force. Readers take it, a reload swaps it: both for the time of a pointer's copy.
class KeyRingSlot {
 public:
  explicit KeyRingSlot(std::shared_ptr<const KeyRing> ring) : ring_(std::move(ring)) {}

  std::shared_ptr<const KeyRing> get() const {
    const std::scoped_lock lock(mutex_);
    return ring_;
  }
  void set(std::shared_ptr<const KeyRing> ring) {
    const std::scoped_lock lock(mutex_);
    ring_.swap(ring);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeyRing> ring_;  // guarded by mutex_; never null
};

}  // namespace zerohop
