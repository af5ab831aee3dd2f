// The prefix cache: which slots and which saved states hold which tokens, what a new prompt can
// start from, and what goes when room is short.
//
//   place()    a prompt wants a slot        → which slot, how much is reused, a plan for the cells
//   grow()     the engine computed tokens   → the books follow; others can share them at once
//   reserve()  a running sequence goes on   → room for more, or nothing
//   release()  the sequence ended or parks  → its cells stay for the next turn, or go
//
// A radix tree over token ids remembers every prefix, of running sequences too, to the token. Each
// edge of the tree may be on the device (in cells that one or more slots hold) and in host memory
// (in a saved state); an edge that is nowhere is forgotten. A request sees the edges of its own
// scope and of the public one, never those of others.
//
// Slots. Of KvCapabilities::slots ids at most `sequences` run; the others hold parked prefixes, or
// nothing. Levels, each with a hard cap:
//
//   running → parked (cells; a slot id) → host memory (bytes, entries) → gone
//
// Cell accounting is exact, shared cells counted once:
//
//   |<--------------------------------- cells --------------------------------->|
//   | active (held by running slots) | parked | reserved (promised) |    free   |
//
// Layouts differ in what they can do (KvCapabilities): share ranges or copy whole slots, save
// ranges or whole slots, cut tails or not at all. The caller never asks which one it has.
//
// Not thread-safe; the engine thread owns it. Pure: no model calls, no clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "cache/cache_plan.h"
#include "core/cache_miss.h"
#include "core/kv_capabilities.h"
#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

enum class EvictionOrder : std::uint8_t {
  kExpectedReuse,  ///< reuse_model.h
  kLeastRecent,    ///< for comparison
};

enum class KeepRule : std::uint8_t {
  kAll,     ///< everything that was computed stays, as room allows
  kMarked,  ///< only what stands in front of a client's cache mark
  kNothing  ///< no reuse at all
};

struct PrefixCacheOptions {
  std::uint64_t host_bytes_max = 0;    ///< 0: no host tier
  std::uint32_t host_entries_max = 0;  ///< saved states; 0: as many as the bytes hold
  KeepRule keep = KeepRule::kAll;
  EvictionOrder order = EvictionOrder::kExpectedReuse;
};

struct PlaceRequest {
  /// Everything that the slot is brought to: the prompt, or prompt and answer of one that resumes.
  TokenSpan tokens;
  std::uint32_t cells_ahead = 1;  ///< promised beyond `tokens`
  ScopeId scope = kPublicScope;
  PriorityClass priority = PriorityClass::kStandard;
  /// Chosen by the client: what it computed under the same key is held on to together; 0: none.
  std::uint64_t affinity = 0;
  std::uint32_t marked_tokens = 0;  ///< these first tokens are protected …
  Duration mark_lifetime{};         ///< … for so long after their last use
  TimePoint now{};
};

/// A slot for a sequence.
struct Placement {
  SlotId slot;
  std::int32_t tokens_reused = 0;    ///< cells [0, tokens_reused) of the slot match the prompt
  std::int32_t tokens_restored = 0;  ///< of these, from host memory
  CachePlan plan;                    ///< to be carried out before anything is computed
};

enum class PlaceRefusal : std::uint8_t {
  kNoSequence,  ///< as many run as may
  kNoCells,     ///< running sequences hold or were promised too much
};

/// Either a placement or the reason for none.
struct PlaceResult {
  std::optional<Placement> placement;
  PlaceRefusal refusal = PlaceRefusal::kNoSequence;  ///< without a placement
};

struct PrefixMatch {
  std::int32_t device_tokens = 0;  ///< longest prefix that is in cells
  std::int32_t tokens = 0;         ///< longest prefix at all, host memory included
};

enum class Keep : std::uint8_t {
  kCells,    ///< for the next turn
  kParked,   ///< for itself: the sequence will go on; goes last of all that is evictable
  kNothing,  ///< a failed computation: must not become anybody's prefix
};

struct CacheCounts {
  std::uint32_t slots_running = 0;
  std::uint32_t slots_parked = 0;
  std::uint32_t cells_total = 0;
  std::uint32_t cells_active = 0;    ///< held by running slots, each shared cell once
  std::uint32_t cells_parked = 0;    ///< held by others only
  std::uint32_t cells_pinned = 0;    ///< of the parked ones, those that may not be evicted
  std::uint32_t cells_reserved = 0;  ///< promised to running slots, not yet held
  std::uint64_t host_bytes = 0;
  std::uint32_t host_entries = 0;
  std::uint64_t tokens_indexed = 0;  ///< on the device or in host memory
  std::uint32_t edges = 0;

  // Totals since start, in tokens
  std::uint64_t tokens_evicted = 0;    ///< left the device for good or for host memory
  std::uint64_t tokens_saved = 0;      ///< device → host
  std::uint64_t tokens_restored = 0;   ///< host → device
  std::uint64_t tokens_forgotten = 0;  ///< left the host tier without coming back

