#include "cache/prefix_tree.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

constexpr ScopeId kMine(7);
constexpr ScopeId kYours(8);

std::vector<Token> tokens(std::initializer_list<Token> list) { return list; }

// A leaf that a slot ends at, so that it is available.
NodeId leaf(PrefixTree& tree, NodeId parent, const std::vector<Token>& text, std::int32_t slot,
            ScopeId scope = kPublicScope) {
  const NodeId id = tree.add_leaf(parent, scope, text);
  tree.move_slot(SlotId(slot), id);
  return id;
}

TEST(PrefixTree, FindsTheLongestPrefixToTheToken) {
  PrefixTree tree({.slots = 4});
  leaf(tree, kRootNode, tokens({1, 2, 3, 4}), 0);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 9})).device.length, 2);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4, 5})).device.length, 4);
  EXPECT_EQ(tree.match(kPublicScope, tokens({2})).device.length, 0);
  EXPECT_EQ(tree.match(kPublicScope, {}).device.length, 0);
}

TEST(PrefixTree, SplitsAnEdgeAndKeepsTheLowerId) {
  PrefixTree tree({.slots = 4});
  const NodeId lower = leaf(tree, kRootNode, tokens({1, 2, 3, 4}), 0);
  const NodeId upper = tree.split({lower, 2});
  EXPECT_NE(upper, lower);
  EXPECT_EQ(tree[lower].parent, upper);
  EXPECT_EQ(tree[lower].begin, 2);
  EXPECT_EQ(tree[upper].slots, 1u);
  EXPECT_EQ(tree.node_of(SlotId(0)), lower);
  EXPECT_EQ(tree.split({lower, 4}), lower);
  tree.check_integrity();
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).device.length, 4);
}

TEST(PrefixTree, MovingASlotCountsItAlongItsPath) {
  PrefixTree tree({.slots = 4});
  const NodeId trunk = leaf(tree, kRootNode, tokens({1, 2}), 0);
  const NodeId left = leaf(tree, trunk, tokens({3}), 1);
  const NodeId right = leaf(tree, trunk, tokens({4}), 2);
  EXPECT_EQ(tree[trunk].slots, 3u);
  tree.move_slot(SlotId(1), right);
  EXPECT_EQ(tree[trunk].slots, 3u);
  EXPECT_EQ(tree[left].slots, 0u);
  EXPECT_EQ(tree[right].slots, 2u);
  tree.erase(left);
  tree.check_integrity();
  EXPECT_EQ(tree.slot_through(right), SlotId(1));
}

TEST(PrefixTree, PrivateEdgesHangBelowPublicOnesAndAreSeenByTheirScopeAlone) {
  PrefixTree tree({.slots = 4});
  const NodeId common = leaf(tree, kRootNode, tokens({1, 2}), 0);
  leaf(tree, common, tokens({3}), 1, kMine);
  leaf(tree, common, tokens({3}), 2, kYours);
  EXPECT_EQ(tree.match(kMine, tokens({1, 2, 3})).device.length, 3);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3})).device.length, 2);
  EXPECT_EQ(tree.match(ScopeId(9), tokens({1, 2, 3})).device.length, 2);
  tree.check_integrity();
}

TEST(PrefixTree, AnEdgeThatIsNowhereEndsTheChainButNotTheTree) {
  PrefixTree tree({.slots = 4});
  const NodeId upper = tree.add_leaf(kRootNode, kPublicScope, tokens({1, 2}));
  const NodeId lower = tree.add_leaf(upper, kPublicScope, tokens({3, 4}));
  tree.attach_blob(lower, 5, 2);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).host.length, 0);
  EXPECT_EQ(tree.tokens_indexed(), 2u);
  tree.move_slot(SlotId(0), upper);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).host.length, 4);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).device.length, 2);
  tree.check_integrity();
}

