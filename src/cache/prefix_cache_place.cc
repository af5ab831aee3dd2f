// place(): what a prompt can start from, which slot it gets, and how the cells get there.
//
//   prompt   |<----- cells of the holder ----->|<-- host memory -->|<---- to be computed ---->|
//            0                              device               host                    the end
//
// Which slot. Where ranges are shared, an empty one that shares the holder's head; or, when the
// prompt takes in all that a parked slot holds, that slot itself. Where slots are copied and
// running ids should be dense, the lowest that does not run.
//
// Whether there is room is decided before anything is touched, so that a refusal changes nothing:
//
//   active + promised + pinned + what is taken over from parked slots + what is new ≤ all cells
//
// After that, eviction cannot fail to make the room.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

// Restoring is some 200 times cheaper than computing, but each call costs as much as a few tokens.
constexpr std::int32_t kRestoreTokensMin = 16;

SlotId slot_id(std::size_t index) { return SlotId(static_cast<std::int32_t>(index)); }

}  // namespace

// ---- what to start from ----

PrefixCache::Impl::Source PrefixCache::Impl::find_source(const PlaceRequest& request) const {
  const TokenSpan prompt = request.tokens.first(request.tokens.size() - 1);
  const TreeMatch match = tree_.match(request.scope, prompt);
  Source source;
  source.device = match.device;
  if (match.host.length < match.device.length + kRestoreTokensMin) {
    source.host = {};
  } else if (ranges_) {
    // Host memory goes on from cells on the same path. Where a private and a public edge spell the
    // same tokens, another path may have more of them in cells: those are certain.
    TreePosition device = match.host;
    while (device.node != kRootNode && tree_[device.node].slots == 0) {
      device = {tree_[device.node].parent, tree_[device.node].begin};
    }
    if (device.length == match.device.length) {
      source.device = device;
      source.host = match.host;
    }
  } else if (can_restore_whole(match.host)) {
    source.device = {};
    source.host = match.host;
  }
  if (source.device.length > 0 && !capabilities_.can_copy_whole) {
    source.device = best_parked(source.device);
  }
  if (source.device.length > 0) source.holder = choose_holder(source.device);
  return source;
}

// Whether the saved state fits into the cells besides what cannot be evicted.
bool PrefixCache::Impl::can_restore_whole(const TreePosition& host) const {
  if (!capabilities_.pooled) return true;
  const NodeId end = exact_ends_ ? host.node : tree_.blob_through(host.node);
  const auto cells = static_cast<std::uint64_t>(host_[tree_[end].blob].range.size());
  return ledger_.cells_active() + pinned_idle_cells() + cells <= capabilities_.cells;
}

// Where nothing can be copied, only parked slots are of use: the longest beginning of `path` that
// one of them holds.
TreePosition PrefixCache::Impl::best_parked(const TreePosition& path) const {
  TreePosition best;
  for (const SlotId slot : roster_.parked()) {
    const NodeId end = tree_.node_of(slot);
    TreePosition common = path;
    while (common.node != kRootNode && !tree_.is_above(common.node, end)) {
      common = {tree_[common.node].parent, tree_[common.node].begin};
    }
    if (exact_ends_ && tree_[end].end() != common.length) continue;
    if (common.length > best.length) best = common;
  }
  return best;
}

// A slot that the prefix can be taken from. A parked one that holds just this is best, because the
// sequence can go on in it; then a running one, whose cells are in use anyway.
SlotId PrefixCache::Impl::choose_holder(const TreePosition& device) const {
  const PrefixNode& node = tree_[device.node];
  std::optional<SlotId> exact;
  if (device.length == node.end()) {
    for (std::int32_t i = node.first_slot; i >= 0; i = tree_.next_slot(SlotId(i))) {
      const SlotId slot(i);
      if (at(slot).running && !capabilities_.can_copy_whole) continue;
      if (!at(slot).running && !is_redundant(slot)) return slot;
      exact = slot;
    }
  }
  if (exact_ends_) {
    ZH_CHECK(exact.has_value());
    return *exact;
  }
  const std::vector<SlotId>& others =
      capabilities_.can_copy_whole ? roster_.running() : roster_.parked();
  for (const SlotId slot : others) {
    if (tree_.is_above(device.node, tree_.node_of(slot))) return slot;
  }
  return tree_.slot_through(device.node);
}

bool PrefixCache::Impl::has_room_for(const PlaceRequest& request, const Source& source) const {
  if (!capabilities_.pooled) return true;
  std::vector<SlotHead> kept;
  pinned_heads(kept);
  if (source.holder) kept.push_back({*source.holder, source.device.length});
  const std::uint64_t wanted = request.tokens.size() + request.cells_ahead -
                               static_cast<std::uint64_t>(source.device.length);
  return ledger_.cells_active() + reserved_ + ledger_.idle_cells(kept) + wanted <=
         capabilities_.cells;
}

// ---- the whole ----

