#include "admission/key_text.h"

#include <gtest/gtest.h>

#include <set>

#include "base/hex.h"

namespace zerohop {
namespace {

TEST(KeyText, IsLongRandomAndOfOneForm) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = make_key_text();
    EXPECT_EQ(text.size(), 38u);
    EXPECT_TRUE(text.starts_with("sk-zh-"));
    EXPECT_TRUE(is_key_text(text));
    EXPECT_TRUE(seen.insert(text).second);
  }
}

TEST(KeyText, LeavesAtLeast160BitsThatAreNeverShown) {
  const double bits_a_character = 5.954;  // log2(62)
  EXPECT_GE(static_cast<double>(kKeyCharacters - kKeyShownCharacters) * bits_a_character, 160);
}

TEST(KeyText, TellsWhatNoKeyCanBe) {
  const std::string good = make_key_text();
  EXPECT_FALSE(is_key_text(""));
  EXPECT_FALSE(is_key_text("sk-zh-"));
  EXPECT_FALSE(is_key_text(good.substr(1)));
  EXPECT_FALSE(is_key_text(good + "a"));
  EXPECT_FALSE(is_key_text("SK" + good.substr(2)));
  for (const char odd : {'\0', ' ', '-', '_', '\n', '\xe4', '\x7f'}) {
    std::string text = good;
    text.back() = odd;
    EXPECT_FALSE(is_key_text(text)) << static_cast<int>(odd);
  }
}

// RFC 4231, test case 2.
TEST(KeyHasher, IsHmacWithSha256) {
  EXPECT_EQ(hex_of(KeyHasher("Jefe").hash("what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(KeyHasher, GivesTheSameForEachOfManyTexts) {
  const KeyHasher hasher("secret");
  const KeyHash first = hasher.hash("one");
  EXPECT_FALSE(same_hash(first, hasher.hash("two")));
  EXPECT_TRUE(same_hash(first, hasher.hash("one")));
  EXPECT_FALSE(same_hash(first, KeyHasher("other secret").hash("one")));
}

TEST(KeyHash, ComparesEveryByte) {
  const KeyHash hash = KeyHasher("secret").hash("one");
  for (std::size_t i = 0; i < hash.size(); ++i) {
    KeyHash other = hash;
    other[i] ^= 1;
    EXPECT_FALSE(same_hash(hash, other)) << i;
  }
}

TEST(KeyHash, ComesBackFromItsDigits) {
  const KeyHash hash = KeyHasher("secret").hash("one");
  const std::string digits = hex_of(hash);
  KeyHash read{};
  ASSERT_TRUE(read_hash(digits, read));
  EXPECT_EQ(read, hash);
  EXPECT_FALSE(read_hash(digits.substr(1), read));
  EXPECT_FALSE(read_hash("g" + digits.substr(1), read));
  EXPECT_FALSE(read_hash("", read));
}

}  // namespace
}  // namespace zerohop
