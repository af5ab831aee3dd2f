// Host memory: what is saved, and what is forgotten for it.
//
// Ranges. A saved state belongs to the edges that it covers. It is forgotten as a whole, because
// half of it frees no bytes, and only when nothing below it needs it to be reached: from the leaves
// up, as in cells. Its worth is that of its edges, weighted by their tokens. States whose edges are
// all in cells as well go first of all: they only save us saving them again.
//
// Small edges. A state of 10 tokens costs an entry and a call like one of 500. So an edge of fewer
// than 32 tokens is saved together with the edges above it, where only this slot holds them and
// they would go next anyway; otherwise it is dropped: computing 32 tokens takes some 60 ms.
//
// Caps. Before a state is saved, others are forgotten until it fits by the estimate; those worth
// more than it are not, and then it is dropped instead. An edge in front of others that are in host
// memory is worth all of these. When a state turns out to be larger than estimated, saved() forgets
// at once until the caps hold again.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

constexpr std::int32_t kSaveTokensMin = 32;

}  // namespace

// ---- saving ----

// Ranges: where the state begins that takes the edge of `node` along.
std::int32_t PrefixCache::Impl::saved_begin(NodeId id) const {
  if (!ranges_) return 0;
  const std::int32_t end = tree_[id].end();
  while (end - tree_[id].begin < kSaveTokensMin) {
    const NodeId above = tree_[id].parent;
    if (above == kRootNode || tree_[above].slots != 1 || tree_[above].blob != kNoBlob) break;
    id = above;
  }
  return tree_[id].begin;
}

bool PrefixCache::Impl::is_saved(NodeId id) const {
  return ranges_ || exact_ends_ ? tree_[id].blob != kNoBlob : tree_[id].blobs > 0;
}

// Not there yet, and large enough for a state.
bool PrefixCache::Impl::is_worth_saving(NodeId id) const {
  if (!host_.exists()) return false;
  if (is_saved(id)) return false;
  return tree_[id].end() - saved_begin(id) >= kSaveTokensMin;
}

// The edge at the end of the slot is in host memory already, or there is room for it as it is.
bool PrefixCache::Impl::can_save(SlotId slot) const {
  const NodeId id = tree_.node_of(slot);
  if (is_saved(id)) return true;
  const std::int32_t tokens = tree_[id].end() - saved_begin(id);
  return is_worth_saving(id) && host_.fits(host_.expected_bytes(tokens));
}

// Sees to it that the last edge of a parked slot is in host memory, where that is worth it. False
// when it will be lost.
bool PrefixCache::Impl::save_before_eviction(SlotId slot, const Eviction& eviction,
                                             CachePlan& plan) {
  const NodeId id = tree_.node_of(slot);
  if (id == kRootNode) return true;
  if (is_saved(id)) return true;
  if (!host_.exists()) return false;
  Saving saving;
  saving.node = id;
  saving.begin = saved_begin(id);
  saving.room = eviction.room;
  const bool in_front = ranges_ && tree_[id].blobs > 0;
  if (in_front && saving.room == HostRoom::kLessWorthy) saving.room = HostRoom::kAny;
  if (!in_front && !is_worth_saving(id)) return false;
  return save(slot, saving, plan);
}

bool PrefixCache::Impl::save(SlotId slot, const Saving& saving, CachePlan& plan) {
  const PositionRange range{saving.begin, tree_[saving.node].end()};
  const std::uint64_t bytes = host_.expected_bytes(range.size());
  if (!make_host_room(bytes, saving, plan)) return false;
  const BlobIndex index = host_.add(range, bytes);
  host_[index].end_node = saving.node;
  const std::int32_t covered = tree_.attach_blob(saving.node, index, range.begin);
  plan.push_back(SaveRange{slot, range, host_[index].id});
  totals_.tokens_saved += static_cast<std::uint64_t>(covered);
  return true;
}

// ---- forgetting ----

bool PrefixCache::Impl::make_host_room(std::uint64_t bytes, const Saving& saving, CachePlan& plan) {
  if (bytes > host_.bytes_max()) return false;
  if (host_.fits(bytes)) return true;
  const VictimRank entering{tree_[saving.node].pins > 0 ? kTierPinned : node_tier(saving.node),
                            worth(saving.node)};
  while (!host_.fits(bytes)) {
    if (saving.room == HostRoom::kFree) return false;
    const std::optional<Victim> victim = worst_blob();
    if (!victim || victim->rank.tier == kTierPinned) return false;
    if (saving.room == HostRoom::kLessWorthy && !(victim->rank < entering)) return false;
    last_cap_ = host_.entries_fit(1) ? CacheCap::kHostBytes : CacheCap::kHostEntries;
    forget(victim->index, plan);
  }
  return true;
}

std::optional<Victim> PrefixCache::Impl::worst_blob() {
  const auto score = [&](std::uint32_t index) { return blob_rank(index); };
  return blob_sweep_.lowest(host_.index_end(), score);
}

