// The radix tree over token ids: every prefix that is on the device or in host memory.
//
//   root ─┬─ "You are a helpful …" (public) ─┬─ "Weather in Rome?" (scope 7)   slot 3
//         │                                  └─ "Write a poem" (public) ─ …    slot 0, blob 12
//         └─ "Translate" (scope 9)                                             blob 4
//
// A node is an edge with its end: the tokens that lead to it from its parent. One tree serves all
// scopes: a node belongs to one, children are found by scope and first token, and nodes of a
// private scope may hang below public ones, never the other way round. So what is public is held
// once, and a lookup that walks public nodes and those of its own scope cannot see anything else.
//
// Slots end at nodes, exactly: a slot that holds 50 tokens of an edge of 80 makes two edges of it.
// So an edge is on the device as a whole or not at all. Saved states (blobs) come in two kinds:
//
//   ranges  a blob covers a chain of edges, each of which names it; an edge has one blob or none
//   wholes  a blob holds everything from position 0 to the node that names it
//
// An edge that is nowhere stays only while something below it is somewhere: lookups end in front of
// it, and what is below is found again once somebody computes it.
//
// Costs: a lookup is one hash probe for each edge and a comparison of tokens at memcmp speed;
// split, append and descent are O(1), attaching a slot or a blob O(edges above it).
//
// The prefix cache owns the tree and keeps it in step with cells and bytes. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cache/reuse_model.h"
#include "cache/token_run.h"
#include "core/tenant.h"
#include "core/token.h"

namespace zerohop {

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

/// Place of a blob in the books of the host tier.
using BlobIndex = std::uint32_t;
inline constexpr BlobIndex kNoBlob = std::numeric_limits<BlobIndex>::max();

struct PrefixNode {
  TokenRun run;
  std::int32_t begin = 0;  ///< tokens above this edge
  NodeId parent = kNoNode;
  NodeId first_child = kNoNode;
  NodeId next_sibling = kNoNode;
  NodeId previous_sibling = kNoNode;
  ScopeId scope = kPublicScope;

  std::uint32_t slots = 0;       ///< that end here or below
  std::int32_t first_slot = -1;  ///< head of the list of those that end here
  std::uint32_t blobs = 0;       ///< that end here or below
  BlobIndex blob = kNoBlob;      ///< ranges: covers this edge; wholes: ends here
  std::uint32_t pins = 0;        ///< that end here or below

  PieceFacts facts;                ///< without `tokens` and `begin`, which the edge itself tells
  std::int32_t recalled_size = 0;  ///< of the same edge before it was dropped; 0: it is new
  std::uint64_t affinity = 0;
  TimePoint protected_until{};  ///< a client's cache mark
  TimePoint resumes_until{};    ///< a parked sequence will go on with it

  std::int32_t size() const { return static_cast<std::int32_t>(run.size()); }
  std::int32_t end() const { return begin + size(); }

 private:
  friend class PrefixTree;
  bool live = false;
  mutable NodeId slot_hint = kNoNode;  // a child with slots, perhaps
  mutable NodeId blob_hint = kNoNode;  // a child with blobs, perhaps
};

/// What a prefix can be started from.
enum class BlobKind : std::uint8_t { kRanges, kWholes };
enum class PrefixUse : std::uint8_t {
  kAnyLength,  ///< tails can be cut, so every prefix of what is held is usable
  kExactEnds,  ///< only where a slot or a blob ends
};

struct PrefixTreeOptions {
  std::uint32_t slots = 1;
  BlobKind blobs = BlobKind::kRanges;
  PrefixUse use = PrefixUse::kAnyLength;
};

/// A prefix in the tree: `length` tokens, the last of which is on the edge of `node`.
struct TreePosition {
  NodeId node = kRootNode;
  std::int32_t length = 0;
};

struct TreeMatch {
  TreePosition device;  ///< longest in cells
  TreePosition host;    ///< ranges: longest at all, cells included; wholes: longest in a blob
};

class PrefixTree {
 public:
  explicit PrefixTree(const PrefixTreeOptions& options);

  const PrefixNode& operator[](NodeId id) const { return nodes_[id]; }
  PrefixNode& operator[](NodeId id) { return nodes_[id]; }
  bool is_live(NodeId id) const { return nodes_[id].live; }
  std::uint32_t edges() const { return edges_; }
  /// Those of available edges.
  std::uint64_t tokens_indexed() const { return tokens_indexed_; }

