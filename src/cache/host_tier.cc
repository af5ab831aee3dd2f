#include "cache/host_tier.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace zerohop {
namespace {

// Short states have much header for few tokens; the estimate learns from longer ones.
constexpr std::int32_t kTypicalTokensMin = 64;

}  // namespace

HostTier::HostTier(const HostTierOptions& options)
    : options_(options), bytes_per_token_(static_cast<double>(options.bytes_per_cell)) {}

std::uint64_t HostTier::expected_bytes(std::int32_t tokens) const {
  return static_cast<std::uint64_t>(std::ceil(bytes_per_token_ * tokens));
}

bool HostTier::bytes_fit(std::uint64_t more) const {
  return more <= options_.bytes_max && bytes_ <= options_.bytes_max - more;
}

bool HostTier::entries_fit(std::uint32_t more) const {
  return options_.entries_max == 0 || entries_ + more <= options_.entries_max;
}

BlobIndex HostTier::add(const PositionRange& range, std::uint64_t bytes) {
  BlobIndex index = 0;
  if (free_.empty()) {
    index = static_cast<BlobIndex>(blobs_.size());
    blobs_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Blob& blob = blobs_[index];
  blob = Blob{};
  blob.id = BlobId(next_id_++);
  blob.range = range;
  blob.bytes = bytes;
  by_id_.emplace(blob.id, index);
  bytes_ += bytes;
  ++entries_;
  return index;
}

void HostTier::remove(BlobIndex index) {
  Blob& blob = blobs_[index];
  by_id_.erase(blob.id);
  bytes_ -= blob.bytes;
  --entries_;
  blob = Blob{};
  free_.push_back(index);
}

void HostTier::report_bytes(BlobIndex index, std::uint64_t bytes) {
  Blob& blob = blobs_[index];
  bytes_ = bytes_ - blob.bytes + bytes;
  blob.bytes = bytes;
  blob.reported = true;
  if (!blob.compressed && blob.range.size() >= kTypicalTokensMin) {
    bytes_per_token_ = std::max(bytes_per_token_, static_cast<double>(bytes) / blob.range.size());
  }
}

std::optional<BlobIndex> HostTier::find(BlobId id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

void HostTier::check_integrity() const {
  std::uint64_t bytes = 0;
  std::uint32_t entries = 0;
  for (BlobIndex index = 0; index < blobs_.size(); ++index) {
    if (!live(index)) continue;
    ZH_CHECK(find(blobs_[index].id) == index && blobs_[index].locks == 0);
    bytes += blobs_[index].bytes;
    ++entries;
  }
  ZH_CHECK(bytes == bytes_ && entries == entries_ && by_id_.size() == entries);
  ZH_CHECK(entries + free_.size() == blobs_.size());
}

}  // namespace zerohop
