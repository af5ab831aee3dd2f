#include "cache/prefix_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace zerohop {
namespace {

// Edges below this length are joined with a neighbour that was used at other times: what is known
// of a few tokens is not worth a node.
constexpr std::int32_t kJoinTokensMax = 16;

std::size_t size_of(std::int32_t count) { return static_cast<std::size_t>(count); }

}  // namespace

std::size_t PrefixTree::ChildKeyHash::operator()(const ChildKey& key) const {
  const std::uint64_t place =
      (std::uint64_t{key.parent} << 32) | static_cast<std::uint32_t>(key.token);
  return mix64(place ^ (key.scope.value * 0x9e3779b97f4a7c15u));
}

PrefixTree::PrefixTree(const PrefixTreeOptions& options)
    : options_(options), nodes_(1), slot_links_(options.slots) {
  nodes_[kRootNode].live = true;
}

// ---- nodes ----

NodeId PrefixTree::new_node() {
  NodeId id = 0;
  if (free_nodes_.empty()) {
    id = static_cast<NodeId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_nodes_.back();
    free_nodes_.pop_back();
    nodes_[id] = PrefixNode{};
  }
  nodes_[id].live = true;
  ++edges_;
  return id;
}

PrefixTree::ChildKey PrefixTree::key_of(NodeId id) const {
  const PrefixNode& node = nodes_[id];
  return ChildKey{node.parent, node.run.front(), node.scope};
}

NodeId PrefixTree::find_child(const ChildKey& key) const {
  const auto found = children_.find(key);
  return found == children_.end() ? kNoNode : found->second;
}

NodeId PrefixTree::child(NodeId parent, ScopeId scope, Token token) const {
  if (nodes_[parent].scope == kPublicScope) {
    const NodeId open = find_child({parent, token, kPublicScope});
    if (open != kNoNode || scope == kPublicScope) return open;
  }
  return find_child({parent, token, scope});
}

void PrefixTree::link(NodeId id) {
  PrefixNode& node = nodes_[id];
  PrefixNode& parent = nodes_[node.parent];
  const bool added = children_.emplace(key_of(id), id).second;
  ZH_CHECK(added);
  node.previous_sibling = kNoNode;
  node.next_sibling = parent.first_child;
  if (parent.first_child != kNoNode) nodes_[parent.first_child].previous_sibling = id;
  parent.first_child = id;
}

void PrefixTree::unlink(NodeId id) {
  PrefixNode& node = nodes_[id];
  children_.erase(key_of(id));
  if (node.previous_sibling != kNoNode) {
    nodes_[node.previous_sibling].next_sibling = node.next_sibling;
  } else {
    nodes_[node.parent].first_child = node.next_sibling;
  }
  if (node.next_sibling != kNoNode) {
    nodes_[node.next_sibling].previous_sibling = node.previous_sibling;
  }
}

bool PrefixTree::available(NodeId id) const {
  const PrefixNode& node = nodes_[id];
  if (id == kRootNode || node.slots > 0) return true;
  return options_.blobs == BlobKind::kRanges ? node.blob != kNoBlob : node.blobs > 0;
}

// Applies a change that may make the edge available, or no longer so.
template <class Change>
void PrefixTree::change(NodeId id, Change apply) {
  const bool before = available(id);
  apply(nodes_[id]);
  const bool after = available(id);
  const auto tokens = static_cast<std::uint64_t>(nodes_[id].size());
  if (!before && after) tokens_indexed_ += tokens;
  if (before && !after) tokens_indexed_ -= tokens;
}

PieceFacts PrefixTree::facts(NodeId id) const {
  PieceFacts facts = nodes_[id].facts;
  facts.tokens = static_cast<std::uint32_t>(nodes_[id].size());
  facts.begin = static_cast<std::uint32_t>(nodes_[id].begin);
  return facts;
}

// Its identity for the reuse model follows from where it begins.
void PrefixTree::name(NodeId id) {
  PrefixNode& node = nodes_[id];
  node.facts.id = piece_id(nodes_[node.parent].facts.id, static_cast<std::uint32_t>(node.begin),
                           node.run.front());
}

bool PrefixTree::is_above(NodeId upper, NodeId lower) const {
  while (nodes_[lower].begin > nodes_[upper].begin) lower = nodes_[lower].parent;
  return lower == upper || upper == kRootNode;
}

// ---- lookup ----

