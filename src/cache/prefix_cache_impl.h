// Inside of the prefix cache (prefix_cache.h), for its own files only:
//
//   prefix_cache.cc           the public functions, questions, books
//   prefix_cache_place.cc     place(): what to start from, which slot, how it gets there
//   prefix_cache_slots.cc     grow, release and whatever else moves the end of a slot
//   prefix_cache_evict.cc     cells → host memory or nothing
//   prefix_cache_host.cc      host memory: what is saved, forgotten, protected, compressed
//   prefix_cache_pins.cc      pins, adoption
//   prefix_cache_compact.cc   compaction
//
// Four books are kept in step. The tree says which prefixes are where, the ledger which cells that
// takes, the host tier which bytes, and the slots below what is promised to whom.
//
// A slot is in one of three states:
//
//             place()                        release()
//   empty ───────────────► running ──────────────────────────► parked
//     ▲                      ▲ │ release(): nothing worth keeping │ │
//     │                      │ └──────────────► empty             │ │
//     │                      └───────────── place() goes on in it ┘ │
//     └──────────────────── evicted, or redundant ──────────────────┘
//
//   empty    holds no cells
//   running  promised cells; its edges cannot be evicted
//   parked   holds cells, for reuse only. One whose content another slot holds too is redundant: it
//            goes first, because it is worth nothing and takes an id
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "cache/cell_ledger.h"
#include "cache/host_tier.h"
#include "cache/prefix_cache.h"
#include "cache/prefix_tree.h"
#include "cache/reuse_model.h"
#include "cache/slot_roster.h"
#include "cache/victim_sweep.h"

namespace zerohop {

class PrefixCache::Impl {
 public:
  Impl(const KvCapabilities& capabilities, const PrefixCacheOptions& options);

  PlaceResult place(const PlaceRequest& request);
  void correct(SlotId slot, std::int32_t held);
  void grow(SlotId slot, TokenSpan tokens, TimePoint now);
  std::optional<CachePlan> reserve(SlotId slot, std::uint32_t cells_ahead, TimePoint now);
  CachePlan release(SlotId slot, Keep keep, TimePoint now);
  CachePlan checkpoint(SlotId slot, TimePoint now);

  PrefixMatch match(ScopeId scope, TokenSpan tokens) const;
  std::int32_t held(SlotId slot) const;
  CacheCounts counts() const;
  CacheCap last_cap() const { return last_cap_; }

  CachePlan park_idle(std::uint32_t cells, TimePoint now);
  CachePlan compress(std::uint64_t bytes);
  CachePlan drop_idle();
  Compaction compact(std::uint32_t cells_max, std::optional<TopCell> top);

  void pin(ScopeId scope, TokenSpan tokens);
  void unpin(ScopeId scope, TokenSpan tokens);
  std::optional<BlobId> adopt(ScopeId scope, TokenSpan tokens, std::uint64_t bytes);

  CachePlan saved(BlobId blob, std::uint64_t bytes);
  void lost(BlobId blob);

  void check_integrity() const;

 private:
  struct Slot {
    bool running = false;
    std::uint32_t reserved = 0;   // cells promised beyond those held
    std::int32_t reused = 0;      // held when it was placed
    std::int32_t prompt_end = 0;  // what comes later was written by the model
    std::int32_t marked_end = 0;  // in front of the client's last cache mark
    Duration mark_lifetime{};
    ScopeId scope;
    PriorityClass priority = PriorityClass::kStandard;
    std::uint64_t affinity = 0;
  };
  struct Pin {
    ScopeId scope;
    std::vector<Token> tokens;
    NodeId end_node = kRootNode;  // as much of it as the tree has
  };
  /// What a prompt can be started from: cells of `holder`, then host memory up to `host`.
  struct Source {
    TreePosition device;
    std::optional<SlotId> holder;
    TreePosition host;  // length 0: nothing to restore
  };
  /// How far host memory may be cleared for something that comes in.
  enum class HostRoom : std::uint8_t {
    kFree,        ///< not at all
    kLessWorthy,  ///< of what is worth less
    kAny,         ///< of whatever may go
  };
  struct Saving {
    NodeId node;
    std::int32_t begin = 0;
    HostRoom room = HostRoom::kLessWorthy;
  };
  /// Of a slot, up to the end of an edge: in one saved state, or in none.
  struct TailPiece {
    NodeId end;
    std::int32_t begin = 0;
  };
  /// Of a VictimRank; see prefix_cache_evict.cc.
  enum Tier : std::int32_t {
    kTierTwice = -1,  ///< it is held elsewhere as well
    kTierPlain = 0,
    kTierProtected = 1,
    kTierResumes = 2,
    kTierPinned = 3,
  };
  struct Eviction {
    std::uint64_t cells = 0;  // wanted; 0: everything that the victim holds
    HostRoom room = HostRoom::kLessWorthy;
    bool only_if_saved = false;
    CacheCap cap = CacheCap::kCells;  // why
  };

