// The prompt cache as clients and operators see it: what is found, why not, what is kept.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

struct Chat {
  std::string system;
  std::string user = "Hello there, how are you?";
  std::string more = {};     // further members, with their commas
  std::string headers = {};  // whole lines
};

Answer say(const RunningServer& server, const Chat& chat) {
  const std::string body = R"({"max_tokens":4,"system":")" + chat.system + R"(")" + chat.more +
                           R"(,"messages":[{"role":"user","content":")" + chat.user + R"("}]})";
  return ask(server, {"/v1/messages", body, chat.headers});
}

std::int64_t found(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  return number_at(answer.json(), "/usage/cache_read_input_tokens");
}

std::int64_t prompt_of(const Answer& answer) {
  return found(answer) + number_at(answer.json(), "/usage/input_tokens");
}

const std::string kRules =
    "You are the help desk of a small library. Answer in two sentences, name the shelf, and never "
    "promise a book that is lent out.";

std::string dated(const std::string& time) { return "Current time: " + time + "\\n" + kRules; }

constexpr const char* kAsk = R"(,"diagnostics":{"previous_message_id":"msg_1"})";

TEST(ServerCache, NamesATimeStampInTheSystemPrompt) {
  const RunningServer server(never_ends());
  say(server, {dated("12:03:11")});
  const Answer second = say(server, {dated("12:04:59"), "Hello there, how are you?", kAsk});
  const json::value body = second.json();
  EXPECT_EQ(text_at(body, "/diagnostics/cache_miss_reason/type"), "system_changed");
  EXPECT_GT(number_at(body, "/diagnostics/cache_miss_reason/cache_missed_input_tokens"), 100);
  const json::value misses = get(server, "/v1/cache/misses").json();
  EXPECT_EQ(text_at(misses, "/data/0/cause"), "system_changed");
  EXPECT_EQ(text_at(misses, "/data/0/section"), "system");
  EXPECT_EQ(text_at(misses, "/data/0/request_id"), second.header("request-id"));
  // A token of the fake model is a byte: the minutes differ.
  EXPECT_EQ(number_at(misses, "/data/0/position"), found(second));
  EXPECT_NE(text_at(misses, "/data/0/advice").find("prompt.volatile"), std::string::npos);
  EXPECT_EQ(metric(server, "zerohop_cache_misses_total", "cause=\"system_changed\""), 1);
}

TEST(ServerCache, FindsThePromptWhenTheTimeStampIsMoved) {
  const RunningServer server(TestServerOptions{
      never_ends(),
      [](Config& config) { config.prompt.habits.volatile_patterns = {"Current time: *"}; }});
  const std::string question(200, 'q');
  say(server, {dated("12:03:11"), question});
  const Answer second = say(server, {dated("12:04:59"), question, kAsk});
  EXPECT_GT(static_cast<double>(found(second)), 0.9 * static_cast<double>(prompt_of(second)));
  EXPECT_EQ(text_at(second.json(), "/diagnostics/cache_miss_reason"), "null");
}

TEST(ServerCache, KeepsTenantsApartWhereConfigured) {
  const RunningServer server(TestServerOptions{
      never_ends(), [](Config& config) { config.cache.share = CacheShare::kTenant; }});
  const std::string a = "x-api-key: a\r\n";
  const std::string b = "authorization: Bearer b\r\n";
  say(server, {kRules, "Hello there, how are you?", "", a});
  EXPECT_GT(found(say(server, {kRules, "Hello there, how are you?", "", a})), 100);
  const Answer other = say(server, {kRules, "Hello there, how are you?", kAsk, b});
  EXPECT_EQ(found(other), 0);
  // The client learns what it would learn if nobody had sent this prompt; the operator learns more.
  EXPECT_EQ(text_at(other.json(), "/diagnostics/cache_miss_reason/type"),
            "previous_message_not_found");
  EXPECT_EQ(text_at(get(server, "/v1/cache/misses").json(), "/data/0/cause"), "other_tenant");
}

TestServerOptions warmed(const TestFolder& folder) {
  return {never_ends(), [](Config& config) { config.cache.warm_prefixes = {kRules}; },
          {},           nullptr,
          nullptr,      folder.path()};
}

bool has_state(const TestFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".state") return true;
  }
  return false;
}

TEST(ServerCache, FindsAWarmPrefixWithTheFirstRequest) {
  const TestFolder folder;
  {
    const RunningServer server(warmed(folder));
    EXPECT_TRUE(eventually([&] { return has_state(folder); }));
    EXPECT_GT(found(say(server, {kRules})), 100);
  }
  // The next start takes it from the folder and computes one token of it at most: the last.
  const RunningServer server(warmed(folder));
  EXPECT_TRUE(eventually([&] { return server.snapshot().prompt_tokens_restored > 100; }));
  const Answer first = say(server, {kRules});
  EXPECT_GT(found(first), 100);
  EXPECT_LE(server.snapshot().prompt_tokens_computed,
            static_cast<std::uint64_t>(prompt_of(first) - found(first) + 1));
}