// Notes what can be started from `position`; `chain` tells whether everything above it is
// available, and keeps doing so.
void PrefixTree::consider(const TreePosition& position, bool& chain, TreeMatch& best) const {
  const PrefixNode& node = nodes_[position.node];
  const auto longer = [&](TreePosition& known) {
    if (position.length > known.length) known = position;
  };
  if (options_.use == PrefixUse::kExactEnds) {
    if (position.length != node.end()) return;
    if (node.first_slot >= 0) longer(best.device);
    if (node.blob != kNoBlob) longer(best.host);
    return;
  }
  chain = chain && available(position.node);
  if (node.slots > 0) longer(best.device);
  const bool ranges = options_.blobs == BlobKind::kRanges;
  if (ranges ? chain : node.blobs > 0) longer(best.host);
}

// From `from` on along the only path of nodes of one scope, or, while they are public, with a look
// at those of `scope` that leave it.
void PrefixTree::follow(NodeId from, ScopeId scope, TokenSpan tokens, TreeMatch& best) const {
  bool chain = true;
  NodeId at = from;
  while (at != kNoNode) {
    const PrefixNode& node = nodes_[at];
    const TokenSpan rest = tokens.subspan(size_of(node.begin));
    const auto same = static_cast<std::int32_t>(common_length(node.run.span(), rest));
    if (same > 0) consider({at, node.begin + same}, chain, best);
    const std::int32_t end = node.end();
    if (same < node.size() || !chain || size_of(end) == tokens.size()) return;
    const Token next = tokens[size_of(end)];
    if (node.scope == kPublicScope && scope != kPublicScope) {
      const NodeId own = find_child({at, next, scope});
      if (own != kNoNode) follow(own, scope, tokens, best);
    }
    at = find_child({at, next, node.scope});
  }
}

TreeMatch PrefixTree::match(ScopeId scope, TokenSpan tokens) const {
  TreeMatch best;
  follow(kRootNode, scope, tokens, best);
  return best;
}

TreePosition PrefixTree::walk(ScopeId scope, TokenSpan tokens) const {
  TreePosition at;
  while (size_of(at.length) < tokens.size()) {
    const NodeId next = child(at.node, scope, tokens[size_of(at.length)]);
    if (next == kNoNode) break;
    const TokenSpan rest = tokens.subspan(size_of(at.length));
    at.node = next;
    at.length += static_cast<std::int32_t>(common_length(nodes_[next].run.span(), rest));
    if (at.length < nodes_[next].end()) break;
  }
  return at;
}

// ---- shape ----

NodeId PrefixTree::split(const TreePosition& position) {
  const NodeId lower_id = position.node;
  if (position.length == nodes_[lower_id].end()) return lower_id;
  ZH_CHECK(position.length > nodes_[lower_id].begin && position.length < nodes_[lower_id].end());
  const NodeId upper_id = new_node();
  unlink(lower_id);
  PrefixNode& upper = nodes_[upper_id];
  PrefixNode& lower = nodes_[lower_id];
  upper.run = lower.run.take_front(size_of(position.length - lower.begin));
  upper.begin = lower.begin;
  upper.parent = lower.parent;
  upper.scope = lower.scope;
  upper.slots = lower.slots;
  upper.blobs = lower.blobs;
  upper.blob = options_.blobs == BlobKind::kRanges ? lower.blob : kNoBlob;
  upper.pins = lower.pins;
  upper.facts = lower.facts;
  upper.affinity = lower.affinity;
  upper.protected_until = lower.protected_until;
  upper.resumes_until = lower.resumes_until;
  upper.slot_hint = upper.blob_hint = lower_id;
  lower.begin = position.length;
  lower.parent = upper_id;
  lower.recalled_size = 0;
  name(lower_id);
  link(upper_id);
  link(lower_id);
  return upper_id;
}

NodeId PrefixTree::add_leaf(NodeId parent, ScopeId scope, TokenSpan tokens) {
  ZH_CHECK(!tokens.empty());
  ZH_CHECK(nodes_[parent].scope == kPublicScope || nodes_[parent].scope == scope);
  const NodeId id = new_node();
  PrefixNode& node = nodes_[id];
  node.run = TokenRun(tokens);
  node.begin = nodes_[parent].end();
  node.parent = parent;
  node.scope = scope;
  link(id);
  return id;
}

void PrefixTree::append(NodeId leaf, TokenSpan tokens) {
  PrefixNode& node = nodes_[leaf];
  ZH_DCHECK(leaf != kRootNode && node.first_child == kNoNode && node.slots == 1);
  node.run.append(tokens);
  if (available(leaf)) tokens_indexed_ += tokens.size();
}

// The same but for who ends between the two and how long they are.
bool PrefixTree::alike(const PrefixNode& upper, const PrefixNode& lower) const {
  const bool same_blob =
      options_.blobs == BlobKind::kRanges ? upper.blob == lower.blob : upper.blob == kNoBlob;
  return same_blob && upper.blobs == lower.blobs && upper.pins == lower.pins &&
         upper.scope == lower.scope && upper.affinity == lower.affinity &&
         upper.protected_until == lower.protected_until &&
         upper.resumes_until == lower.resumes_until &&
         upper.facts.generated == lower.facts.generated &&
         upper.facts.marked == lower.facts.marked && upper.facts.priority == lower.facts.priority;
}

