// What moves the end of a slot: grow, correct, release, and the upkeep of the tree behind them.
#include <algorithm>

#include "base/check.h"
#include "cache/prefix_cache_impl.h"

namespace zerohop {
namespace {

// A parked sequence that does not come back within this time (its client is gone) loses its rank.
constexpr Duration kResumeLifetime = std::chrono::minutes(10);

// Clients choose affinity keys, so there may be any number of them.
constexpr std::size_t kAffinitiesMax = 4096;
constexpr std::uint64_t kAffinityLookupsMax = 2048;

std::size_t size_of(std::int32_t count) { return static_cast<std::size_t>(count); }

}  // namespace

PrefixCache::Impl::Slot& PrefixCache::Impl::at(SlotId slot) {
  ZH_CHECK(slot.value >= 0 && size_of(slot.value) < slots_.size());
  return slots_[size_of(slot.value)];
}

const PrefixCache::Impl::Slot& PrefixCache::Impl::at(SlotId slot) const {
  ZH_CHECK(slot.value >= 0 && size_of(slot.value) < slots_.size());
  return slots_[size_of(slot.value)];
}

// After a change of what the slot holds or whether it runs.
void PrefixCache::Impl::refile(SlotId slot) {
  const SlotState idle = ledger_.held(slot) > 0 ? SlotState::kParked : SlotState::kEmpty;
  roster_.set(slot, at(slot).running ? SlotState::kRunning : idle);
}

// ---- growing ----

void PrefixCache::Impl::grow(SlotId id, TokenSpan tokens, TimePoint now) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running && tokens.size() <= slot.reserved);
  now_ = std::max(now_, now);
  const auto count = static_cast<std::uint32_t>(tokens.size());
  slot.reserved -= count;
  reserved_ -= count;
  std::int32_t held = ledger_.held(id);
  ledger_.append(id, static_cast<std::int32_t>(tokens.size()));
  // An edge is used as a whole: the prompt, its marked beginning and the answer are edges of their
  // own.
  while (!tokens.empty()) {
    std::size_t piece = tokens.size();
    for (const std::int32_t border : {slot.marked_end, slot.prompt_end}) {
      if (border > held) piece = std::min(piece, size_of(border - held));
    }
    advance(id, tokens.first(piece));
    held += static_cast<std::int32_t>(piece);
    tokens = tokens.subspan(piece);
  }
  if (!joinable_.empty()) finish();
}

void PrefixCache::Impl::advance(SlotId id, TokenSpan tokens) {
  while (!tokens.empty()) {
    std::size_t done = append_to_edge(id, tokens);
    if (done == 0) {
      const NodeId child = tree_.child(tree_.node_of(id), at(id).scope, tokens.front());
      done = child == kNoNode ? add_edge(id, tokens) : follow_edge(id, child, tokens);
    }
    tokens = tokens.subspan(done);
  }
}

// The usual case of a decode step: the slot alone ends at a leaf, which becomes longer. Returns by
// how much. Not so for an edge that it found there when it was placed.
std::size_t PrefixCache::Impl::append_to_edge(SlotId id, TokenSpan tokens) {
  const Slot& slot = at(id);
  const NodeId node_id = tree_.node_of(id);
  const PrefixNode& node = tree_[node_id];
  if (node_id == kRootNode || node.slots != 1 || node.first_child != kNoNode) return 0;
  if (node.blobs != 0 || node.pins != 0 || node.scope != slot.scope) return 0;
  const std::int32_t end = node.end();
  if (end == slot.prompt_end || end == slot.marked_end || end <= slot.reused) return 0;
  std::size_t count = tokens.size();
  if (node.recalled_size > 0) {
    count = std::min(count, size_of(std::max(node.recalled_size - node.size(), 0)));
  }
  if (count > 0) tree_.append(node_id, tokens.first(count));
  return count;
}

// Nobody has computed these tokens here. If they were and have been dropped, the model knows how
// often they were used, and where that edge ended.
std::size_t PrefixCache::Impl::add_edge(SlotId id, TokenSpan tokens) {
  const Slot& slot = at(id);
  const NodeId node = tree_.node_of(id);
  PieceFacts facts = new_facts(node, tokens.front());
  facts.generated = static_cast<std::int32_t>(facts.begin) >= slot.prompt_end;
  facts.priority = slot.priority;
  const auto recalled = static_cast<std::int32_t>(reuse_.recall(facts));
  if (recalled > 0) tokens = tokens.first(std::min(tokens.size(), size_of(recalled)));
  const NodeId leaf = tree_.add_leaf(node, slot.scope, tokens);
  tree_[leaf].facts = facts;
  tree_[leaf].recalled_size = recalled;
  tree_[leaf].affinity = slot.affinity;
  tree_.move_slot(id, leaf);
  return tokens.size();
}

