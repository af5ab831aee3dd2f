// Cells → host memory, or nothing.
//
// What goes is the tail of a parked slot, to the token: an edge that nobody else holds, or the end
// of it. So edges go from the leaves up, and what stands in front of others never goes before them.
// Which tail: by tier, and within a tier what is worth least:
//
//   twice      what another slot holds as well
//   plain      everything else
//   protected  by a client's cache mark that has not run out, as long as its scope's protected
//              edges fill at most half of the room: a tenant cannot keep all of it
//   resumes    of a sequence that was parked and will go on
//   pinned     never
//
// With a host tier an edge is saved before it goes, in pieces of 512 tokens or more (3 ms each on
// the default model): smaller ones would be thousands of tiny states.
#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

constexpr std::int32_t kSavePieceTokens = 512;
// What is left of an edge that is evicted in pieces is not left smaller than this.
constexpr std::int32_t kEdgeRestTokensMin = 64;

}  // namespace

// Below 0 while a plan is being made: that much has to be evicted.
std::int64_t PrefixCache::Impl::cells_free() const {
  return static_cast<std::int64_t>(capabilities_.cells) -
         static_cast<std::int64_t>(ledger_.cells_held() + reserved_);
}

// The parts of parked slots that are pinned.
void PrefixCache::Impl::pinned_heads(std::vector<SlotHead>& heads) const {
  if (pins_.empty()) return;
  for (const SlotId slot : roster_.parked()) {
    NodeId node = tree_.node_of(slot);
    while (node != kRootNode && tree_[node].pins == 0) node = tree_[node].parent;
    if (node != kRootNode) heads.push_back({slot, tree_[node].end()});
  }
}

std::uint64_t PrefixCache::Impl::pinned_idle_cells() const {
  std::vector<SlotHead> heads;
  pinned_heads(heads);
  return ledger_.idle_cells(heads);
}

// ---- what a piece is worth ----

double PrefixCache::Impl::worth(NodeId id) const {
  PieceFacts facts = tree_.facts(id);
  if (tree_[id].affinity != 0) {
    // What was computed under one key is held on to together.
    const auto group = affinities_.find(tree_[id].affinity);
    if (group != affinities_.end()) {
      facts.last_used_at = std::max(facts.last_used_at, group->second);
    }
  }
  if (options_.order == EvictionOrder::kLeastRecent) {
    return static_cast<double>(facts.last_used_at);
  }
  return reuse_.value(facts);
}

std::int32_t PrefixCache::Impl::node_tier(NodeId id) const {
  const PrefixNode& node = tree_[id];
  if (node.resumes_until > now_) return kTierResumes;
  return node.protected_until > now_ ? kTierProtected : kTierPlain;
}

std::optional<VictimRank> PrefixCache::Impl::slot_rank(SlotId slot,
                                                       const Eviction& eviction) const {
  const NodeId node = tree_.node_of(slot);
  if (is_redundant(slot)) return VictimRank{kTierTwice, 0};
  if (tree_[node].pins > 0) return std::nullopt;
  if (eviction.only_if_saved && !can_save(slot)) return std::nullopt;
  std::int32_t tier = node_tier(node);
  if (tier == kTierProtected) {
    const auto share = protected_cells_.find(tree_[node].scope.value);
    if (share != protected_cells_.end() && share->second > capabilities_.cells / 2) {
      tier = kTierPlain;
    }
  }
  return VictimRank{tier, worth(node)};
}

// Of all that only this slot holds, when its id is wanted: the highest tier, and the worth weighted
// by tokens. Nothing where it is the only holder of something pinned.
std::optional<VictimRank> PrefixCache::Impl::whole_slot_rank(SlotId slot) const {
  std::int32_t tier = kTierPlain;
  double worth_sum = 0;
  double tokens = 0;
  for (NodeId id = tree_.node_of(slot); id != kRootNode && tree_[id].slots == 1;
       id = tree_[id].parent) {
    if (tree_[id].pins > 0) return std::nullopt;
    tier = std::max(tier, node_tier(id));
    worth_sum += worth(id) * tree_[id].size();
    tokens += tree_[id].size();
  }
  if (tokens == 0) return VictimRank{kTierTwice, 0};
  return VictimRank{tier, worth_sum / tokens};
}

// Protected tokens that parked slots hold, by scope; at the start of an operation that evicts.
void PrefixCache::Impl::count_protected() {
  protected_cells_.clear();
  if (!marks_seen_) return;
  std::unordered_set<NodeId> seen;
  for (const SlotId slot : roster_.parked()) {
    for (NodeId id = tree_.node_of(slot); id != kRootNode; id = tree_[id].parent) {
      if (!seen.insert(id).second) break;
      if (tree_[id].protected_until <= now_) continue;
      protected_cells_[tree_[id].scope.value] += static_cast<std::uint64_t>(tree_[id].size());
    }
  }
}

// ---- making room ----

// False when nothing is left that may go.
bool PrefixCache::Impl::make_room(CachePlan& plan) {
  if (!capabilities_.pooled || cells_free() >= 0) return true;
  count_protected();
  while (cells_free() < 0) {
    Eviction eviction;
    eviction.cells = static_cast<std::uint64_t>(-cells_free());
    if (evict_piece(eviction, plan) == 0) return false;
  }
  return true;
}

