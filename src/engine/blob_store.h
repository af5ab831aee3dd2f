// The bytes of states that were copied out of the context: the engine's half of the host tier. The
// cache keeps the books (which blob holds which tokens, how much there may be) and names blobs by
// number; here are the bytes, and nothing decides. Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/cache_plan.h"

namespace zerohop {

class BlobStore {
 public:
  /// Takes the bytes of `id`; those that it had before go.
  void put(BlobId id, std::vector<std::byte> bytes);
  /// Nothing happens where there are none.
  void forget(BlobId id);
  /// Empty when there are none. Valid until the next put() or forget() of this id.
  std::span<const std::byte> bytes(BlobId id) const;

  std::uint64_t total_bytes() const { return total_bytes_; }
  std::size_t size() const { return blobs_.size(); }

 private:
  std::unordered_map<BlobId, std::vector<std::byte>> blobs_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace zerohop