PieceFacts PrefixCache::Impl::new_facts(NodeId parent, Token first) const {
  PieceFacts facts;
  facts.begin = static_cast<std::uint32_t>(tree_[parent].end());
  facts.id = piece_id(tree_[parent].facts.id, facts.begin, first);
  facts.created_at = facts.last_used_at = reuse_.now();
  return facts;
}

// All splits go through here: the reuse model is told of the lower half.
NodeId PrefixCache::Impl::split(const TreePosition& position) {
  const NodeId node = tree_.split(position);
  if (node != position.node) reuse_.note(tree_.facts(position.node));
  return node;
}

// Others have computed these tokens too: the slot goes down along their edge. Returns how many
// tokens that were. Two sequences that write the same text step by step only move the border
// between them.
std::size_t PrefixCache::Impl::follow_edge(SlotId id, NodeId child, TokenSpan tokens) {
  const NodeId node = tree_.node_of(id);
  const std::size_t same = common_length(tree_[child].run.span(), tokens);
  ZH_CHECK(same > 0);
  const auto count = static_cast<std::int32_t>(same);
  const bool alone_here = tree_[node].first_slot == id.value && tree_.next_slot(id) < 0;
  if (alone_here && node != kRootNode && tree_.shift_border(node, count)) return same;
  const NodeId end = split({child, tree_[child].begin + count});
  tree_.move_slot(id, end);
  joinable_.push_back(node);
  return same;
}

// ---- shrinking ----

// The slot holds only its first `length` tokens: in all books, and in no plan.
void PrefixCache::Impl::move_end(SlotId id, std::int32_t length) {
  const NodeId old = tree_.node_of(id);
  ZH_CHECK(length >= 0 && length <= tree_[old].end());
  ledger_.truncate({id, length});
  NodeId node = old;
  while (tree_[node].begin >= length && node != kRootNode) node = tree_[node].parent;
  if (tree_[node].end() > length) node = split({node, length});
  tree_.move_slot(id, node);
  refile(id);
  prune(old);
}

void PrefixCache::Impl::truncate(SlotId id, std::int32_t length, CachePlan& plan) {
  if (ledger_.held(id) <= length) return;
  plan.push_back(DropTail{id, length});
  move_end(id, length);
}

void PrefixCache::Impl::correct(SlotId id, std::int32_t held) {
  Slot& slot = at(id);
  const std::int32_t before = ledger_.held(id);
  ZH_CHECK(held >= 0 && held <= before);
  if (held == before) return;
  move_end(id, held);
  if (!slot.running) {
    finish();
    return;
  }
  slot.reused = std::min(slot.reused, held);
  // The missing ones have to be computed. Cells that this slot shared are still held by others, so
  // there may be less room than it lost.
  const std::int64_t missing = before - held;
  const std::int64_t room =
      capabilities_.pooled ? std::max<std::int64_t>(cells_free(), 0) : missing;
  const auto more = static_cast<std::uint32_t>(std::min(missing, room));
  slot.reserved += more;
  reserved_ += more;
  finish();
}

// ---- the end ----

// How much of what a sequence holds stays.
std::int32_t PrefixCache::Impl::kept_length(SlotId id, Keep keep) const {
  const Slot& slot = at(id);
  const std::int32_t held = ledger_.held(id);
  if (keep == Keep::kParked) return held;
  std::int32_t kept = held;
  if (keep == Keep::kNothing) kept = std::min(slot.reused, held);
  if (options_.keep != KeepRule::kAll) {
    // Marks of earlier requests count as well: the nodes know.
    NodeId node = tree_.node_of(id);
    const bool marks = options_.keep == KeepRule::kMarked;
    while (node != kRootNode && tree_[node].pins == 0 && !(marks && tree_[node].facts.marked)) {
      node = tree_[node].parent;
    }
    kept = std::min(kept, tree_[node].end());
  }
  return exact_ends_ && kept < held ? 0 : kept;
}

CachePlan PrefixCache::Impl::release(SlotId id, Keep keep, TimePoint now) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running);
  now_ = std::max(now_, now);
  CachePlan plan;
  apply_marks(id);
  extend_pins();
  touch_path(id);
  note_end(id, keep);
  const std::int32_t kept = kept_length(id, keep);
  slot.running = false;
  --running_;
  reserved_ -= slot.reserved;
  slot.reserved = 0;
  ledger_.set_running(id, false);
  refile(id);
  if (kept < ledger_.held(id)) {
    if (keep != Keep::kNothing) last_cap_ = CacheCap::kNotKept;
    truncate(id, kept, plan);
  }
  if (keep == Keep::kParked) {
    for (NodeId node = tree_.node_of(id); node != kRootNode; node = tree_[node].parent) {
      tree_[node].resumes_until = now_ + kResumeLifetime;
    }
  }
  drop_redundant_around(id, plan);
  finish();
  return plan;
}

