#include "app/wire_profile.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(WireProfiles, UnmappedVersionsGetTheServersOwnSettings) {
  Config config;
  config.wire.strict = true;
  config.limits.default_max_tokens = 77;
  const auto profiles = WireProfiles::from_config(config);
  ASSERT_TRUE(profiles.ok());
  for (const char* version : {"", "2023-06-01", "vertex-2023-10-16", "whatever"}) {
    const WireProfile& profile = profiles->find(version);
    EXPECT_EQ(profile.name, "");
    EXPECT_TRUE(profile.strict);
    EXPECT_EQ(profile.default_max_tokens, 77u);
  }
}

TEST(WireProfiles, AMappedVersionGetsItsProfileOnTopOfTheServersSettings) {
  Config config;
  config.wire.default_stop_sequences = {"STOP"};
  config.wire.profiles = {{"next", "stream=folded  heartbeat=empty_delta default_max_tokens=9"}};
  config.wire.version_profiles = {{"2026-10-21", "next"}};
  const auto profiles = WireProfiles::from_config(config);
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  const WireProfile& next = profiles->find("2026-10-21");
  EXPECT_EQ(next.name, "next");
  EXPECT_EQ(next.stream, StreamProfile::kFolded);
  EXPECT_EQ(next.heartbeat, Heartbeat::kEmptyDelta);
  EXPECT_EQ(next.default_max_tokens, 9u);
  EXPECT_FALSE(next.strict);
  EXPECT_EQ(next.default_stop_sequences, std::vector<std::string>{"STOP"});
  EXPECT_EQ(profiles->find("2023-06-01").stream, StreamProfile::kFull);
}

TEST(WireProfiles, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"stream=half", "strict", "strict=yes", "default_max_tokens=0",
                           "default_max_tokens=1x", "colour=red"}) {
    Config config;
    config.wire.profiles = {{"p", text}};
    const auto profiles = WireProfiles::from_config(config);
    ASSERT_FALSE(profiles.ok()) << text;
    EXPECT_EQ(profiles.error().code, ErrorCode::kConfiguration);
  }
  Config config;
  config.wire.version_profiles = {{"2023-06-01", "missing"}};
  EXPECT_FALSE(WireProfiles::from_config(config).ok());
}

}  // namespace
}  // namespace zerohop