bool PrefixTree::shift_border(NodeId upper_id, std::int32_t count) {
  PrefixNode& upper = nodes_[upper_id];
  const NodeId lower_id = upper.first_child;
  if (upper_id == kRootNode || lower_id == kNoNode) return false;
  PrefixNode& lower = nodes_[lower_id];
  if (lower.next_sibling != kNoNode || count >= lower.size() || !alike(upper, lower)) return false;
  const auto tokens = static_cast<std::uint64_t>(count);
  if (available(upper_id) && !available(lower_id)) tokens_indexed_ += tokens;
  if (!available(upper_id) && available(lower_id)) tokens_indexed_ -= tokens;
  unlink(lower_id);
  upper.run.take_from(lower.run, size_of(count));
  lower.begin += count;
  name(lower_id);
  link(lower_id);
  return true;
}

void PrefixTree::erase(NodeId id) {
  PrefixNode& node = nodes_[id];
  ZH_CHECK(id != kRootNode && node.first_child == kNoNode && node.slots == 0 && node.blobs == 0);
  ZH_CHECK(node.blob == kNoBlob && node.pins == 0);
  unlink(id);
  node = PrefixNode{};
  free_nodes_.push_back(id);
  --edges_;
}

NodeId PrefixTree::join(NodeId upper_id) {
  PrefixNode& upper = nodes_[upper_id];
  const NodeId lower_id = upper.first_child;
  if (upper_id == kRootNode || lower_id == kNoNode || upper.first_slot >= 0) return kNoNode;
  PrefixNode& lower = nodes_[lower_id];
  if (lower.next_sibling != kNoNode || upper.slots != lower.slots || !alike(upper, lower)) {
    return kNoNode;
  }
  const bool same_history =
      upper.facts.uses == lower.facts.uses && upper.facts.last_used_at == lower.facts.last_used_at;
  if (!same_history && std::min(upper.size(), lower.size()) >= kJoinTokensMax) return kNoNode;
  if (available(upper_id) != available(lower_id)) return kNoNode;
  if (upper.size() > lower.size()) lower.facts = upper.facts;
  lower.facts.id = upper.facts.id;
  lower.recalled_size = 0;
  unlink(lower_id);
  unlink(upper_id);
  upper.run.take_from(lower.run, lower.run.size());
  lower.run = upper.run;
  lower.begin = upper.begin;
  lower.parent = upper.parent;
  upper = PrefixNode{};
  free_nodes_.push_back(upper_id);
  --edges_;
  link(lower_id);
  return upper_id;
}

// ---- slots, blobs, pins ----

void PrefixTree::move_slot(SlotId slot, NodeId to) {
  SlotLink& mine = slot_links_[index(slot)];
  NodeId old = mine.node;
  if (old == to) return;
  if (old != kRootNode) {
    if (mine.previous >= 0) slot_links_[size_of(mine.previous)].next = mine.next;
    if (mine.previous < 0) nodes_[old].first_slot = mine.next;
    if (mine.next >= 0) slot_links_[size_of(mine.next)].previous = mine.previous;
  }
  mine = SlotLink{to, -1, -1};
  if (to != kRootNode) {
    mine.next = nodes_[to].first_slot;
    if (mine.next >= 0) slot_links_[size_of(mine.next)].previous = slot.value;
    nodes_[to].first_slot = slot.value;
  }
  // Both climb to the node where they meet, the lower one first.
  while (old != to) {
    if (nodes_[old].end() > nodes_[to].end()) {
      change(old, [](PrefixNode& node) { --node.slots; });
      old = nodes_[old].parent;
    } else {
      change(to, [](PrefixNode& node) { ++node.slots; });
      const NodeId above = nodes_[to].parent;
      nodes_[above].slot_hint = to;
      to = above;
    }
  }
}

// A child whose `count` is not 0; `hint` is tried first, and follows.
NodeId PrefixTree::child_with(NodeId id, std::uint32_t PrefixNode::*count, NodeId& hint) const {
  if (hint == kNoNode || nodes_[hint].parent != id || nodes_[hint].*count == 0) {
    hint = nodes_[id].first_child;
    while (nodes_[hint].*count == 0) hint = nodes_[hint].next_sibling;
  }
  return hint;
}

SlotId PrefixTree::slot_through(NodeId id) const {
  ZH_CHECK(id != kRootNode && nodes_[id].slots > 0);
  while (nodes_[id].first_slot < 0) {
    id = child_with(id, &PrefixNode::slots, nodes_[id].slot_hint);
  }
  return SlotId(nodes_[id].first_slot);
}