// Nothing for a state that others need to be reached, and for one that a plan needs.
std::optional<VictimRank> PrefixCache::Impl::blob_rank(BlobIndex index) {
  if (!host_.live(index) || host_[index].locks > 0) return std::nullopt;
  const NodeId end = host_[index].end_node;
  bool twice = true;
  bool pinned = false;
  std::int32_t tier = kTierPlain;
  double worth_sum = 0;
  double tokens = 0;
  NodeId top = end;
  for (NodeId id = end; id != kRootNode && tree_[id].blob == index; id = tree_[id].parent) {
    const double size = tree_[id].size();
    twice = twice && tree_[id].slots > 0;
    pinned = pinned || tree_[id].pins > 0;
    tier = std::max(tier, node_tier(id));
    worth_sum += size * worth(id);
    tokens += size;
    top = id;
  }
  if (exact_ends_) twice = first_parked(end) >= 0;
  if (!ranges_ && !exact_ends_) twice = twice || tree_[end].blobs > 1;
  count_as_protected(index, tier == kTierProtected && !twice);
  if (twice) return VictimRank{kTierTwice, worth_sum / tokens};
  if (ranges_ && tree_[top].blobs > 1) return std::nullopt;
  if (pinned) return VictimRank{kTierPinned, worth_sum / tokens};
  if (tier == kTierProtected && protected_bytes_[tree_[end].scope.value] > host_.bytes_max() / 2) {
    tier = kTierPlain;
  }
  return VictimRank{tier, worth_sum / tokens};
}

// The first slot that ends at `node` and does not run; below 0: none.
std::int32_t PrefixCache::Impl::first_parked(NodeId node) const {
  std::int32_t slot = tree_[node].first_slot;
  while (slot >= 0 && at(SlotId(slot)).running) slot = tree_.next_slot(SlotId(slot));
  return slot;
}

void PrefixCache::Impl::count_as_protected(BlobIndex index, bool counts) {
  Blob& blob = host_[index];
  if (blob.counts_as_protected == counts) return;
  blob.counts_as_protected = counts;
  const std::uint64_t scope = tree_[blob.end_node].scope.value;
  std::uint64_t& sum = protected_bytes_[scope];
  sum = counts ? sum + blob.bytes : sum - std::min(sum, blob.bytes);
  if (sum == 0) protected_bytes_.erase(scope);  // scopes come and go
}

// The blob goes out of the tree and the books.
void PrefixCache::Impl::detach(BlobIndex index) {
  count_as_protected(index, false);
  const NodeId end = host_[index].end_node;
  const std::uint64_t before = tree_.tokens_indexed();
  tree_.detach_blob(end);
  totals_.tokens_forgotten += before - tree_.tokens_indexed();
  host_.remove(index);
  prune(end);
}

void PrefixCache::Impl::forget(BlobIndex index, CachePlan& plan) {
  const BlobId id = host_[index].id;
  const bool may_be_planned = !host_[index].reported;
  detach(index);
  // One that this very plan would save is not saved at all.
  if (may_be_planned) {
    const auto saves = [&](const CacheOp& op) {
      const auto* save = std::get_if<SaveRange>(&op);
      return save != nullptr && save->blob == id;
    };
    const auto planned = std::find_if(plan.begin(), plan.end(), saves);
    if (planned != plan.end()) {
      plan.erase(planned);
      return;
    }
  }
  plan.push_back(ForgetBlob{id});
}

// ---- reports ----

CachePlan PrefixCache::Impl::saved(BlobId id, std::uint64_t bytes) {
  CachePlan plan;
  const std::optional<BlobIndex> index = host_.find(id);
  if (!index) {
    // Forgotten meanwhile, perhaps before these bytes were there.
    plan.push_back(ForgetBlob{id});
    return plan;
  }
  const bool counted = host_[*index].counts_as_protected;
  count_as_protected(*index, false);
  host_.report_bytes(*index, bytes);
  count_as_protected(*index, counted);
  while (!host_.bytes_fit(0) || !host_.entries_fit(0)) {
    const std::optional<Victim> victim = worst_blob();
    ZH_CHECK(victim.has_value());
    last_cap_ = host_.bytes_fit(0) ? CacheCap::kHostEntries : CacheCap::kHostBytes;
    forget(victim->index, plan);
  }
  finish();
  return plan;
}

void PrefixCache::Impl::lost(BlobId id) {
  const std::optional<BlobIndex> index = host_.find(id);
  if (!index) return;
  detach(*index);
  finish();
}

CachePlan PrefixCache::Impl::compress(std::uint64_t bytes) {
  CachePlan plan;
  std::uint64_t found = 0;
  for (BlobIndex index = 0; index < host_.index_end() && found < bytes; ++index) {
    if (!host_.live(index) || !host_[index].reported || host_[index].compressed) continue;
    host_[index].compressed = true;
    found += host_[index].bytes;
    plan.push_back(CompressBlob{host_[index].id});
  }
  return plan;
}

CachePlan PrefixCache::Impl::checkpoint(SlotId slot, TimePoint now) {
  ZH_CHECK(at(slot).running);
  now_ = std::max(now_, now);
  CachePlan plan;
  if (!exact_ends_) return plan;
  apply_marks(slot);
  Saving saving;
  saving.node = tree_.node_of(slot);
  const std::int32_t held = ledger_.held(slot);
  if (held >= kSaveTokensMin && tree_[saving.node].blob == kNoBlob) save(slot, saving, plan);
  finish();
  return plan;
}

}  // namespace zerohop