// What stands in front of the client's cache mark is protected from now on.
void PrefixCache::Impl::apply_marks(SlotId id) {
  const Slot& slot = at(id);
  const std::int32_t marked = std::min(slot.marked_end, ledger_.held(id));
  if (marked <= 0) return;
  marks_seen_ = true;
  NodeId node = tree_.node_of(id);
  while (tree_[node].begin >= marked) node = tree_[node].parent;
  node = split({node, marked});
  for (; node != kRootNode; node = tree_[node].parent) {
    tree_[node].facts.marked = true;
    tree_[node].protected_until = std::max(tree_[node].protected_until, now_ + slot.mark_lifetime);
  }
}

// The pieces that this sequence computed have their final size, and the length of its answer tells
// something about its prompt.
void PrefixCache::Impl::note_end(SlotId id, Keep keep) {
  const Slot& slot = at(id);
  const std::int32_t answer = std::max(ledger_.held(id) - slot.prompt_end, 0);
  for (NodeId node = tree_.node_of(id); node != kRootNode && tree_[node].begin >= slot.reused;
       node = tree_[node].parent) {
    PieceFacts& facts = tree_[node].facts;
    if (keep == Keep::kCells && !facts.generated) {
      facts.answer_tokens = static_cast<std::uint32_t>(answer);
    }
    reuse_.note(tree_.facts(node));
  }
}

// While a sequence runs, what it holds is in use: its idle time begins now.
void PrefixCache::Impl::touch_path(SlotId id) {
  for (NodeId node = tree_.node_of(id); node != kRootNode; node = tree_[node].parent) {
    tree_[node].facts.last_used_at = reuse_.now();
  }
  touch_affinity(at(id).affinity);
}

// ---- upkeep ----

void PrefixCache::Impl::touch_affinity(std::uint64_t affinity) {
  if (affinity == 0) return;
  affinities_[affinity] = reuse_.now();
  if (affinities_.size() <= kAffinitiesMax) return;
  // Those that were not used for the longest are forgotten, many at once, so that it is rare.
  const std::uint64_t horizon = reuse_.now() - std::min(reuse_.now(), kAffinityLookupsMax);
  std::erase_if(affinities_, [&](const auto& entry) { return entry.second < horizon; });
  if (affinities_.size() > kAffinitiesMax) affinities_.clear();
}

// Removes `node` and those above it, as far as they are nowhere and lead nowhere.
void PrefixCache::Impl::prune(NodeId node) {
  while (node != kRootNode && !tree_.available(node) && tree_[node].first_child == kNoNode) {
    const NodeId parent = tree_[node].parent;
    if (tree_[node].pins > 0) leave_pinned(node);
    tree_.erase(node);
    node = parent;
  }
  if (node != kRootNode) joinable_.push_back(node);
}

// Joins edges that nothing tells apart any more. Not sooner: functions that are under way hold ids
// of nodes.
void PrefixCache::Impl::finish() {
  for (const NodeId node : joinable_) {
    if (tree_.is_live(node)) tree_.join(node);
  }
  joinable_.clear();
}

bool PrefixCache::Impl::is_redundant(SlotId id) const {
  const NodeId node = tree_.node_of(id);
  if (at(id).running || node == kRootNode) return false;
  if (!exact_ends_) return tree_[node].slots > 1;
  // Only ends count, and one parked slot at each is enough.
  return first_parked(node) != id.value;
}

void PrefixCache::Impl::drop_redundant(std::optional<SlotId> spared, CachePlan& plan) {
  const std::vector<SlotId> parked = roster_.parked();
  for (const SlotId slot : parked) {
    if (slot != spared && is_redundant(slot)) truncate(slot, 0, plan);
  }
}

// A slot that was released may have made those redundant that end on its path, or be so itself.
void PrefixCache::Impl::drop_redundant_around(SlotId id, CachePlan& plan) {
  NodeId node = tree_.node_of(id);
  std::vector<SlotId> ends;
  for (; node != kRootNode; node = tree_[node].parent) {
    for (std::int32_t i = tree_[node].first_slot; i >= 0; i = tree_.next_slot(SlotId(i))) {
      ends.push_back(SlotId(i));
    }
  }
  for (const SlotId slot : ends) {
    if (is_redundant(slot)) truncate(slot, 0, plan);
  }
}

}  // namespace zerohop