PlaceResult PrefixCache::Impl::place(const PlaceRequest& request) {
  ZH_CHECK(!request.tokens.empty());
  ZH_CHECK(request.tokens.size() + request.cells_ahead <= capabilities_.slot_cells);
  now_ = std::max(now_, request.now);
  if (running_ >= capabilities_.sequences) return {std::nullopt, PlaceRefusal::kNoSequence};
  Source source = find_source(request);
  if (!has_room_for(request, source)) return {std::nullopt, PlaceRefusal::kNoCells};

  reuse_.advance();
  source.device.node = split(source.device);
  if (source.host.length > 0) source.host.node = split(source.host);
  note_use(source);
  lock_blobs(source);

  Placement placement;
  placement.slot = take_slot(source, placement.plan);
  Slot& slot = at(placement.slot);
  slot.running = true;
  ++running_;
  ledger_.set_running(placement.slot, true);
  refile(placement.slot);
  slot.scope = request.scope;
  slot.priority = request.priority;
  slot.affinity = request.affinity;
  slot.prompt_end = static_cast<std::int32_t>(request.tokens.size());
  slot.marked_end = static_cast<std::int32_t>(
      std::min<std::size_t>(request.marked_tokens, request.tokens.size()));
  slot.mark_lifetime = request.mark_lifetime;
  touch_affinity(request.affinity);
  slot.reserved = static_cast<std::uint32_t>(request.tokens.size()) + request.cells_ahead -
                  static_cast<std::uint32_t>(ledger_.held(placement.slot));
  reserved_ += slot.reserved;
  const bool roomy = make_room(placement.plan);
  ZH_CHECK(roomy);
  placement.tokens_restored = fill_from_host(source, placement.slot, placement.plan);
  placement.tokens_reused = ledger_.held(placement.slot);
  slot.reused = placement.tokens_reused;
  unlock_blobs();
  apply_marks(placement.slot);
  finish();
  return {std::move(placement), PlaceRefusal::kNoSequence};
}

// The pieces that this prompt is matched through were used once more.
void PrefixCache::Impl::note_use(const Source& source) {
  const TreePosition& end = source.host.length > source.device.length ? source.host : source.device;
  for (NodeId id = end.node; id != kRootNode; id = tree_[id].parent) {
    reuse_.learn_used(tree_.facts(id));
    PieceFacts& facts = tree_[id].facts;
    ++facts.uses;
    facts.gap = reuse_.now() - facts.last_used_at;
    facts.last_used_at = reuse_.now();
    // The sequence that was parked here, or another that is worth as much, has come back.
    tree_[id].resumes_until = TimePoint{};
  }
}

// What will be restored must not be forgotten for what is evicted to make room for it.
void PrefixCache::Impl::lock_blobs(const Source& source) {
  if (source.host.length == 0) return;
  if (ranges_) {
    for (NodeId id = source.host.node; id != kRootNode; id = tree_[id].parent) {
      if (tree_[id].blob != kNoBlob) locked_.push_back(tree_[id].blob);
    }
  } else {
    const NodeId end = exact_ends_ ? source.host.node : tree_.blob_through(source.host.node);
    locked_.push_back(tree_[end].blob);
  }
  for (const BlobIndex blob : locked_) ++host_[blob].locks;
}

void PrefixCache::Impl::unlock_blobs() {
  for (const BlobIndex blob : locked_) --host_[blob].locks;
  locked_.clear();
}

// ---- which slot ----

bool PrefixCache::Impl::goes_on_in(const Source& source) const {
  return source.holder && !at(*source.holder).running &&
         ledger_.held(*source.holder) == source.device.length && !is_redundant(*source.holder);
}

SlotId PrefixCache::Impl::take_slot(const Source& source, CachePlan& plan) {
  return capabilities_.dense_slots_matter && capabilities_.can_copy_whole
             ? take_lowest_slot(source, plan)
             : take_sparse_slot(source, plan);
}

SlotId PrefixCache::Impl::take_sparse_slot(const Source& source, CachePlan& plan) {
  Eviction eviction;
  eviction.cap = CacheCap::kHolders;
  const bool only_in_place = source.holder && !capabilities_.can_copy_whole;
  if (goes_on_in(source) || only_in_place) {
    const SlotId slot = *source.holder;
    // Going on destroys the state at the end, or the tail that is cut.
    if (exact_ends_ || only_in_place) save_before_eviction(slot, eviction, plan);
    truncate(slot, source.device.length, plan);
    return slot;
  }
  free_a_slot(source, plan);
  const std::optional<SlotId> slot = roster_.lowest_empty();
  if (!slot) return *source.holder;  // cut to the prefix
  fill_from_device(source, *slot, plan);
  return *slot;
}

