// Compaction, one bounded slice at a call.
//
// Streams. Batches are fast only with dense, ascending ids: 206 tokens/s with ids 0–3, 90 with
// 0, 2, 4, 6. So the running slot with the highest id moves into the lowest hole; what is parked
// there is saved or dropped.
//
// Pool. Attention looks at every cell up to the highest that is used, so a pool is as long as its
// highest cell, whoever holds it:
//
//   |A A . . . . . . . B B|   11 cells looked at, 4 used
//
// What is restored goes to the lowest free cells. So the tail of the slot that holds the highest
// cell is saved, dropped and restored. With a hole below, the highest free cell stays free then,
// and the pool has become shorter: each slice lowers the top, and there is an end to it. Which cell
// is the highest the books cannot see; the model tells. Where it cannot be moved (it is too far
// from the end of its slot for one slice, belongs to a prefix that several hold, or there is no
// room for the copy in host memory) nothing else would make the pool shorter.
//
// The saved state stays as a copy, so that evicting the tail later costs nothing; it is the first
// to be forgotten. A state that was compressed is not used: cells would come back less precise than
// they went.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

// Fewer cells are not worth three calls.
constexpr std::int32_t kCompactTokensMin = 32;

SlotId slot_id(std::size_t index) { return SlotId(static_cast<std::int32_t>(index)); }

}  // namespace

Compaction PrefixCache::Impl::compact(std::uint32_t cells_max, std::optional<TopCell> top) {
  Compaction compaction;
  if (capabilities_.dense_slots_matter && capabilities_.can_copy_whole) {
    compaction = compact_slots(cells_max);
  } else if (top && ranges_ && capabilities_.pooled && host_.exists()) {
    compaction = compact_cells(cells_max, *top);
  }
  finish();
  return compaction;
}

Compaction PrefixCache::Impl::compact_slots(std::uint32_t cells_max) {
  Compaction compaction;
  std::size_t high = slots_.size();
  while (high > 0 && !slots_[high - 1].running) --high;
  if (high == 0) return compaction;
  const SlotId from = slot_id(high - 1);
  const std::int32_t held = ledger_.held(from);
  // What is parked in the hole may have to be saved first.
  const auto fits = [&](std::size_t hole) {
    return static_cast<std::uint32_t>(held + ledger_.held(slot_id(hole))) <= cells_max;
  };
  std::size_t low = 0;
  while (low + 1 < high && (slots_[low].running || !fits(low))) ++low;
  if (low + 1 >= high) return compaction;
  const SlotId to = slot_id(low);
  compaction.cells = static_cast<std::uint32_t>(held + ledger_.held(to));

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

// The uppermost edge of those that only one slot holds and that are in the same saved state as
// `node`, or in none.
NodeId PrefixCache::Impl::unshared_top(NodeId node) const {
  const BlobIndex blob = tree_[node].blob;
  while (true) {
    const NodeId above = tree_[node].parent;
    if (above == kRootNode || tree_[above].slots != 1 || tree_[above].blob != blob) return node;
    node = above;
  }
}

// What a slice can move of the slot, as states: those that are there, and new ones of what stands
// between them. From the beginning to the end.
std::vector<PrefixCache::Impl::TailPiece> PrefixCache::Impl::tail_to_move(
    SlotId slot, std::uint32_t cells_max) const {
  std::vector<TailPiece> tail;
  auto left =
      static_cast<std::int32_t>(std::min<std::uint32_t>(cells_max, capabilities_.slot_cells));
  NodeId end = tree_.node_of(slot);
  while (left > 0 && end != kRootNode && tree_[end].slots == 1) {
    const NodeId top = unshared_top(end);
    std::int32_t begin = tree_[top].begin;
    const std::int32_t size = tree_[end].end() - begin;
    if (tree_[end].blob == kNoBlob) {
      begin += std::max(0, size - left);
    } else {
      // While it is restored it takes cells for all that it holds, and what is in front of the
      // piece would take the lowest.
      const Blob& blob = host_[tree_[end].blob];
      if (size > left || blob.compressed || blob.range.begin < begin) break;
    }
    tail.push_back({end, begin});
    if (begin > tree_[top].begin) break;
    left -= size;
    end = tree_[top].parent;
  }
  std::reverse(tail.begin(), tail.end());
  return tail;
}

Compaction PrefixCache::Impl::compact_cells(std::uint32_t cells_max, const TopCell& top) {
  Compaction compaction;
  // A copy of a running sequence could be found by others, who may not reuse it.
  if (at(top.slot).running && options_.keep != KeepRule::kAll) return compaction;
  const std::vector<TailPiece> tail = tail_to_move(top.slot, cells_max);
  if (tail.empty()) return compaction;
  const PositionRange range{tail.front().begin, ledger_.held(top.slot)};
  if (range.size() < kCompactTokensMin || top.position < range.begin) return compaction;
  std::int32_t unsaved = 0;
  std::uint64_t meanwhile = ledger_.cells_held();
  for (const TailPiece& piece : tail) {
    const BlobIndex blob = tree_[piece.end].blob;
    const std::int32_t size = tree_[piece.end].end() - piece.begin;
    if (blob == kNoBlob) unsaved += size;
    if (blob != kNoBlob) meanwhile += static_cast<std::uint64_t>(host_[blob].range.size() - size);
  }
  if (meanwhile > capabilities_.cells) return compaction;
  if (unsaved > 0 && !host_.fits(host_.expected_bytes(unsaved))) return compaction;
  for (const TailPiece& piece : tail) {
    if (tree_[piece.end].blob != kNoBlob) continue;
    // Splits an edge where the piece begins inside it: a state covers whole edges.
    NodeId first = piece.end;
    while (tree_[first].begin > piece.begin) first = tree_[first].parent;
    if (tree_[first].begin < piece.begin) split({first, piece.begin});
    if (!save(top.slot, {piece.end, piece.begin, HostRoom::kFree}, compaction.plan)) {
      return compaction;
    }
  }
  compaction.plan.push_back(DropTail{top.slot, range.begin});
  for (const TailPiece& piece : tail) {
    const PositionRange positions{piece.begin, tree_[piece.end].end()};
    compaction.plan.push_back(RestoreRange{host_[tree_[piece.end].blob].id, top.slot, positions});
  }
  compaction.cells = static_cast<std::uint32_t>(range.size());
  return compaction;
}

}  // namespace zerohop
