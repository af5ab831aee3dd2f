#include "cache/host_tier.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

BlobIndex add(HostTier& tier, std::int32_t tokens, std::uint64_t bytes) {
  const BlobIndex index = tier.add({0, tokens}, bytes);
  tier[index].end_node = 1;
  return index;
}

TEST(HostTier, CountsBytesAndEntriesAgainstItsCaps) {
  HostTier tier({.bytes_max = 1000, .entries_max = 2, .bytes_per_cell = 10});
  EXPECT_TRUE(tier.fits(1000));
  EXPECT_FALSE(tier.fits(1001));
  const BlobIndex first = add(tier, 60, 600);
  EXPECT_FALSE(tier.bytes_fit(401));
  add(tier, 10, 100);
  EXPECT_FALSE(tier.entries_fit(1));
  tier.remove(first);
  EXPECT_TRUE(tier.fits(900));
  tier.check_integrity();
}

TEST(HostTier, GivesEachStateANewId) {
  HostTier tier({.bytes_max = 1000});
  const BlobIndex first = add(tier, 1, 10);
  const BlobId id = tier[first].id;
  tier.remove(first);
  EXPECT_FALSE(tier.find(id));
  const BlobIndex second = add(tier, 1, 10);
  EXPECT_EQ(second, first) << "places are used again";
  EXPECT_NE(tier[second].id, id);
}

TEST(HostTier, EstimatesFollowWhatWasReported) {
  HostTier tier({.bytes_max = 100000, .bytes_per_cell = 10});
  EXPECT_EQ(tier.expected_bytes(100), 1000u);
  tier.report_bytes(add(tier, 100, 1000), 1500);
  EXPECT_EQ(tier.bytes(), 1500u);
  EXPECT_EQ(tier.expected_bytes(100), 1500u);
}

TEST(HostTier, EstimatesIgnoreCompressedAndTinyStates) {
  HostTier tier({.bytes_max = 100000, .bytes_per_cell = 10});
  tier.report_bytes(add(tier, 2, 20), 400);
  const BlobIndex compressed = add(tier, 100, 1000);
  tier[compressed].compressed = true;
  tier.report_bytes(compressed, 3000);
  EXPECT_EQ(tier.expected_bytes(100), 1000u);
}

TEST(HostTier, WithoutBytesThereIsNone) {
  const HostTier tier({.bytes_max = 0});
  EXPECT_FALSE(tier.exists());
  EXPECT_FALSE(tier.fits(1));
}

}  // namespace
}  // namespace zerohop
