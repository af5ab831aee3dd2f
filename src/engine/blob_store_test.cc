#include "engine/blob_store.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(BlobStore, KnowsHowManyBytesItHolds) {
  BlobStore store;
  store.put(BlobId(1), std::vector<std::byte>(10));
  store.put(BlobId(2), std::vector<std::byte>(5));
  EXPECT_EQ(store.total_bytes(), 15u);
  store.put(BlobId(1), std::vector<std::byte>(4, std::byte{7}));
  EXPECT_EQ(store.total_bytes(), 9u);
  EXPECT_EQ(store.size(), 2u);
  EXPECT_EQ(store.bytes(BlobId(1)).size(), 4u);
  EXPECT_EQ(store.bytes(BlobId(1))[3], std::byte{7});
  store.forget(BlobId(1));
  store.forget(BlobId(1));
  EXPECT_EQ(store.total_bytes(), 5u);
  EXPECT_TRUE(store.bytes(BlobId(1)).empty());
}

}  // namespace
}  // namespace zerohop
