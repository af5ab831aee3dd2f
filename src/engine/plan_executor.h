// Carries out cache plans on the model. The cache decided; here is the only place where a decision
// about cells becomes a call, and where the cache hears what became of it:
//
//   op              call                     when it fails
//   DropTail        remove()                 the slot is emptied, correct(slot, 0)
//   ShareHead       copy(), remove()         the slot stays empty, correct(slot, 0)
//   SaveRange       save_range()             lost(blob): the tokens are computed again one day
//   RestoreRange    restore_range()          lost(blob), correct(slot, what is there)
//   CompressBlob    compress()               stays as it is
//   ForgetBlob      –                        –
//
// A failure costs reuse and never text: what a slot does not hold is computed. Host copies are the
// expensive ones (about 6 µs a token out and 3 back on the default model); their real price is
// measured as they happen, so that work between two steps can be cut to a time. A price that rose
// is believed at once, one that fell slowly: the next slice should not be too long. Engine thread
// only.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "cache/cache_plan.h"
#include "cache/prefix_cache.h"
#include "engine/blob_store.h"
#include "model/model.h"

namespace zerohop {

class PlanExecutor {
 public:
  /// All of them outlive this object.
  PlanExecutor(ModelContext& context, PrefixCache& cache, const Clock& clock)
      : context_(context), cache_(cache), clock_(clock) {}

  void carry_out(const CachePlan& plan);

  /// The plan of a placement. Returns how many tokens its slot really holds: at most the planned
  /// number; the cache has been told.
  std::int32_t carry_out(const Placement& placement);

  /// Frees the cells of `slot` from position `from` on, which the cache does not know of. False
  /// where the model cannot cut there: the slot has then been emptied.
  bool drop_tail(SlotId slot, std::int32_t from);

  /// Takes a state from elsewhere under the id that PrefixCache::adopt() gave.
  void adopt(BlobId blob, std::vector<std::byte> state) { blobs_.put(blob, std::move(state)); }

  /// Seconds to copy one cell out to host memory and back, as measured lately.
  double round_trip_seconds() const { return save_.seconds + restore_.seconds; }

  /// How many tokens can be copied out in about `time`; at least one.
  std::uint32_t tokens_saved_within(Duration time) const;

  /// How many cells can be moved elsewhere (out to host memory and back, or to another stream) in
  /// about `time`; few as long as no such copy has been measured.
  std::uint32_t cells_moved_within(Duration time) const;

  /// How many bytes can be compressed in about `time`; at least one.
  std::uint64_t bytes_compressed_within(Duration time) const;

  const BlobStore& blobs() const { return blobs_; }

 private:
  void carry_out(const CacheOp& op);
  void drop(const DropTail& op);
  void share(const ShareHead& op);
  void save(const SaveRange& op);
  void restore(const RestoreRange& op);
  void compress(const CompressBlob& op);
  void settle(SlotId slot, std::int32_t planned);

  // Seconds for a token or a byte, as measured lately.
  struct Price {
    double seconds;
    bool measured = false;

    void learn(Duration took, double amount);
  };

  ModelContext& context_;
  PrefixCache& cache_;
  const Clock& clock_;
  BlobStore blobs_;
  Price save_{6e-6};
  Price restore_{3e-6};
  Price copy_{9e-6};
  Price compress_{1e-9};
};

}  // namespace zerohop