// Evicts from the slot that is worth least. Returns how many tokens went; 0: there is none.
std::uint64_t PrefixCache::Impl::evict_piece(const Eviction& eviction, CachePlan& plan) {
  const std::vector<SlotId>& parked = roster_.parked();
  const auto score = [&](std::uint32_t index) { return slot_rank(parked[index], eviction); };
  const auto victim = slot_sweep_.lowest(static_cast<std::uint32_t>(parked.size()), score);
  if (!victim) return 0;
  return evict_tail(parked[victim->index], eviction, plan);
}

std::uint64_t PrefixCache::Impl::evict_tail(SlotId slot, const Eviction& eviction,
                                            CachePlan& plan) {
  const auto held = static_cast<std::uint64_t>(ledger_.held(slot));
  if (is_redundant(slot)) {
    truncate(slot, 0, plan);
    return held;
  }
  NodeId node = tree_.node_of(slot);
  const std::int32_t size = tree_[node].size();
  std::int32_t piece = size;
  if (eviction.cells > 0 && eviction.cells < static_cast<std::uint64_t>(size)) {
    piece = static_cast<std::int32_t>(eviction.cells);
    if (ranges_ && is_worth_saving(node)) {
      piece = std::max(piece, kSavePieceTokens);
      if (size - piece < kEdgeRestTokensMin) piece = size;
    }
  }
  const std::int32_t length = exact_ends_ ? 0 : tree_[node].end() - piece;
  if (ranges_ && length > tree_[node].begin) {
    // A part that goes for good is no piece of its own to learn from.
    if (is_worth_saving(node)) {
      split({node, length});
    } else {
      tree_.split({node, length});
    }
  }
  evict_edge(slot, length, eviction, plan);
  if (is_redundant(slot)) truncate(slot, 0, plan);
  return held - static_cast<std::uint64_t>(length);
}

// The last edge of the slot, or its end from `length` on, goes to host memory or is dropped.
void PrefixCache::Impl::evict_edge(SlotId slot, std::int32_t length, const Eviction& eviction,
                                   CachePlan& plan) {
  const NodeId node = tree_.node_of(slot);
  const std::int32_t piece = ledger_.held(slot) - length;
  const auto sum = protected_cells_.find(tree_[node].scope.value);
  if (sum != protected_cells_.end() && tree_[node].protected_until > now_) {
    sum->second -= std::min(sum->second, static_cast<std::uint64_t>(piece));
  }
  const bool kept = save_before_eviction(slot, eviction, plan);
  if (!kept) {
    const bool blocked = host_.exists() && !host_.fits(host_.expected_bytes(piece));
    if (!blocked) {
      last_cap_ = eviction.cap;
    } else {
      last_cap_ = host_.entries_fit(1) ? CacheCap::kHostBytes : CacheCap::kHostEntries;
    }
  }
  truncate(slot, length, plan);
  totals_.tokens_evicted += static_cast<std::uint64_t>(piece);
}

// Whatever is pinned or shared: the slot itself is needed.
void PrefixCache::Impl::evict_down_to(SlotId slot, std::int32_t length, const Eviction& eviction,
                                      CachePlan& plan) {
  while (ledger_.held(slot) > length) {
    const std::int32_t begin = exact_ends_ ? 0 : tree_[tree_.node_of(slot)].begin;
    evict_edge(slot, std::max(begin, exact_ends_ ? 0 : length), eviction, plan);
  }
}

// Until the slot is empty.
void PrefixCache::Impl::evict_slot(SlotId slot, const Eviction& eviction, CachePlan& plan) {
  while (ledger_.held(slot) > 0) evict_tail(slot, eviction, plan);
}

// ---- the public ones ----

std::optional<CachePlan> PrefixCache::Impl::reserve(SlotId id, std::uint32_t cells_ahead,
                                                    TimePoint now) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running);
  now_ = std::max(now_, now);
  if (static_cast<std::uint64_t>(ledger_.held(id)) + cells_ahead > capabilities_.slot_cells) {
    return std::nullopt;
  }
  if (capabilities_.pooled && cells_ahead > slot.reserved) {
    const std::uint64_t promised = reserved_ - slot.reserved + cells_ahead;
    // The usual case asks nobody: there are free cells.
    if (ledger_.cells_held() + promised > capabilities_.cells &&
        ledger_.cells_active() + pinned_idle_cells() + promised > capabilities_.cells) {
      return std::nullopt;
    }
  }
  reserved_ = reserved_ - slot.reserved + cells_ahead;
  slot.reserved = cells_ahead;
  CachePlan plan;
  const bool roomy = make_room(plan);
  ZH_CHECK(roomy);
  if (!joinable_.empty()) finish();
  return plan;
}

CachePlan PrefixCache::Impl::park_idle(std::uint32_t cells, TimePoint now) {
  now_ = std::max(now_, now);
  CachePlan plan;
  count_protected();
  const std::uint64_t before = ledger_.cells_held();
  while (before - ledger_.cells_held() < cells) {
    Eviction eviction;
    eviction.cells = cells - (before - ledger_.cells_held());
    eviction.room = HostRoom::kFree;
    eviction.only_if_saved = true;
    if (evict_piece(eviction, plan) == 0) break;
  }
  finish();
  return plan;
}

CachePlan PrefixCache::Impl::drop_idle() {
  CachePlan plan;
  Eviction eviction;
  eviction.room = HostRoom::kFree;
  while (!roster_.parked().empty()) evict_slot(roster_.parked().back(), eviction, plan);
  finish();
  return plan;
}

}  // namespace zerohop