  /// Longest prefixes of `tokens` that `scope` may see. Allocates nothing.
  TreeMatch match(ScopeId scope, TokenSpan tokens) const;
  /// Longest path of nodes that spells a prefix of `tokens`, available or not: the first found,
  /// public before private at each node.
  TreePosition walk(ScopeId scope, TokenSpan tokens) const;
  /// The child that goes on with `token`, as `scope` sees it; a public one first.
  NodeId child(NodeId parent, ScopeId scope, Token token) const;
  /// On the device or in host memory, or the root.
  bool available(NodeId id) const;
  PieceFacts facts(NodeId id) const;
  bool is_above(NodeId upper, NodeId lower) const;

  // ---- shape ----

  /// The node that ends at `position.length`: an edge is split where that lies inside it. The lower
  /// half keeps its id.
  NodeId split(const TreePosition& position);
  NodeId add_leaf(NodeId parent, ScopeId scope, TokenSpan tokens);
  /// Longer by `tokens`; for an edge that nobody else ends on or goes on from.
  void append(NodeId leaf, TokenSpan tokens);
  /// Moves the border between a node and its only child down by `count` tokens, fewer than the
  /// child has. False where the two differ in who holds them.
  bool shift_border(NodeId upper, std::int32_t count);
  /// Removes a node without children, slots, blobs and pins.
  void erase(NodeId leaf);
  /// Joins a node with its only child where nothing tells them apart. Returns the node that was
  /// joined into its child and is gone, or kNoNode.
  NodeId join(NodeId upper);

  // ---- who is where ----

  NodeId node_of(SlotId slot) const { return slot_links_[index(slot)].node; }
  /// The next slot that ends at the same node; below 0: none.
  std::int32_t next_slot(SlotId slot) const { return slot_links_[index(slot)].next; }
  /// `slot` ends at `node` from now on.
  void move_slot(SlotId slot, NodeId node);
  /// A slot that ends at `node` or below. There must be one.
  SlotId slot_through(NodeId node) const;

  /// Ranges: the edges from `node` upwards that begin at `begin` or later, and have no blob, name
  /// `blob`; returns how many tokens these are. Wholes: `node` does.
  std::int32_t attach_blob(NodeId node, BlobIndex blob, std::int32_t begin);
  void detach_blob(NodeId node);
  /// Wholes: a node with a blob, `node` or below it. There must be one.
  NodeId blob_through(NodeId node) const;
  /// Ranges: the uppermost node that names the blob that ends at `node`.
  NodeId blob_top(NodeId node) const;

  void add_pin(NodeId node);
  void remove_pin(NodeId node);

  template <class Visit>
  void for_each(Visit visit) const {
    for (NodeId id = 1; id < nodes_.size(); ++id) {
      if (nodes_[id].live) visit(id);
    }
  }

  void check_integrity() const;

 private:
  struct ChildKey {
    NodeId parent = kRootNode;
    Token token = 0;
    ScopeId scope;
    friend bool operator==(const ChildKey&, const ChildKey&) = default;
  };
  struct ChildKeyHash {
    std::size_t operator()(const ChildKey& key) const;
  };
  struct SlotLink {
    NodeId node = kRootNode;
    std::int32_t next = -1;
    std::int32_t previous = -1;
  };

  static std::size_t index(SlotId slot) { return static_cast<std::size_t>(slot.value); }
  NodeId new_node();
  NodeId find_child(const ChildKey& key) const;
  NodeId child_with(NodeId id, std::uint32_t PrefixNode::*count, NodeId& hint) const;
  ChildKey key_of(NodeId id) const;
  void name(NodeId id);
  void link(NodeId id);
  void unlink(NodeId id);
  template <class Change>
  void change(NodeId id, Change apply);
  void follow(NodeId from, ScopeId scope, TokenSpan tokens, TreeMatch& best) const;
  void consider(const TreePosition& position, bool& chain, TreeMatch& best) const;
  bool alike(const PrefixNode& upper, const PrefixNode& lower) const;
  void check_node(NodeId id) const;

  const PrefixTreeOptions options_;
  std::vector<PrefixNode> nodes_;
  std::vector<NodeId> free_nodes_;
  std::vector<SlotLink> slot_links_;
  std::unordered_map<ChildKey, NodeId, ChildKeyHash> children_;
  std::uint32_t edges_ = 0;
  std::uint64_t tokens_indexed_ = 0;
};

}  // namespace zerohop