std::int32_t PrefixTree::attach_blob(NodeId end, BlobIndex blob, std::int32_t begin) {
  ZH_CHECK(end != kRootNode && nodes_[end].blob == kNoBlob);
  std::int32_t covered = 0;
  if (options_.blobs == BlobKind::kWholes) {
    nodes_[end].blob = blob;
    covered = nodes_[end].end();
  } else {
    for (NodeId id = end;
         id != kRootNode && nodes_[id].begin >= begin && nodes_[id].blob == kNoBlob;
         id = nodes_[id].parent) {
      change(id, [&](PrefixNode& node) { node.blob = blob; });
      covered += nodes_[id].size();
    }
  }
  for (NodeId id = end; id != kRootNode; id = nodes_[id].parent) {
    change(id, [](PrefixNode& node) { ++node.blobs; });
    nodes_[nodes_[id].parent].blob_hint = id;
  }
  return covered;
}

void PrefixTree::detach_blob(NodeId end) {
  const BlobIndex blob = nodes_[end].blob;
  ZH_CHECK(blob != kNoBlob);
  if (options_.blobs == BlobKind::kWholes) {
    nodes_[end].blob = kNoBlob;
  } else {
    for (NodeId id = end; id != kRootNode && nodes_[id].blob == blob; id = nodes_[id].parent) {
      change(id, [](PrefixNode& node) { node.blob = kNoBlob; });
    }
  }
  for (NodeId id = end; id != kRootNode; id = nodes_[id].parent) {
    change(id, [](PrefixNode& node) { --node.blobs; });
  }
}

NodeId PrefixTree::blob_through(NodeId id) const {
  ZH_CHECK(id != kRootNode && nodes_[id].blobs > 0 && options_.blobs == BlobKind::kWholes);
  while (nodes_[id].blob == kNoBlob) {
    id = child_with(id, &PrefixNode::blobs, nodes_[id].blob_hint);
  }
  return id;
}

NodeId PrefixTree::blob_top(NodeId end) const {
  NodeId top = end;
  while (nodes_[top].parent != kRootNode && nodes_[nodes_[top].parent].blob == nodes_[end].blob) {
    top = nodes_[top].parent;
  }
  return top;
}

void PrefixTree::add_pin(NodeId end) {
  for (NodeId id = end; id != kRootNode; id = nodes_[id].parent) ++nodes_[id].pins;
}

void PrefixTree::remove_pin(NodeId end) {
  for (NodeId id = end; id != kRootNode; id = nodes_[id].parent) --nodes_[id].pins;
}

// ---- books ----

void PrefixTree::check_node(NodeId id) const {
  const PrefixNode& node = nodes_[id];
  const PrefixNode& parent = nodes_[node.parent];
  ZH_CHECK(parent.live && node.size() > 0 && node.begin == parent.end());
  ZH_CHECK(parent.scope == kPublicScope || parent.scope == node.scope);
  ZH_CHECK(find_child(key_of(id)) == id);
  std::uint32_t slots = 0;
  for (std::int32_t slot = node.first_slot; slot >= 0; slot = slot_links_[size_of(slot)].next) {
    ZH_CHECK(slot_links_[size_of(slot)].node == id);
    ++slots;
  }
  const bool ranges = options_.blobs == BlobKind::kRanges;
  bool blob_goes_on = false;
  std::uint32_t blobs = 0;
  for (NodeId child = node.first_child; child != kNoNode; child = nodes_[child].next_sibling) {
    ZH_CHECK(nodes_[child].parent == id);
    slots += nodes_[child].slots;
    blobs += nodes_[child].blobs;
    ZH_CHECK(nodes_[child].pins <= node.pins);
    if (ranges && node.blob != kNoBlob && nodes_[child].blob == node.blob) {
      ZH_CHECK(!blob_goes_on);
      blob_goes_on = true;
    }
  }
  if (node.blob != kNoBlob && !blob_goes_on) ++blobs;
  ZH_CHECK(slots == node.slots && blobs == node.blobs);
  // Nothing that is nowhere stays without a reason.
  ZH_CHECK(available(id) || node.first_child != kNoNode);
}

void PrefixTree::check_integrity() const {
  std::uint32_t edges = 0;
  std::uint64_t tokens = 0;
  for_each([&](NodeId id) {
    check_node(id);
    ++edges;
    if (available(id)) tokens += static_cast<std::uint64_t>(nodes_[id].size());
  });
  ZH_CHECK(edges == edges_ && edges == children_.size() && tokens == tokens_indexed_);
  ZH_CHECK(edges + 1 + free_nodes_.size() == nodes_.size());
}

}  // namespace zerohop
