#include "admission/key_ring.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/check.h"

namespace zerohop {

KeyRing::KeyRing(KeyStoreContents contents)
    : contents_(std::move(contents)), hasher_(contents_.secret), expired_(contents_.keys.size()) {
  std::size_t places = 16;
  while (places < 2 * contents_.keys.size()) places *= 2;
  places_.resize(places);
  std::unordered_map<TenantId, std::uint32_t> tenants;
  for (std::uint32_t i = 0; i < contents_.tenants.size(); ++i) {
    tenants.emplace(contents_.tenants[i].number, i);
  }
  for (std::uint32_t i = 0; i < contents_.keys.size(); ++i) {
    const KeyRecord& key = contents_.keys[i];
    const auto tenant = tenants.find(key.tenant);
    ZH_CHECK(tenant != tenants.end());
    tenant_of_.push_back(tenant->second);
    if (!key.name.empty()) named_.emplace(key.name, i);
    std::size_t place = place_of(key.hash);
    while (places_[place] != 0) place = (place + 1) % places_.size();
    places_[place] = i + 1;
  }
}

std::size_t KeyRing::place_of(const KeyHash& hash) const {
  std::uint64_t begin = 0;
  std::memcpy(&begin, hash.data(), sizeof begin);
  return begin % places_.size();
}

KeyLookup KeyRing::find(std::string_view text, WallTime now) const {
  if (!is_key_text(text)) return {};
  const KeyHash hash = hasher_.hash(text);
  for (std::size_t place = place_of(hash); places_[place] != 0;
       place = (place + 1) % places_.size()) {
    const std::size_t index = places_[place] - 1;
    if (same_hash(contents_.keys[index].hash, hash)) return judge(index, now);
  }
  return {};
}

KeyLookup KeyRing::find_key(KeyId number, WallTime now) const {
  const auto found = std::ranges::lower_bound(contents_.keys, number, {}, &KeyRecord::number);
  if (found == contents_.keys.end() || found->number != number) return {};
  return judge(static_cast<std::size_t>(found - contents_.keys.begin()), now);
}

// A name that was used again after its key was revoked means the new one.
KeyLookup KeyRing::find_named(std::string_view name, WallTime now) const {
  KeyLookup only;
  const auto [begin, end] = named_.equal_range(name);
  for (auto at = begin; at != end; ++at) {
    const KeyLookup found = judge(at->second, now);
    if (found.verdict != KeyVerdict::kGood) {
      if (only.key == nullptr) only = found;
      continue;
    }
    if (only.verdict == KeyVerdict::kGood) return {};
    only = found;
  }
  return only;
}

const TenantRecord* KeyRing::find_tenant(TenantId number) const {
  for (const TenantRecord& tenant : contents_.tenants) {
    if (tenant.number == number) return &tenant;
  }
  return nullptr;
}

KeyLookup KeyRing::judge(std::size_t index, WallTime now) const {
  const KeyRecord& key = contents_.keys[index];
  KeyLookup found{KeyVerdict::kGood, &key, &contents_.tenants[tenant_of_[index]]};
  if (key.revoked_at) {
    found.verdict = KeyVerdict::kRevoked;
    return found;
  }
  if (!key.expires_at) return found;
  std::atomic<bool>& expired = expired_[index];
  if (now >= *key.expires_at) expired.store(true, std::memory_order_relaxed);
  if (expired.load(std::memory_order_relaxed)) found.verdict = KeyVerdict::kExpired;
  return found;
}

}  // namespace zerohop