  // prefix_cache_place.cc
  Source find_source(const PlaceRequest& request) const;
  SlotId choose_holder(const TreePosition& device) const;
  bool can_restore_whole(const TreePosition& host) const;
  TreePosition best_parked(const TreePosition& path) const;
  bool has_room_for(const PlaceRequest& request, const Source& source) const;
  void note_use(const Source& source);
  SlotId take_slot(const Source& source, CachePlan& plan);
  SlotId take_sparse_slot(const Source& source, CachePlan& plan);
  void free_a_slot(const Source& source, CachePlan& plan);
  SlotId take_lowest_slot(const Source& source, CachePlan& plan);
  bool goes_on_in(const Source& source) const;
  void fill_from_device(const Source& source, SlotId slot, CachePlan& plan);
  std::int32_t fill_from_host(const Source& source, SlotId slot, CachePlan& plan);
  std::int32_t restore_ranges(const TreePosition& host, SlotId slot, CachePlan& plan);
  std::int32_t restore_whole(const TreePosition& host, SlotId slot, CachePlan& plan);
  bool has_cells_for_blob(std::int32_t cells, CachePlan& plan);
  void lock_blobs(const Source& source);
  void unlock_blobs();

  // prefix_cache_slots.cc
  Slot& at(SlotId slot);
  const Slot& at(SlotId slot) const;
  void refile(SlotId slot);
  void advance(SlotId slot, TokenSpan tokens);
  std::size_t append_to_edge(SlotId slot, TokenSpan tokens);
  std::size_t add_edge(SlotId slot, TokenSpan tokens);
  std::size_t follow_edge(SlotId slot, NodeId child, TokenSpan tokens);
  void move_end(SlotId slot, std::int32_t length);
  void truncate(SlotId slot, std::int32_t length, CachePlan& plan);
  std::int32_t kept_length(SlotId slot, Keep keep) const;
  void apply_marks(SlotId slot);
  void touch_path(SlotId slot);
  void note_end(SlotId slot, Keep keep);
  void prune(NodeId node);
  void finish();
  PieceFacts new_facts(NodeId parent, Token first) const;
  NodeId split(const TreePosition& position);
  void touch_affinity(std::uint64_t affinity);
  bool is_redundant(SlotId slot) const;
  void drop_redundant(std::optional<SlotId> spared, CachePlan& plan);
  void drop_redundant_around(SlotId slot, CachePlan& plan);

  // prefix_cache_evict.cc
  std::int64_t cells_free() const;
  std::uint64_t pinned_idle_cells() const;
  void pinned_heads(std::vector<SlotHead>& heads) const;
  bool make_room(CachePlan& plan);
  std::uint64_t evict_piece(const Eviction& eviction, CachePlan& plan);
  std::uint64_t evict_tail(SlotId slot, const Eviction& eviction, CachePlan& plan);
  void evict_edge(SlotId slot, std::int32_t length, const Eviction& eviction, CachePlan& plan);
  void evict_down_to(SlotId slot, std::int32_t length, const Eviction& eviction, CachePlan& plan);
  void evict_slot(SlotId slot, const Eviction& eviction, CachePlan& plan);
  std::optional<VictimRank> slot_rank(SlotId slot, const Eviction& eviction) const;
  std::optional<VictimRank> whole_slot_rank(SlotId slot) const;
  std::int32_t node_tier(NodeId node) const;
  double worth(NodeId node) const;
  void count_protected();

  // prefix_cache_host.cc
  bool save_before_eviction(SlotId slot, const Eviction& eviction, CachePlan& plan);
  bool can_save(SlotId slot) const;
  bool is_worth_saving(NodeId node) const;
  std::int32_t saved_begin(NodeId node) const;
  bool save(SlotId slot, const Saving& saving, CachePlan& plan);
  bool make_host_room(std::uint64_t bytes, const Saving& saving, CachePlan& plan);
  std::optional<Victim> worst_blob();
  std::optional<VictimRank> blob_rank(BlobIndex index);
  std::int32_t first_parked(NodeId node) const;
  bool is_saved(NodeId node) const;
  void forget(BlobIndex index, CachePlan& plan);
  void detach(BlobIndex index);
  void count_as_protected(BlobIndex index, bool counts);

  // prefix_cache_pins.cc
  void extend_pin(Pin& pin);
  void extend_pins();
  void leave_pinned(NodeId node);

  // prefix_cache_compact.cc
  Compaction compact_slots(std::uint32_t cells_max);
  Compaction compact_cells(std::uint32_t cells_max, const TopCell& top);
  std::vector<TailPiece> tail_to_move(SlotId slot, std::uint32_t cells_max) const;
  NodeId unshared_top(NodeId node) const;

  void check_slots() const;
  void check_blobs() const;
  void check_pins() const;

  // Constant
  const KvCapabilities capabilities_;
  const PrefixCacheOptions options_;
  const bool ranges_;      // a saved state may be a range
  const bool exact_ends_;  // nothing can be cut

  PrefixTree tree_;
  CellLedger ledger_;
  HostTier host_;
  ReuseModel reuse_;
  std::vector<Slot> slots_;
  SlotRoster roster_;
  std::vector<Pin> pins_;
  std::unordered_map<std::uint64_t, std::uint64_t> affinities_;  // key → last use
  VictimSweep slot_sweep_;
  VictimSweep blob_sweep_;
  std::vector<NodeId> joinable_;   // nodes that may be joined with their only child, at the end
  std::vector<BlobIndex> locked_;  // by the placement that is being made
  TimePoint now_{};
  std::uint32_t running_ = 0;
  std::uint64_t reserved_ = 0;
  bool marks_seen_ = false;
  std::unordered_map<std::uint64_t, std::uint64_t> protected_cells_;  // by scope, while evicting
  std::unordered_map<std::uint64_t, std::uint64_t> protected_bytes_;  // by scope, as last looked at
  CacheCap last_cap_ = CacheCap::kNone;
  CacheCounts totals_;  // only its totals are kept here
};

}  // namespace zerohop
