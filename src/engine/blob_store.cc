#include "engine/blob_store.h"

#include <utility>

namespace zerohop {

void BlobStore::put(BlobId id, std::vector<std::byte> bytes) {
  std::vector<std::byte>& place = blobs_[id];
  total_bytes_ = total_bytes_ - place.size() + bytes.size();
  place = std::move(bytes);
}

void BlobStore::forget(BlobId id) {
  const auto found = blobs_.find(id);
  if (found == blobs_.end()) return;
  total_bytes_ -= found->second.size();
  blobs_.erase(found);
}

std::span<const std::byte> BlobStore::bytes(BlobId id) const {
  const auto found = blobs_.find(id);
  if (found == blobs_.end()) return {};
  return found->second;
}

}  // namespace zerohop
