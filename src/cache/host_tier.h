// The books of the host tier: which saved states there are, how many bytes they take, and what of
// the caps is left. It says nothing about what a state is worth; the cache decides who goes.
//
// A blob is planned (its bytes are an estimate) until the executor reports its size. The estimate
// follows what was reported, so that the caps hold as well as can be known beforehand; saved() of
// the cache corrects the rest.
//
// Owned by the prefix cache; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cache/cache_plan.h"
#include "cache/prefix_tree.h"

namespace zerohop {

struct Blob {
  BlobId id;
  PositionRange range;          ///< as saved
  NodeId end_node = kRootNode;  ///< the last edge that it covers; the root: unused entry
  std::uint64_t bytes = 0;
  std::uint32_t locks = 0;  ///< > 0: a plan that is being made needs it
  bool reported = false;    ///< `bytes` is what it takes
  bool compressed = false;
  bool counts_as_protected = false;  ///< in the cache's sum of its scope
};

struct HostTierOptions {
  std::uint64_t bytes_max = 0;    ///< 0: no tier
  std::uint32_t entries_max = 0;  ///< 0: no such limit
  std::uint64_t bytes_per_cell = 0;
};

class HostTier {
 public:
  explicit HostTier(const HostTierOptions& options);

  bool exists() const { return options_.bytes_max > 0; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_max() const { return options_.bytes_max; }
  std::uint32_t entries() const { return entries_; }
  /// What a state of `tokens` tokens will take, about.
  std::uint64_t expected_bytes(std::int32_t tokens) const;
  bool bytes_fit(std::uint64_t more) const;
  bool entries_fit(std::uint32_t more) const;
  bool fits(std::uint64_t bytes) const { return bytes_fit(bytes) && entries_fit(1); }

  BlobIndex add(const PositionRange& range, std::uint64_t bytes);
  void remove(BlobIndex index);
  void report_bytes(BlobIndex index, std::uint64_t bytes);
  std::optional<BlobIndex> find(BlobId id) const;

  Blob& operator[](BlobIndex index) { return blobs_[index]; }
  const Blob& operator[](BlobIndex index) const { return blobs_[index]; }
  /// Indices lie below; some are unused.
  std::uint32_t index_end() const { return static_cast<std::uint32_t>(blobs_.size()); }
  bool live(BlobIndex index) const { return blobs_[index].end_node != kRootNode; }

  void check_integrity() const;

 private:
  const HostTierOptions options_;
  std::vector<Blob> blobs_;
  std::vector<BlobIndex> free_;
  std::unordered_map<BlobId, BlobIndex> by_id_;
  std::uint64_t next_id_ = 1;
  std::uint64_t bytes_ = 0;
  std::uint32_t entries_ = 0;
  double bytes_per_token_ = 0;
};

}  // namespace zerohop
