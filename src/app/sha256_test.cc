#include "app/sha256.h"

#include <gtest/gtest.h>

#include <string_view>

#include "app/text_hash.h"
#include "app/warm_state_folder.h"
#include "base/hex.h"

namespace zerohop {
namespace {

std::string digits_of(std::string_view text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hex_of(hash.finish());
}

TEST(Sha256, MatchesTheStandardsExamples) {  // FIPS 180-4
  EXPECT_EQ(digits_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digits_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, DoesNotDependOnWhereTheBytesAreCut) {
  Sha256 hash;
  hash.add("a", 1);
  hash.add(nullptr, 0);
  hash.add("bc", 2);
  EXPECT_EQ(hex_of(hash.finish()), digits_of("abc"));
}

// What is on disks was named by these; another name loses what earlier starts kept.
TEST(NamesOnDisk, StayAsTheyWere) {
  EXPECT_EQ(text_hash("abc"), 0xba7816bf8f01cfeau);
  const WarmStateFolder states("/warm", "model");
  EXPECT_EQ(states.file_of(std::vector<Token>{1, 2, 3}),
            "/warm/e8ddf6c8590c81210becd7342a3bc95a.state");
}

}  // namespace
}  // namespace zerohop
