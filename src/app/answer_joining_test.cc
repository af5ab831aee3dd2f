#include "app/answer_joining.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zerohop {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

RequestHead head_with(const Fields& fields, const std::string& path = "/v1/messages") {
  RequestHead head;
  head.path = path;
  for (const auto& [name, value] : fields) head.headers.add(name, value);
  return head;
}

QueueConfig joining_retries() {
  QueueConfig config;
  config.join_retries = true;
  return config;
}

const Fields kNamed{{"x-anthropic-request-id", "a-1"}, {"x-api-key", "k"}};

TEST(AnswerJoining, ConcernsOnlyRequestsThatSaySo) {
  EXPECT_FALSE(join_identity({}, head_with({}), {}).has_value());
  EXPECT_FALSE(join_identity({}, head_with({{"x-anthropic-request-id", ""}}), {}).has_value());
  EXPECT_FALSE(join_identity({}, head_with({{"x-anthropic-request-id", std::string(129, 'x')}}), {})
                   .has_value());
  EXPECT_TRUE(join_identity({}, head_with(kNamed), {})->may_join);
}

TEST(AnswerJoining, TakesRepetitionsOfClientsOnlyWhereThatIsConfigured) {
  const auto retry = [](const std::string& count, const QueueConfig& config) {
    return join_identity({}, head_with({{"x-stainless-retry-count", count}}), config);
  };
  EXPECT_FALSE(retry("1", {}).has_value());
  ASSERT_TRUE(retry("0", joining_retries()).has_value());
  EXPECT_FALSE(retry("0", joining_retries())->may_join) << "a first attempt is its own request";
  EXPECT_TRUE(retry("2", joining_retries())->may_join);
  EXPECT_EQ(retry("0", joining_retries())->text, retry("2", joining_retries())->text);
  EXPECT_FALSE(retry("many", joining_retries()).has_value());
}

TEST(AnswerJoining, TellsRequestsApartByEverythingThatShows) {
  const auto text = [](const Fields& fields, const std::string& path = "/v1/messages") {
    return join_identity({}, head_with(fields, path), {})->text;
  };
  const std::string same = text(kNamed);
  EXPECT_EQ(text(kNamed), same);
  Fields other = kNamed;
  other[0].second = "a-2";
  EXPECT_NE(text(other), same);
  other = kNamed;
  other[1].second = "l";
  EXPECT_NE(text(other), same) << "another credential";
  EXPECT_NE(text(kNamed, "/v1/chat/completions"), same);
  other = kNamed;
  other.emplace_back("anthropic-version", "2023-06-01");
  EXPECT_NE(text(other), same);
  // A header that has nothing to do with it.
  other = kNamed;
  other.emplace_back("user-agent", "x");
  EXPECT_EQ(text(other), same);
  // The two kinds of keys are never one.
  const KeyRecord key{.id = "k"};
  const TenantRecord tenant;
  EXPECT_NE(join_identity({&key, &tenant}, head_with(kNamed), {})->text, same);
}

TEST(AnswerJoining, HashesEveryByteOfTheBody) {
  const JoinIdentity identity = *join_identity({}, head_with(kNamed), {});
  EXPECT_EQ(join_digest(identity, "{}"), join_digest(identity, "{}"));
  EXPECT_NE(join_digest(identity, "{}"), join_digest(identity, "{ }"));
  JoinIdentity other = identity;
  other.text += "x";
  EXPECT_NE(join_digest(identity, "x{}"), join_digest(identity, "{}"));
  EXPECT_NE(join_digest(other, "{}"), join_digest(identity, "{}"));
}

}  // namespace
}  // namespace zerohop
