#include "cache/prefix_cache.h"

#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

bool saves_ranges(const KvCapabilities& capabilities) {
  return capabilities.can_save_range && capabilities.can_share_range && capabilities.can_cut_tail;
}

PrefixTreeOptions tree_options(const KvCapabilities& capabilities) {
  PrefixTreeOptions options;
  options.slots = capabilities.slots;
  options.blobs = saves_ranges(capabilities) ? BlobKind::kRanges : BlobKind::kWholes;
  options.use = capabilities.can_cut_tail ? PrefixUse::kAnyLength : PrefixUse::kExactEnds;
  return options;
}

HostTierOptions host_options(const KvCapabilities& capabilities,
                             const PrefixCacheOptions& options) {
  return {options.host_bytes_max, options.host_entries_max, capabilities.bytes_per_cell};
}

}  // namespace

PrefixCache::Impl::Impl(const KvCapabilities& capabilities, const PrefixCacheOptions& options)
    : capabilities_(capabilities),
      options_(options),
      ranges_(saves_ranges(capabilities)),
      exact_ends_(!capabilities.can_cut_tail),
      tree_(tree_options(capabilities)),
      ledger_(capabilities.slots,
              capabilities.pooled ? CellLedger::Copies::kShare : CellLedger::Copies::kDuplicate),
      host_(host_options(capabilities, options)),
      slots_(capabilities.slots),
      roster_(capabilities.slots) {
  ZH_CHECK(capabilities.slots > 0 && capabilities.sequences > 0);
  ZH_CHECK(capabilities.sequences <= capabilities.slots);
  ZH_CHECK(capabilities.slot_cells > 0 && capabilities.slot_cells <= capabilities.cells);
  ZH_CHECK(capabilities.pooled ||
           std::uint64_t{capabilities.slots} * capabilities.slot_cells <= capabilities.cells);
}

// ---- questions ----

PrefixMatch PrefixCache::Impl::match(ScopeId scope, TokenSpan tokens) const {
  const TreeMatch match = tree_.match(scope, tokens);
  return {match.device.length, std::max(match.device.length, match.host.length)};
}

std::int32_t PrefixCache::Impl::held(SlotId slot) const {
  ZH_CHECK(slot.value >= 0 && static_cast<std::size_t>(slot.value) < slots_.size());
  return ledger_.held(slot);
}

CacheCounts PrefixCache::Impl::counts() const {
  CacheCounts counts = totals_;
  counts.slots_running = running_;
  counts.slots_parked = static_cast<std::uint32_t>(roster_.parked().size());
  counts.cells_total = capabilities_.cells;
  counts.cells_active = static_cast<std::uint32_t>(ledger_.cells_active());
  counts.cells_parked = static_cast<std::uint32_t>(ledger_.cells_held() - ledger_.cells_active());
  counts.cells_pinned = static_cast<std::uint32_t>(pinned_idle_cells());
  counts.cells_reserved = static_cast<std::uint32_t>(reserved_);
  counts.host_bytes = host_.bytes();
  counts.host_entries = host_.entries();
  counts.tokens_indexed = tree_.tokens_indexed();
  counts.edges = tree_.edges();
  return counts;
}

// ---- books ----

void PrefixCache::Impl::check_slots() const {
  std::uint32_t running = 0;
  std::uint64_t reserved = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const SlotId slot(static_cast<std::int32_t>(i));
    const NodeId node = tree_.node_of(slot);
    ZH_CHECK(tree_.is_live(node) && tree_[node].end() == ledger_.held(slot));
    ZH_CHECK(slots_[i].running == ledger_.is_running(slot));
    ZH_CHECK(static_cast<std::uint64_t>(ledger_.held(slot)) + slots_[i].reserved <=
             capabilities_.slot_cells);
    ZH_CHECK(slots_[i].running || slots_[i].reserved == 0);
    if (slots_[i].running) ++running;
    const bool idle = ledger_.held(slot) > 0;
    ZH_CHECK(roster_.state(slot) == (slots_[i].running ? SlotState::kRunning
                                     : idle            ? SlotState::kParked
                                                       : SlotState::kEmpty));
    reserved += slots_[i].reserved;
    // What a private scope computed is in no slot of another one.
    const ScopeId scope = tree_[node].scope;
    ZH_CHECK(!slots_[i].running || scope == kPublicScope || scope == slots_[i].scope);
  }
  ZH_CHECK(running == running_ && reserved == reserved_);
  ZH_CHECK(running_ <= capabilities_.sequences);
  ZH_CHECK(ledger_.cells_active() <= ledger_.cells_held());
  ZH_CHECK(ledger_.cells_held() + reserved_ <= capabilities_.cells);
}

