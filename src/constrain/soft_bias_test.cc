#include "constrain/soft_bias.h"

#include <gtest/gtest.h>

#include <set>

#include "constrain/constraint_test_kit.h"

namespace zerohop {
namespace {

class SoftBiasTest : public testing::Test {
 protected:
  std::set<std::string> favoured(std::string_view text) {
    SoftBias soft(tokens_, rules_);
    soft.begin("cancel");
    soft.accept(text);
    std::set<std::string> found;
    for (const LogitBias& bias : soft.biases()) {
      EXPECT_EQ(bias.bias, 2.5f);
      found.emplace(tokens_->bytes(bias.token));
    }
    return found;
  }

  std::shared_ptr<const TokenTrie> tokens_ =
      vocabulary_of({"\"A", "A-1", "-1", "\"A-", " \"A", "B", "17\"", "\",", "A-2"});
  std::shared_ptr<const std::vector<SoftRule>> rules_ =
      std::make_shared<const std::vector<SoftRule>>(std::vector<SoftRule>{
          {.tool = "cancel", .argument = "order", .values = {"\"A-17\"", "\"A-18\"", "42"}}});
};

using Set = std::set<std::string>;

TEST_F(SoftBiasTest, FavoursTokensThatBeginAKnownValue) {
  EXPECT_EQ(favoured("{\"order\":"), (Set{"\"", "\"A", "\"A-", " \"A", "4"}));
  EXPECT_EQ(favoured("{\"order\": "), (Set{"\"", "\"A", "\"A-", " \"A", "4"}));
}

TEST_F(SoftBiasTest, FavoursTokensThatContinueWhatHasBeenWritten) {
  EXPECT_EQ(favoured("{\"order\":\""), (Set{"A", "A-1"}));
  EXPECT_EQ(favoured("{\"order\":\"A-1"), (Set{"7", "8"}));
  EXPECT_EQ(favoured("{\"order\":\"A-"), (Set{"1", "17\""}));
  EXPECT_EQ(favoured("{\"order\":\"A-17"), (Set{"\""}));
  EXPECT_EQ(favoured("{\"order\":4"), (Set{"2"}));
}

TEST_F(SoftBiasTest, KeepsOutOfOtherValuesAndPlaces) {
  EXPECT_EQ(favoured(""), Set{});
  EXPECT_EQ(favoured("{\"order"), Set{});
  EXPECT_EQ(favoured("{\"other\":\""), Set{});
  EXPECT_EQ(favoured("{\"order\":\"B"), Set{});
  EXPECT_EQ(favoured("{\"order\":\"A-17\""), Set{});
  EXPECT_EQ(favoured("{\"order\":\"A-17\",\""), Set{});
  EXPECT_EQ(favoured("{\"x\":\"\\\"order\\\":"), Set{}) << "inside a string";
  EXPECT_EQ(favoured("{\"a\":{\"order\":42},\"b\":"), Set{});
  EXPECT_FALSE(favoured("{\"a\":{\"order\":").empty());
}

TEST_F(SoftBiasTest, LeavesAnotherToolsArgumentOfTheSameNameAlone) {
  SoftBias soft(tokens_, rules_);
  soft.begin("find");
  soft.accept("{\"order\":");
  EXPECT_TRUE(soft.biases().empty());
  soft.begin("cancel");
  soft.accept("{\"order\":");
  EXPECT_FALSE(soft.biases().empty());
}

TEST_F(SoftBiasTest, SaysNothingOutsideOfArguments) {
  SoftBias soft(tokens_, rules_);
  soft.accept("{\"order\":");
  EXPECT_TRUE(soft.biases().empty());
  soft.begin("cancel");
  soft.accept("{\"order\":");
  EXPECT_FALSE(soft.biases().empty());
  soft.end();
  EXPECT_TRUE(soft.biases().empty());
}

}  // namespace
}  // namespace zerohop