// Sees to it that there is an empty slot: what is held twice goes first, then the parked slot that
// is worth least. When the only one left is the one that the prefix comes from, it is cut to that,
// and the sequence goes on in it; when all others are pinned, one of these goes.
void PrefixCache::Impl::free_a_slot(const Source& source, CachePlan& plan) {
  Eviction eviction;
  eviction.cap = CacheCap::kHolders;
  if (!roster_.lowest_empty()) drop_redundant(source.holder, plan);
  if (roster_.lowest_empty()) return;
  const std::vector<SlotId>& parked = roster_.parked();
  const auto score = [&](std::uint32_t index) -> std::optional<VictimRank> {
    if (parked[index] == source.holder) return std::nullopt;
    return whole_slot_rank(parked[index]);
  };
  const auto victim = slot_sweep_.lowest(static_cast<std::uint32_t>(parked.size()), score);
  if (victim) return evict_slot(parked[victim->index], eviction, plan);
  if (source.holder && !at(*source.holder).running) {
    return evict_down_to(*source.holder, source.device.length, eviction, plan);
  }
  ZH_CHECK(!parked.empty());
  evict_slot(parked.front(), eviction, plan);
}

SlotId PrefixCache::Impl::take_lowest_slot(const Source& source, CachePlan& plan) {
  std::size_t lowest = 0;
  while (slots_[lowest].running) ++lowest;
  const SlotId slot = slot_id(lowest);
  Eviction eviction;
  eviction.cap = CacheCap::kHolders;
  if (slot == source.holder) {
    if (ledger_.held(slot) > source.device.length || exact_ends_) {
      save_before_eviction(slot, eviction, plan);
    }
    truncate(slot, source.device.length, plan);
    return slot;
  }
  evict_slot(slot, eviction, plan);
  fill_from_device(source, slot, plan);
  return slot;
}

void PrefixCache::Impl::fill_from_device(const Source& source, SlotId slot, CachePlan& plan) {
  if (!source.holder) return;
  const std::int32_t length = source.device.length;
  plan.push_back(ShareHead{*source.holder, slot, length});
  ledger_.share({*source.holder, length}, slot);
  tree_.move_slot(slot, source.device.node);
  // A copied sequence takes the place of the parked one that it was copied from.
  const bool copied = !capabilities_.pooled;
  if (copied && is_redundant(*source.holder)) truncate(*source.holder, 0, plan);
}

// ---- from host memory ----

std::int32_t PrefixCache::Impl::fill_from_host(const Source& source, SlotId slot, CachePlan& plan) {
  if (source.host.length <= ledger_.held(slot)) return 0;
  return ranges_ ? restore_ranges(source.host, slot, plan) : restore_whole(source.host, slot, plan);
}

// While it is restored, a saved state takes as many cells as it has tokens, whatever of it is kept.
bool PrefixCache::Impl::has_cells_for_blob(std::int32_t cells, CachePlan& plan) {
  if (!capabilities_.pooled) return true;
  const auto wanted = static_cast<std::uint64_t>(cells);
  if (ledger_.cells_held() + wanted > capabilities_.cells) count_protected();
  while (ledger_.cells_held() + wanted > capabilities_.cells) {
    Eviction eviction;
    eviction.cells = ledger_.cells_held() + wanted - capabilities_.cells;
    if (evict_piece(eviction, plan) == 0) return false;
  }
  return true;
}

std::int32_t PrefixCache::Impl::restore_ranges(const TreePosition& host, SlotId id,
                                               CachePlan& plan) {
  const std::int32_t device = ledger_.held(id);
  std::vector<NodeId> path;
  for (NodeId node = host.node; node != kRootNode && tree_[node].begin >= device;
       node = tree_[node].parent) {
    path.push_back(node);
  }
  Slot& slot = at(id);
  while (!path.empty()) {
    const BlobIndex blob = tree_[path.back()].blob;
    NodeId end = path.back();
    while (!path.empty() && tree_[path.back()].blob == blob) {
      end = path.back();
      path.pop_back();
    }
    if (!has_cells_for_blob(host_[blob].range.size(), plan)) break;
    const PositionRange range{ledger_.held(id), tree_[end].end()};
    plan.push_back(RestoreRange{host_[blob].id, id, range});
    ledger_.append(id, range.size());
    slot.reserved -= static_cast<std::uint32_t>(range.size());
    reserved_ -= static_cast<std::uint64_t>(range.size());
    tree_.move_slot(id, end);
  }
  const std::int32_t restored = ledger_.held(id) - device;
  totals_.tokens_restored += static_cast<std::uint64_t>(restored);
  return restored;
}

std::int32_t PrefixCache::Impl::restore_whole(const TreePosition& host, SlotId id,
                                              CachePlan& plan) {
  ZH_CHECK(ledger_.held(id) == 0 && locked_.size() == 1);
  const Blob blob = host_[locked_.front()];
  if (!has_cells_for_blob(blob.range.size(), plan)) return 0;
  plan.push_back(RestoreRange{blob.id, id, blob.range});
  if (blob.range.size() > host.length) plan.push_back(DropTail{id, host.length});
  ledger_.append(id, host.length);
  Slot& slot = at(id);
  slot.reserved -= static_cast<std::uint32_t>(host.length);
  reserved_ -= static_cast<std::uint64_t>(host.length);
  tree_.move_slot(id, host.node);
  totals_.tokens_restored += static_cast<std::uint64_t>(host.length);
  return host.length;
}

}  // namespace zerohop