void PrefixCache::Impl::check_blobs() const {
  std::uint64_t covered = 0;
  for (BlobIndex index = 0; index < host_.index_end(); ++index) {
    if (!host_.live(index)) continue;
    const Blob& blob = host_[index];
    ZH_CHECK(tree_.is_live(blob.end_node) && tree_[blob.end_node].blob == index);
    ZH_CHECK(tree_[blob.end_node].end() == blob.range.end);
    const NodeId top = ranges_ ? tree_.blob_top(blob.end_node) : blob.end_node;
    ZH_CHECK(ranges_ ? tree_[top].begin >= blob.range.begin : blob.range.begin == 0);
    for (NodeId id = blob.end_node;; id = tree_[id].parent) {
      ++covered;
      if (id == top) break;
    }
  }
  std::uint64_t named = 0;
  tree_.for_each([&](NodeId id) { named += tree_[id].blob != kNoBlob ? 1 : 0; });
  ZH_CHECK(named == covered);
  ZH_CHECK(host_.bytes_fit(0) && host_.entries_fit(0));
  ZH_CHECK(locked_.empty());
}

void PrefixCache::Impl::check_pins() const {
  std::unordered_map<NodeId, std::uint32_t> expected;
  for (const Pin& pin : pins_) {
    for (NodeId id = pin.end_node; id != kRootNode; id = tree_[id].parent) ++expected[id];
    ZH_CHECK(tree_.walk(pin.scope, pin.tokens).length >= tree_[pin.end_node].end() ||
             pin.scope != kPublicScope);
  }
  tree_.for_each([&](NodeId id) {
    const auto found = expected.find(id);
    ZH_CHECK(tree_[id].pins == (found == expected.end() ? 0 : found->second));
  });
}

void PrefixCache::Impl::check_integrity() const {
  tree_.check_integrity();
  ledger_.check_integrity();
  roster_.check_integrity();
  host_.check_integrity();
  check_slots();
  check_blobs();
  check_pins();
  ZH_CHECK(joinable_.empty());
}

// ---- the class itself ----

PrefixCache::PrefixCache(const KvCapabilities& capabilities, const PrefixCacheOptions& options)
    : impl_(std::make_unique<Impl>(capabilities, options)) {}

PrefixCache::~PrefixCache() = default;

PlaceResult PrefixCache::place(const PlaceRequest& request) { return impl_->place(request); }
void PrefixCache::correct(SlotId slot, std::int32_t held) { impl_->correct(slot, held); }
void PrefixCache::grow(SlotId slot, TokenSpan tokens, TimePoint now) {
  impl_->grow(slot, tokens, now);
}
std::optional<CachePlan> PrefixCache::reserve(SlotId slot, std::uint32_t cells_ahead,
                                              TimePoint now) {
  return impl_->reserve(slot, cells_ahead, now);
}
CachePlan PrefixCache::release(SlotId slot, Keep keep, TimePoint now) {
  return impl_->release(slot, keep, now);
}
CachePlan PrefixCache::checkpoint(SlotId slot, TimePoint now) {
  return impl_->checkpoint(slot, now);
}

PrefixMatch PrefixCache::match(ScopeId scope, TokenSpan tokens) const {
  return impl_->match(scope, tokens);
}
std::int32_t PrefixCache::held(SlotId slot) const { return impl_->held(slot); }
CacheCounts PrefixCache::counts() const { return impl_->counts(); }
CacheCap PrefixCache::last_cap() const { return impl_->last_cap(); }

CachePlan PrefixCache::park_idle(std::uint32_t cells, TimePoint now) {
  return impl_->park_idle(cells, now);
}
CachePlan PrefixCache::compress(std::uint64_t bytes) { return impl_->compress(bytes); }
CachePlan PrefixCache::drop_idle() { return impl_->drop_idle(); }
Compaction PrefixCache::compact(std::uint32_t cells_max, std::optional<TopCell> top) {
  return impl_->compact(cells_max, top);
}

void PrefixCache::pin(ScopeId scope, TokenSpan tokens) { impl_->pin(scope, tokens); }
void PrefixCache::unpin(ScopeId scope, TokenSpan tokens) { impl_->unpin(scope, tokens); }
std::optional<BlobId> PrefixCache::adopt(ScopeId scope, TokenSpan tokens, std::uint64_t bytes) {
  return impl_->adopt(scope, tokens, bytes);
}

CachePlan PrefixCache::saved(BlobId blob, std::uint64_t bytes) { return impl_->saved(blob, bytes); }
void PrefixCache::lost(BlobId blob) { impl_->lost(blob); }

void PrefixCache::check_integrity() const { impl_->check_integrity(); }

}  // namespace zerohop
