// Compaction, one bounded slice at a call.
//
// Streams. Batches are fast only with dense, ascending ids: 206 tokens/s with ids 0–3, 90 with
// 0, 2, 4, 6. So the running slot with the highest id moves into the lowest hole; what is parked
// there is saved or dropped.
//
// Pool. Attention looks at every cell up to the highest that is used. The library places new cells
// in the first free ones behind a moving head, so parked cells end up anywhere; what is restored
// goes to the lowest free cells. So the tail of a parked slot is saved, dropped and restored. The
// books cannot see where cells lie: parked slots take turns, and the engine stops asking when
// another slice does not lower what it measures. The saved state stays as a copy, so that evicting
// the tail later costs nothing; it is the first to be forgotten.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

// Fewer cells are not worth three calls.
constexpr std::int32_t kCompactTokensMin = 32;

SlotId slot_id(std::size_t index) { return SlotId(static_cast<std::int32_t>(index)); }

}  // namespace

Compaction PrefixCache::Impl::compact(std::uint32_t cells_max) {
  Compaction compaction;
  if (capabilities_.dense_slots_matter && capabilities_.can_copy_whole) {
    compaction = compact_slots(cells_max);
  } else if (ranges_ && capabilities_.pooled && host_.exists()) {
    compaction = compact_cells(cells_max);
  }
  finish();
  return compaction;
}

Compaction PrefixCache::Impl::compact_slots(std::uint32_t cells_max) {
  Compaction compaction;
  std::size_t low = 0;
  while (low < slots_.size() && slots_[low].running) ++low;
  std::size_t high = slots_.size();
  while (high > 0 && !slots_[high - 1].running) --high;
  if (high == 0 || low >= high - 1) return compaction;
  const SlotId from = slot_id(high - 1);
  const SlotId to = slot_id(low);
  const std::int32_t held = ledger_.held(from);
  if (static_cast<std::uint32_t>(held) > cells_max) return compaction;

  Eviction eviction;
  eviction.cap = CacheCap::kHolders;
  evict_slot(to, eviction, compaction.plan);
  if (held > 0) {
    compaction.plan.push_back(ShareHead{from, to, held});
    compaction.plan.push_back(DropTail{from, 0});
  }
  slots_[low] = slots_[high - 1];
  slots_[high - 1] = Slot{};
  ledger_.set_running(to, true);
  if (held > 0) ledger_.share({from, held}, to);
  tree_.move_slot(to, tree_.node_of(from));
  tree_.move_slot(from, kRootNode);
  ledger_.truncate({from, 0});
  ledger_.set_running(from, false);
  refile(from);
  refile(to);
  compaction.moves.push_back({from, to});
  return compaction;
}

// The uppermost edge of those that only this slot holds and that are in the same saved state, or in
// none.
NodeId PrefixCache::Impl::unshared_top(SlotId slot) const {
  NodeId top = tree_.node_of(slot);
  const BlobIndex blob = tree_[top].blob;
  while (true) {
    const NodeId above = tree_[top].parent;
    if (above == kRootNode || tree_[above].slots != 1 || tree_[above].blob != blob) return top;
    top = above;
  }
}

std::optional<SlotId> PrefixCache::Impl::next_to_compact() const {
  std::optional<SlotId> best;
  for (const SlotId slot : roster_.parked()) {
    if (is_redundant(slot)) continue;
    if (ledger_.held(slot) - tree_[unshared_top(slot)].begin < kCompactTokensMin) continue;
    if (!best || at(slot).compacted < at(*best).compacted) best = slot;
  }
  return best;
}

Compaction PrefixCache::Impl::compact_cells(std::uint32_t cells_max) {
  Compaction compaction;
  const std::optional<SlotId> chosen = next_to_compact();
  if (!chosen || cells_max < static_cast<std::uint32_t>(kCompactTokensMin)) return compaction;
  at(*chosen).compacted = ++compaction_round_;
  const NodeId end = tree_.node_of(*chosen);
  PositionRange range{tree_[unshared_top(*chosen)].begin, tree_[end].end()};
  const auto most =
      static_cast<std::int32_t>(std::min<std::uint32_t>(cells_max, capabilities_.slot_cells));
  range.begin = std::max(range.begin, range.end - most);
  if (tree_[end].blob == kNoBlob) {
    // Splits an edge where the range begins inside it: a state covers whole edges.
    NodeId top = end;
    while (tree_[top].begin > range.begin) top = tree_[top].parent;
    if (tree_[top].begin < range.begin) split({top, range.begin});
    const Saving saving{end, range.begin, HostRoom::kFree};
    if (!save(*chosen, saving, compaction.plan)) return compaction;
  }
  const Blob& blob = host_[tree_[end].blob];
  const std::uint64_t meanwhile = ledger_.cells_held() - static_cast<std::uint64_t>(range.size()) +
                                  static_cast<std::uint64_t>(blob.range.size());
  if (meanwhile > capabilities_.cells) return compaction;
  compaction.plan.push_back(DropTail{*chosen, range.begin});
  compaction.plan.push_back(RestoreRange{blob.id, *chosen, range});
  return compaction;
}

}  // namespace zerohop
