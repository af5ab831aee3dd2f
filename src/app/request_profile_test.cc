#include "app/request_profile.h"

#include <gtest/gtest.h>

#include "api/anthropic_request.h"

namespace zerohop {
namespace {

Config config_with(const std::string& profile) {
  Config config;
  config.prompt.profiles["desk"] = profile;
  return config;
}

constexpr const char* kDesk =
    R"({"system":"You help.","temperature":0.5,"stop_sequences":["END"],"max_tokens":64})";

ChatRequest request(const std::string& members) {
  const auto parsed = parse_messages_request(
      R"({"messages":[{"role":"user","content":"hi"}],)" + members + "}", {});
  EXPECT_TRUE(parsed.ok());
  return parsed->chat;
}

TEST(RequestProfiles, MatchRequestsByValue) {
  const auto profiles = RequestProfiles::from_config(config_with(kDesk));
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  const auto name = [&](const std::string& members) {
    const RequestProfile* profile = profiles->match(request(members));
    return profile == nullptr ? std::string("none") : profile->name;
  };
  const std::string rest = R"("temperature":0.5,"stop_sequences":["END"],"max_tokens":64)";
  EXPECT_EQ(name(R"("system":"You help.",)" + rest), "desk");
  EXPECT_EQ(
      name(R"("system":[{"type":"text","text":"You "},{"type":"text","text":"help."}],)" + rest),
      "desk");
  EXPECT_EQ(name(R"("system":"You help!",)" + rest), "none");
  EXPECT_EQ(name(R"("system":"You help.","top_k":5,)" + rest), "none");
  EXPECT_EQ(name(R"("system":"You help.","temperature":0.5,"max_tokens":64)"), "none");
  EXPECT_EQ(name(R"("system":"You help.","temperature":0.5,"stop_sequences":["END"],)"
                 R"("max_tokens":65)"),
            "none");
}

TEST(RequestProfiles, LeaveOpenWhatTheyDoNotName) {
  const auto profiles = RequestProfiles::from_config(config_with(R"({"system":"S"})"));
  ASSERT_TRUE(profiles.ok());
  EXPECT_NE(profiles->match(request(R"("system":"S","max_tokens":3)")), nullptr);
  EXPECT_NE(profiles->match(request(R"("system":"S","max_tokens":4)")), nullptr);
  EXPECT_EQ(profiles->all().front().stops.hard, nullptr);
}

TEST(RequestProfiles, AreCheckedLikeRequests) {
  const auto complaint = [](const std::string& profile) {
    const auto profiles = RequestProfiles::from_config(config_with(profile));
    return profiles.ok() ? std::string() : profiles.error().message;
  };
  EXPECT_EQ(complaint(kDesk), "");
  EXPECT_EQ(complaint(R"({"temprature":1})"),
            "prompt.profiles: 'desk': unknown member 'temprature'");
  EXPECT_EQ(complaint("[]"), "prompt.profiles: 'desk': must be a map");
  EXPECT_NE(complaint(R"({"top_p":7})").find("top_p: must be"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