  std::uint32_t cells_free() const {
    return cells_total - cells_active - cells_parked - cells_reserved;
  }
};

/// A running sequence that is in another slot now.
struct SlotMove {
  SlotId from;
  SlotId to;
  friend bool operator==(const SlotMove&, const SlotMove&) = default;
};

struct Compaction {
  CachePlan plan;
  std::vector<SlotMove> moves;  ///< once the plan is carried out; the books have it already
  std::uint32_t cells = 0;      ///< that are copied for it
};

class PrefixCache {
 public:
  PrefixCache(const KvCapabilities& capabilities, const PrefixCacheOptions& options);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // ---- a sequence's life ----

  /// A slot that holds as much of `request.tokens` as possible and has room for the rest and
  /// `cells_ahead` more. At least the last token is left to compute, because its logits are needed.
  /// Cells that nobody uses are evicted for it (saved to host memory first, where that is worth it
  /// and there is room).
  PlaceResult place(const PlaceRequest& request);

  /// A plan could not be carried out as hoped: the slot, running or parked, holds only `held`
  /// tokens. The promise to a running one grows by what is missing, as far as there is room: ask
  /// reserve() for the rest.
  void correct(SlotId slot, std::int32_t held);

  /// `tokens` were computed and appended to the running slot, within what was promised to it.
  void grow(SlotId slot, TokenSpan tokens, TimePoint now);

  /// Promises the running slot `cells_ahead` cells beyond those it holds (a smaller promise gives
  /// back). Nothing when running sequences hold too much: the promise is then unchanged.
  std::optional<CachePlan> reserve(SlotId slot, std::uint32_t cells_ahead, TimePoint now);

  /// The sequence in `slot` ended or parks. What other slots hold as well is dropped from this one.
  CachePlan release(SlotId slot, Keep keep, TimePoint now);

  /// Where a tail cannot be cut (KvCapabilities::can_cut_tail), a prefix is usable only where a
  /// state ends: this saves the running slot's state as it is, to be called when its prompt is
  /// computed and at cache marks. Empty for other layouts, and where it is not worth it.
  CachePlan checkpoint(SlotId slot, TimePoint now);

  // ---- questions ----

  PrefixMatch match(ScopeId scope, TokenSpan tokens) const;
  /// Tokens whose cells `slot` holds, running or not.
  std::int32_t held(SlotId slot) const;
  CacheCounts counts() const;
  /// Which cap made the cache drop something last.
  CacheCap last_cap() const;

  // ---- pressure ----

  /// Moves at least `cells` parked cells to host memory, as far as it has room: those that will be
  /// needed last first. Pinned ones stay.
  CachePlan park_idle(std::uint32_t cells, TimePoint now);
  /// Compresses at least `bytes` bytes of host memory that are not compressed yet.
  CachePlan compress(std::uint64_t bytes);
  /// Drops everything that no running sequence needs (the model reported that it has no room).
  CachePlan drop_idle();
  /// One slice of compaction; moves at most `cells_max` cells. Streams: the running slot with the
  /// highest id moves to the lowest hole that the slice pays for, so that running ids are dense.
  /// Pool: the tail that holds `top` (the model's highest cell in use), running or parked, goes to
  /// host memory and comes back into the lowest free cells; needs room in the host tier meanwhile.
  /// A running slot may hold less than before when its tail could not be saved. Each slice lowers
  /// the highest slot or cell in use, so slices come to an end. Empty plan: nothing can be moved.
  Compaction compact(std::uint32_t cells_max, std::optional<TopCell> top = {});

  // ---- pinned prefixes ----

  /// Keeps the first tokens of `tokens` that are cached in `scope` from being evicted, now and when
  /// they are computed again, until unpin(). A parked slot with pinned cells goes (to host memory,
  /// where it can) only when a sequence needs its id and there is no other, or in drop_idle().
  void pin(ScopeId scope, TokenSpan tokens);
  void unpin(ScopeId scope, TokenSpan tokens);
  /// A saved state from elsewhere (another run of the server) that holds `tokens` from position 0:
  /// the id under which the caller stores its bytes. Nothing when it does not fit the caps.
  std::optional<BlobId> adopt(ScopeId scope, TokenSpan tokens, std::uint64_t bytes);

  // ---- reports of the executor ----

  /// A SaveRange or CompressBlob was carried out; the blob has that many bytes. If the caps are
  /// exceeded now, the returned plan forgets others; or the blob itself, if the cache has forgotten
  /// it meanwhile. May be called, like lost() and correct(), while a plan is being carried out.
  CachePlan saved(BlobId blob, std::uint64_t bytes);
  /// The bytes could not be made or read: the blob is gone.
  void lost(BlobId blob);

  /// The books balance; crashes where they do not.
  void check_integrity() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerohop
