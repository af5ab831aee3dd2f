#include "admission/key_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/hex.h"

namespace zerohop {
namespace {

using std::chrono::hours;

constexpr WallTime kNow{hours(500'000)};

struct Keys {
  KeyStoreContents contents;
  std::vector<std::string> texts;

  explicit Keys(std::size_t count) {
    contents.secret = "secret";
    contents.had_keys = count > 0;
    const KeyHasher hasher(contents.secret);
    for (std::uint64_t tenant = 1; tenant <= 3; ++tenant) {
      contents.tenants.push_back({TenantId{tenant}, "tenant-" + std::to_string(tenant)});
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      texts.push_back(make_key_text());
      KeyRecord key;
      key.number = KeyId{i + 1};
      key.id = "key_" + std::to_string(i);
      key.tenant = TenantId{i % 3 + 1};
      key.hash = hasher.hash(texts.back());
      contents.keys.push_back(std::move(key));
    }
  }
};

TEST(KeyRing, FindsEachOfManyKeysAndItsTenant) {
  const Keys keys(5'000);
  const KeyRing ring(keys.contents);
  for (std::size_t i = 0; i < keys.texts.size(); ++i) {
    const KeyLookup found = ring.find(keys.texts[i], kNow);
    ASSERT_EQ(found.verdict, KeyVerdict::kGood);
    EXPECT_EQ(found.key->id, "key_" + std::to_string(i));
    EXPECT_EQ(found.tenant->name, "tenant-" + std::to_string(i % 3 + 1));
  }
}

TEST(KeyRing, KnowsNoOtherText) {
  const Keys keys(100);
  const KeyRing ring(keys.contents);
  std::string changed = keys.texts[0];
  changed.back() = changed.back() == 'a' ? 'b' : 'a';
  const std::string texts[] = {"",
                               "x",
                               changed,
                               make_key_text(),
                               keys.texts[0].substr(0, 37),
                               keys.texts[0] + "x",
                               std::string(100'000, 'k'),
                               hex_of(keys.contents.keys[0].hash)};
  for (const std::string& text : texts) {
    const KeyLookup found = ring.find(text, kNow);
    EXPECT_EQ(found.verdict, KeyVerdict::kUnknown);
    EXPECT_EQ(found.key, nullptr);
  }
}

TEST(KeyRing, FindsAKeyByItsNumber) {
  Keys keys(100);
  keys.contents.keys[20].revoked_at = kNow;
  keys.contents.keys.erase(keys.contents.keys.begin() + 50);  // number 51
  const KeyRing ring(keys.contents);
  EXPECT_EQ(ring.find_key(KeyId{1}, kNow).key->id, "key_0");
  EXPECT_EQ(ring.find_key(KeyId{100}, kNow).key->id, "key_99");
  EXPECT_EQ(ring.find_key(KeyId{100}, kNow).verdict, KeyVerdict::kGood);
  EXPECT_EQ(ring.find_key(KeyId{21}, kNow).verdict, KeyVerdict::kRevoked);
  for (const std::uint64_t number : {0u, 51u, 101u}) {
    EXPECT_EQ(ring.find_key(KeyId{number}, kNow).verdict, KeyVerdict::kUnknown) << number;
  }
}

TEST(KeyRing, AnEmptyOneLetsNobodyIn) {
  const KeyRing ring(KeyStoreContents{});
  EXPECT_EQ(ring.find(make_key_text(), kNow).verdict, KeyVerdict::kUnknown);
  EXPECT_FALSE(ring.had_keys());
}

TEST(KeyRing, SaysThatAKeyWasRevoked) {
  Keys keys(2);
  keys.contents.keys[1].revoked_at = kNow;
  const KeyRing ring(keys.contents);
  EXPECT_EQ(ring.find(keys.texts[0], kNow).verdict, KeyVerdict::kGood);
  // Also where the clock stands in front of that.
  EXPECT_EQ(ring.find(keys.texts[1], kNow - hours(1)).verdict, KeyVerdict::kRevoked);
}

TEST(KeyRing, AKeyExpiresAtItsTimeAndStaysSoWhenTheClockGoesBack) {
  Keys keys(1);
  keys.contents.keys[0].expires_at = kNow;
  const KeyRing ring(keys.contents);
  EXPECT_EQ(ring.find(keys.texts[0], kNow - Duration(1)).verdict, KeyVerdict::kGood);
  EXPECT_EQ(ring.find(keys.texts[0], kNow).verdict, KeyVerdict::kExpired);
  EXPECT_EQ(ring.find(keys.texts[0], kNow - hours(1)).verdict, KeyVerdict::kExpired);
}

TEST(KeyRingSlot, ReadersSeeTheOldRingOrTheNewOne) {
  const Keys old_keys(1);
  const Keys new_keys(1);
  KeyRingSlot slot(std::make_shared<KeyRing>(old_keys.contents));
  std::atomic<bool> stop{false};
  std::atomic<bool> seen_both_or_none{false};
  std::thread reader([&] {
    while (!stop) {
      const std::shared_ptr<const KeyRing> ring = slot.get();
      const bool is_old = ring->find(old_keys.texts[0], kNow).verdict == KeyVerdict::kGood;
      const bool is_new = ring->find(new_keys.texts[0], kNow).verdict == KeyVerdict::kGood;
      if (is_old == is_new) seen_both_or_none = true;
    }
  });
  for (int i = 0; i < 500; ++i) {
    slot.set(std::make_shared<KeyRing>(i % 2 == 0 ? new_keys.contents : old_keys.contents));
  }
  stop = true;
  reader.join();
  EXPECT_FALSE(seen_both_or_none);
}

}  // namespace
}  // namespace zerohop
