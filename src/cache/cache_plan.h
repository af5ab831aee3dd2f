// What the cache wants done to the model's cells. The cache decides and never calls the model; the
// engine carries a plan out through model/ and reports what became of it.
#pragma once

#include <variant>
#include <vector>

#include "base/strong_id.h"
#include "core/token.h"

namespace zerohop {

struct BlobTag;
/// A saved state in host memory. The cache keeps the books, the engine the bytes.
using BlobId = StrongId<BlobTag, std::uint64_t>;

/// Free the cells of `slot` at positions [from, ∞).
struct DropTail {
  SlotId slot;
  std::int32_t from = 0;
  friend bool operator==(const DropTail&, const DropTail&) = default;
};

/// Let the empty slot `to` hold positions [0, length) of `from` as well. Cells are shared where the
/// layout can; elsewhere they are copied, whole, and cut.
struct ShareHead {
  SlotId from;
  SlotId to;
  std::int32_t length = 0;
  friend bool operator==(const ShareHead&, const ShareHead&) = default;
};

/// Copy the state of `range` of `slot` to host memory, under the new id `blob`. The cells stay.
struct SaveRange {
  SlotId slot;
  PositionRange range;
  BlobId blob;
  friend bool operator==(const SaveRange&, const SaveRange&) = default;
};

/// `slot` holds [0, range.begin); afterwards [0, range.end), the new part from `blob`, which holds
/// `range` or more.
struct RestoreRange {
  BlobId blob;
  SlotId slot;
  PositionRange range;
  friend bool operator==(const RestoreRange&, const RestoreRange&) = default;
};

/// Free the bytes of `blob`.
struct ForgetBlob {
  BlobId blob;
  friend bool operator==(const ForgetBlob&, const ForgetBlob&) = default;
};

/// Store `blob` in fewer bytes, at the price of precision.
struct CompressBlob {
  BlobId blob;
  friend bool operator==(const CompressBlob&, const CompressBlob&) = default;
};

using CacheOp =
    std::variant<DropTail, ShareHead, SaveRange, RestoreRange, ForgetBlob, CompressBlob>;

/// Carried out in order.
using CachePlan = std::vector<CacheOp>;

}  // namespace zerohop
