#include "constrain/mask_store.h"

#include <iterator>
#include <utility>

#include "base/random.h"

namespace zerohop {

std::size_t KeptMask::memory_bytes() const {
  return sizeof(KeptMask) + mask.memory_bytes() + needs.capacity() * sizeof(Need) +
         allowed.capacity() + others.memory_bytes();
}

std::size_t MaskStore::KeyHash::operator()(const MaskKey& key) const {
  const std::uint64_t place = std::uint64_t{key.state} << 32 | key.characters;
  const std::uint64_t kind = std::uint64_t{key.coding} << 8 | static_cast<std::uint64_t>(key.kind);
  return mix64(mix64(mix64(key.owner) ^ place) ^ kind);
}

std::shared_ptr<const KeptMask> MaskStore::find(const MaskKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->mask;
}

std::shared_ptr<const KeptMask> MaskStore::keep(const MaskKey& key, KeptMask mask) {
  auto shared = std::make_shared<const KeptMask>(std::move(mask));
  // What the list and the table take for an entry.
  constexpr std::size_t kOverhead = sizeof(Entry) + 2 * sizeof(MaskKey) + 64;
  const std::size_t bytes = shared->memory_bytes() + kOverhead;
  if (const auto old = entries_.find(key); old != entries_.end()) drop(old->second);
  if (bytes > bytes_max_) return shared;
  while (bytes_ + bytes > bytes_max_) drop(std::prev(order_.end()));
  order_.push_front({key, shared, bytes});
  entries_.emplace(key, order_.begin());
  bytes_ += bytes;
  return shared;
}

void MaskStore::forget_machine(std::uint64_t machine_id) {
  for (auto entry = order_.begin(); entry != order_.end();) {
    const auto next = std::next(entry);
    const MaskKey& key = entry->key;
    const bool of_machine = key.kind == MaskKey::Kind::kWhole || key.kind == MaskKey::Kind::kSuffix;
    if (of_machine && key.owner == machine_id) drop(entry);
    entry = next;
  }
}

void MaskStore::drop(Order::iterator entry) {
  bytes_ -= entry->bytes;
  entries_.erase(entry->key);
  order_.erase(entry);
}

}  // namespace zerohop
