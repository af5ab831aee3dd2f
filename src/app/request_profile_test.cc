#include "app/request_profile.h"

#include <gtest/gtest.h>

#include "api/anthropic_request.h"
#include "prompt/prompt_habits.h"

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

std::string matched(const RequestProfiles& profiles, const ChatRequest& chat) {
  const RequestProfile* profile = profiles.match(chat);
  return profile == nullptr ? "none" : profile->name;
}

constexpr const char* kWeather =
    R"("tools":[{"name":"weather","description":"Today's.","input_schema":{"type":"object",)"
    R"("properties":{"town":{"type":"string"}}}}])";

TEST(RequestProfiles, MatchToolsAndHowTheyAreUsed) {
  const std::string tools(kWeather);
  const auto profiles = RequestProfiles::from_config(
      config_with(R"({"system":"S","tool_choice":{"type":"any"},)" + tools + "}"));
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  const std::string any = R"("tool_choice":{"type":"any"},)";
  const auto name = [&](const std::string& members) {
    return matched(*profiles, request(R"("system":"S",)" + members));
  };
  EXPECT_EQ(name(any + tools), "desk");
  EXPECT_EQ(name(tools), "none");  // auto
  EXPECT_EQ(name(R"("max_tokens":9)"), "none");
  std::string other = any + tools;
  other.replace(other.find("town"), 4, "city");
  EXPECT_EQ(name(other), "none");
  EXPECT_EQ(name(R"("thinking":{"type":"enabled","budget_tokens":1024},)" + any + tools), "none");
}

TEST(RequestProfiles, MatchTheFormatOfTheAnswer) {
  const std::string format = R"("output_format":{"type":"json_schema","schema":{"type":"object"}})";
  const auto profiles = RequestProfiles::from_config(config_with("{" + format + "}"));
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  EXPECT_EQ(matched(*profiles, request(format)), "desk");
  EXPECT_EQ(matched(*profiles, request(R"("max_tokens":9)")), "none");
  EXPECT_TRUE(profiles->all().front().has_prefix());  // the model is told of it
}

TEST(RequestProfiles, MatchSystemPromptsAsTheModelIsShownThem) {
  const auto profiles = RequestProfiles::from_config(config_with(R"({"system":"One.\n\nTwo."})"));
  ASSERT_TRUE(profiles.ok());
  const auto name = [&](const std::string& members) {
    return matched(*profiles, request(members));
  };
  EXPECT_EQ(name(R"("system":[{"type":"text","text":"One."},{"type":"text","text":"Two."}])"),
            "desk");
  EXPECT_EQ(name(R"("system":[{"type":"text","text":"One.\n\nTwo"},{"type":"text","text":"."}])"),
            "none");
  // Clients of the other dialect bring it as entries in front of all turns.
  ChatRequest entries = request(R"("max_tokens":3)");
  entries.conversation.messages.insert(entries.conversation.messages.begin(),
                                       {Role::kSystem, {TextBlock{"One.\n\nTwo."}}});
  EXPECT_EQ(matched(*profiles, entries), "desk");
}

TEST(RequestProfiles, TakeTheServersHabits) {
  Config config = config_with(R"({"system":"Current time: 12:03\nYou help."})");
  config.prompt.habits.volatile_patterns = {"Current time: *"};
  config.wire.default_stop_sequences = {"END"};
  const auto profiles = RequestProfiles::from_config(config);
  ASSERT_TRUE(profiles.ok());
  ChatRequest chat =
      request(R"("system":"Current time: 14:59\nYou help.","stop_sequences":["END"])");
  EXPECT_EQ(matched(*profiles, chat), "none");
  apply_prompt_habits(config.prompt.habits, chat.conversation);
  EXPECT_EQ(matched(*profiles, chat), "desk");
  EXPECT_EQ(profiles->all().front().system, "You help.");
}

TEST(RequestProfiles, KeepTheDigitsOfASchema) {
  const std::string format = R"("output_format":{"type":"json_schema","schema":)"
                             R"({"type":"number","maximum":0.10000000000000000555}})";
  const auto profiles = RequestProfiles::from_config(config_with("{" + format + "}"));
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  EXPECT_EQ(matched(*profiles, request(format)), "desk");
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
  EXPECT_NE(complaint(R"({"tools":[{"description":"no name"}]})").find("tools"), std::string::npos);
}

}  // namespace
}  // namespace zerohop
