#include "api/base64.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(Base64, DecodesTheVectorsOfTheStandard) {
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_EQ(base64_decode("Zg=="), "f");
  EXPECT_EQ(base64_decode("Zm8="), "fo");
  EXPECT_EQ(base64_decode("Zm9v"), "foo");
  EXPECT_EQ(base64_decode("Zm9vYg=="), "foob");
  EXPECT_EQ(base64_decode("Zm9vYmE="), "fooba");
  EXPECT_EQ(base64_decode("Zm9vYmFy"), "foobar");
}

TEST(Base64, DecodesEveryByte) { EXPECT_EQ(base64_decode("AP+/"), std::string("\x00\xff\xbf", 3)); }

TEST(Base64, RefusesEverythingElse) {
  for (const char* text : {"Z", "Zg", "Zg=", "=", "====", "Zm9v=", "Zm=v", "Zm9v\n", "Zm 9", "Zm_v",
                           "Zm-v", "Zg==Zg==", "\xc3\xa9zz"}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace zerohop