TEST(PrefixTree, ARangeCoversTheChainOfEdgesThatHaveNoState) {
  PrefixTree tree({.slots = 4});
  const NodeId a = leaf(tree, kRootNode, tokens({1, 2}), 0);
  const NodeId b = leaf(tree, a, tokens({3}), 0);
  const NodeId c = leaf(tree, b, tokens({4, 5}), 0);
  EXPECT_EQ(tree.attach_blob(c, 1, 2), 3);
  EXPECT_EQ(tree[b].blob, 1u);
  EXPECT_EQ(tree[a].blob, kNoBlob);
  EXPECT_EQ(tree.blob_top(c), b);
  EXPECT_EQ(tree[a].blobs, 1u);
  tree.detach_blob(c);
  EXPECT_EQ(tree[b].blob, kNoBlob);
  EXPECT_EQ(tree[a].blobs, 0u);
}

TEST(PrefixTree, WholesServeEveryPrefixAndExactEndsOnlyTheirOwn) {
  for (const PrefixUse use : {PrefixUse::kAnyLength, PrefixUse::kExactEnds}) {
    PrefixTree tree({.slots = 4, .blobs = BlobKind::kWholes, .use = use});
    const NodeId end = tree.add_leaf(kRootNode, kPublicScope, tokens({1, 2, 3}));
    tree.attach_blob(end, 1, 0);
    const bool exact = use == PrefixUse::kExactEnds;
    EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 9})).host.length, exact ? 0 : 2);
    EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).host.length, 3);
    const NodeId upper = tree.split({end, 1});
    EXPECT_EQ(tree.blob_through(upper), end);
    tree.check_integrity();
  }
}

TEST(PrefixTree, ShiftsTheBorderToAnOnlyChild) {
  PrefixTree tree({.slots = 4});
  const NodeId lower = leaf(tree, kRootNode, tokens({1, 2, 3, 4}), 0);
  const NodeId upper = tree.split({lower, 1});
  tree.move_slot(SlotId(1), upper);
  EXPECT_TRUE(tree.shift_border(upper, 2));
  EXPECT_EQ(tree[upper].end(), 3);
  EXPECT_FALSE(tree.shift_border(upper, 1)) << "the child would be empty";
  tree.check_integrity();
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 3, 4})).device.length, 4);
}

TEST(PrefixTree, JoinsWhatNothingTellsApart) {
  PrefixTree tree({.slots = 4});
  const NodeId lower = leaf(tree, kRootNode, tokens({1, 2, 3, 4}), 0);
  const NodeId upper = tree.split({lower, 2});
  tree.move_slot(SlotId(1), upper);
  EXPECT_EQ(tree.join(upper), kNoNode) << "a slot ends between them";
  tree.move_slot(SlotId(1), kRootNode);
  EXPECT_EQ(tree.join(upper), upper);
  EXPECT_EQ(tree[lower].begin, 0);
  EXPECT_EQ(tree.edges(), 1u);
  tree.check_integrity();
}

TEST(PrefixTree, KeepsEdgesApartThatAreProtectedDifferently) {
  PrefixTree tree({.slots = 4});
  const NodeId lower = leaf(tree, kRootNode, tokens({1, 2, 3, 4}), 0);
  const NodeId upper = tree.split({lower, 2});
  tree[upper].facts.marked = true;
  EXPECT_EQ(tree.join(upper), kNoNode);
}

TEST(PrefixTree, FindsAChildAmongThousands) {
  PrefixTree tree({.slots = 3000});
  const NodeId trunk = leaf(tree, kRootNode, tokens({1, 2}), 0);
  for (Token i = 0; i < 2000; ++i) leaf(tree, trunk, tokens({100 + i, 5}), 1 + i);
  EXPECT_EQ(tree.match(kPublicScope, tokens({1, 2, 1234, 5})).device.length, 4);
  EXPECT_EQ(tree.edges(), 2001u);
  tree.check_integrity();
}

}  // namespace
}  // namespace zerohop
