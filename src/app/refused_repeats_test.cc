#include "app/refused_repeats.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr TimePoint kNow{std::chrono::seconds(100)};

RequestHead head_with(const Fields& fields, std::uint64_t bytes = 100) {
  RequestHead head;
  head.path = "/v1/messages";
  head.content_length = bytes;
  for (const auto& [name, value] : fields) head.headers.add(name, value);
  return head;
}

RepeatIdentity identity(const Fields& fields, std::uint64_t bytes = 100) {
  return repeat_identity({}, head_with(fields, bytes)).value();
}

TEST(RefusedRepeats, KnowRepetitionsByTheirHeaders) {
  EXPECT_FALSE(repeat_identity({}, head_with({})).has_value());
  EXPECT_FALSE(identity({{"x-stainless-retry-count", "0"}}).repeats);
  EXPECT_TRUE(identity({{"x-stainless-retry-count", "2"}}).repeats);
  EXPECT_TRUE(identity({{"x-anthropic-request-id", "a"}}).repeats);
  const Fields counted{{"x-anthropic-request-id", "a"}, {"x-stainless-retry-count", "0"}};
  EXPECT_FALSE(identity(counted).repeats) << "it says itself that it is the first";
  EXPECT_EQ(identity({{"x-stainless-retry-count", "0"}}).hash,
            identity({{"x-stainless-retry-count", "1"}}).hash);
}

TEST(RefusedRepeats, AreNotKnownWithoutTheLengthOfTheBody) {
  RequestHead head = head_with({{"x-anthropic-request-id", "a"}});
  head.content_length.reset();
  EXPECT_FALSE(repeat_identity({}, head).has_value());
}

TEST(RefusedRepeats, TellRequestsApart) {
  const Fields retry{{"x-stainless-retry-count", "1"}, {"x-api-key", "k"}};
  const std::uint64_t hash = identity(retry).hash;
  EXPECT_NE(identity(retry, 101).hash, hash) << "another length";
  Fields other = retry;
  other[1].second = "l";
  EXPECT_NE(identity(other).hash, hash) << "another key";
  other = retry;
  other.emplace_back("x-anthropic-request-id", "a");
  EXPECT_NE(identity(other).hash, hash);
}

TEST(RefusedRepeats, SayHowMuchTooEarlyARepetitionComes) {
  RefusedRepeats refused;
  const RepeatIdentity first = identity({{"x-stainless-retry-count", "0"}});
  const RepeatIdentity again = identity({{"x-stainless-retry-count", "1"}});
  EXPECT_EQ(refused.too_early(again, kNow), Duration::zero());
  refused.refused(first, kNow + milliseconds(700));
  EXPECT_EQ(refused.too_early(again, kNow + milliseconds(100)), milliseconds(600));
  EXPECT_EQ(refused.too_early(first, kNow), Duration::zero()) << "a first attempt";
  EXPECT_EQ(refused.too_early(again, kNow + milliseconds(700)), Duration::zero());
  EXPECT_EQ(refused.too_early(again, kNow + milliseconds(900)), Duration::zero());
  EXPECT_EQ(refused.too_early(identity({{"x-anthropic-request-id", "b"}}), kNow), Duration::zero());
}

TEST(RefusedRepeats, AreDisplacedByOthersAndThenLookedAtAsNew) {
  RefusedRepeats refused;
  refused.refused({7, true}, kNow + milliseconds(700));
  refused.refused({7 + RefusedRepeats::kPlaces, true}, kNow + milliseconds(700));
  EXPECT_EQ(refused.too_early({7, true}, kNow), Duration::zero());
}

}  // namespace
}  // namespace zerohop