// What a start makes of the one state in `folder` once `damage` was done to its file.
void expect_computed_again(const std::function<void(const std::filesystem::path&)>& damage) {
  const TestFolder folder;
  {
    const RunningServer server(warmed(folder));
    EXPECT_TRUE(eventually([&] { return has_state(folder); }));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    damage(entry.path());
  }
  const RunningServer server(warmed(folder));
  EXPECT_TRUE(eventually([&] { return server.snapshot().prompt_tokens_computed > 100; }));
  EXPECT_EQ(server.snapshot().prompt_tokens_restored, 0u);
  EXPECT_GT(found(say(server, {kRules})), 100);
}

TEST(ServerCache, ComputesAWarmPrefixAgainWhenItsFileIsDamaged) {
  expect_computed_again([](const std::filesystem::path& file) {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  });
  expect_computed_again([](const std::filesystem::path& file) {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(200);
    const int byte = stream.get();
    stream.seekp(200);
    stream.put(static_cast<char>(byte ^ 1));
  });
}

TEST(ServerCache, CountsTheRequestsOfAProfile) {
  const RunningServer server(TestServerOptions{
      never_ends(), [](Config& config) {
        config.prompt.profiles["desk"] = R"({"system":")" + kRules + R"(","temperature":0})";
      }});
  const std::string profile = "zerohop_profile_requests_total";
  EXPECT_EQ(say(server, {kRules, "Hi", R"(,"temperature":0)"}).status, 200);
  EXPECT_EQ(metric(server, profile, "profile=\"desk\""), 1);
  EXPECT_EQ(say(server, {kRules, "Hi", R"(,"temperature":0.5)"}).status, 200);
  EXPECT_EQ(metric(server, profile, "profile=\"desk\""), 1);
  EXPECT_EQ(metric(server, profile, "profile=\"none\""), 1);
  // Its system prompt is a warm prefix.
  EXPECT_TRUE(eventually([&] { return server.snapshot().cells_pinned > 100; }));
}

// One tool of a desk, with a long description.
const std::string kTools = R"(,"tools":[{"name":"open_ticket","description":")" + kRules +
                           R"(","input_schema":{"type":"object","properties":{"subject":)"
                           R"({"type":"string","maxLength":80}},"required":["subject"]}}])";

TEST(ServerCache, FindsSystemPromptAndToolsOfAProfileWithTheFirstRequest) {
  const RunningServer server(
      TestServerOptions{never_ends(), [](Config& config) {
                          config.engine.context_tokens = 2048;
                          config.prompt.habits.volatile_patterns = {"Current time: *"};
                          config.prompt.profiles["desk"] =
                              R"({"system":")" + dated("00:00:00") + R"(")" + kTools + "}";
                        }});
  const auto waits = [&] { return server.snapshot().prompt_tokens_computed > 0; };
  EXPECT_TRUE(eventually(waits));
  server.settle();
  const Answer first = say(server, {dated("12:03:11"), "Hi", kTools});
  // All but the turn, which ends with the time here.
  constexpr std::int64_t kTurnBytesMax = 160;
  EXPECT_GE(found(first), prompt_of(first) - kTurnBytesMax);
  EXPECT_GT(found(first), 2 * kTurnBytesMax);
  EXPECT_EQ(metric(server, "zerohop_profile_requests_total", "profile=\"desk\""), 1);
  const Answer other = say(server, {dated("12:03:11"), "Hi"});
  EXPECT_EQ(metric(server, "zerohop_profile_requests_total", "profile=\"none\""), 1);
  EXPECT_LT(found(other), found(first));
}

TEST(ServerCache, ShowsItselfInHealthAndSystemInformation) {
  const RunningServer server(never_ends());
  say(server, {kRules});
  say(server, {kRules});
  const json::value health = get(server, "/healthz").json();
  EXPECT_EQ(text_at(health, "/status"), "ok");
  EXPECT_EQ(text_at(health, "/rung"), "normal");
  EXPECT_NE(text_at(health, "/cache/hit_rate"), "0E0");
  const Answer answer = get(server, "/v1/system_info");
  EXPECT_EQ(answer.status, 200);
  const json::value info = answer.json();
  EXPECT_EQ(text_at(info, "/instance"), "test-1");
  EXPECT_EQ(text_at(info, "/model/name"), "fake");
  EXPECT_EQ(text_at(info, "/context/kv_layout"), "unified");
  EXPECT_EQ(number_at(info, "/context/window_tokens"), 1024);
  EXPECT_EQ(text_at(info, "/pressure/rung"), "normal");
  EXPECT_GT(number_at(info, "/recommended_max_tokens"), 0);
  EXPECT_LE(number_at(info, "/recommended_max_tokens"), 1024);
}

}  // namespace
}  // namespace zerohop
