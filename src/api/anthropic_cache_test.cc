#include "api/anthropic_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_request.h"
#include "api/error_body.h"

namespace zerohop {
namespace {

constexpr std::string_view kMark = R"("cache_control":{"type":"ephemeral"})";
constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

// `%` in a body stands for a mark.
std::string marked(std::string_view text) {
  std::string body;
  for (const char c : text) {
    if (c == '%') {
      body += kMark;
    } else {
      body += c;
    }
  }
  return body;
}

// Where the mark of a body is, or the complaint.
std::string mark(std::string_view text, const ParseOptions& options = {}) {
  const auto parsed = parse_messages_request(marked(text), options);
  if (!parsed.ok()) return error_text(parsed.error());
  const auto& found = parsed->chat.conversation.cache_mark;
  if (!found) return "none";
  if (found->place == CacheMark::Place::kTools) return "tools";
  if (found->place == CacheMark::Place::kSystem) return "system";
  return std::to_string(found->message) + "/" + std::to_string(found->block);
}

TEST(CacheMarks, TheLastOneInTheOrderOfThePromptCounts) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"a"}]})"), "none");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f",%}]})"),
            "tools");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"a"}],
      "system":[{"type":"text","text":"s",%}],"tools":[{"name":"f",%}]})"),
            "system");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a",%},
      {"type":"text","text":"b"}]},{"role":"assistant","content":"c"},{"role":"user","content":[
      {"type":"text","text":"d"},{"type":"text","text":"e",%},{"type":"text","text":"f"}]}],
      "system":[{"type":"text","text":"s",%}]})"),
            "2/1");
}

TEST(CacheMarks, LiveAsLongAsTheLongestOfThem) {
  const auto lifetime = [](std::string_view system, std::string_view message) {
    const std::string body = R"({"messages":[{"role":"user","content":[{"type":"text","text":"a")" +
                             std::string(message) + R"(}]}],"system":[{"type":"text","text":"s")" +
                             std::string(system) + "}]}";
    const auto parsed = parse_messages_request(body, {});
    EXPECT_TRUE(parsed.ok()) << body;
    return parsed->chat.conversation.cache_mark->lifetime.count();
  };
  const std::string hour = R"(,"cache_control":{"type":"ephemeral","ttl":"1h"})";
  const std::string minutes = R"(,"cache_control":{"type":"ephemeral","ttl":"5m"})";
  const std::string unnamed = R"(,"cache_control":{"type":"ephemeral"})";
  EXPECT_EQ(lifetime("", unnamed), 300);
  EXPECT_EQ(lifetime("", minutes), 300);
  EXPECT_EQ(lifetime("", hour), 3'600);
  EXPECT_EQ(lifetime(hour, minutes), 3'600);
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"a"}],
      "cache_control":{"type":"ephemeral","ttl":5}})"),
            "cache_control.ttl: must be a string, got 5");
}

TEST(CacheMarks, ATopLevelMarkIsOnTheLastBlock) {
  EXPECT_EQ(mark(R"({%,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
      {"type":"text","text":"b"},{"type":"text","text":"c"}]}]})"),
            "1/1");
  EXPECT_EQ(mark(R"({%,"system":"s","messages":[{"role":"user","content":""}]})"), "system");
  EXPECT_EQ(mark(R"({%,"messages":[{"role":"user","content":""}]})"), "none");
}

TEST(CacheMarks, AMarkOnWhatIsDroppedIsBehindWhatCameBefore) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},
      {"type":"text","text":"",%}]}]})"),
            "0/0");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":[
      {"type":"text","text":"",%},{"type":"text","text":"b"}]}]})"),
            "0/0");
  EXPECT_EQ(mark(R"({"tools":[{"type":"web_search_20250305","name":"s",%}],
      "messages":[{"role":"user","content":"a"}]})"),
            "none");
}

TEST(CacheMarks, MarksInsideAToolResultAreBehindIt) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"tool_result",
      "tool_use_id":"t","content":[{"type":"text","text":"r",%},{"type":"text","text":"s"}]},
      {"type":"text","text":"x"}]}]})"),
            "0/0");
}

TEST(CacheMarks, FollowTheirBlockWhenResultsMoveToTheFront) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a",%},
      {"type":"tool_result","tool_use_id":"t"},{"type":"tool_result","tool_use_id":"u"}]}]})"),
            "0/2");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},
      {"type":"tool_result","tool_use_id":"t",%},{"type":"text","text":"b"}]}]})"),
            "0/0");
}

TEST(CacheMarks, FollowATrimmedPrefill) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[
      {"type":"text","text":"a"},{"type":"text","text":"  ",%}]}]})"),
            "1/0");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[
      {"type":"text","text":"  ",%}]}]})"),
            "1/0");
}

TEST(CacheMarks, MustBeObjects) {
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a",
      "cache_control":true}]}]})"),
            "messages[0].content[0].cache_control: must be an object, got true");
  EXPECT_EQ(mark(R"({"cache_control":"x","messages":[{"role":"user","content":"a"}]})"),
            "cache_control: must be an object, got \"x\"");
}

std::string strictly(std::string_view blocks) {
  return mark(R"({"model":"m","max_tokens":1,"messages":[{"role":"user","content":[)" +
                  std::string(blocks) + "]}]}",
              kStrict);
}

TEST(CacheMarks, StrictModeAllowsFour) {
  std::string blocks = R"({"type":"text","text":"a",%})";
  for (int i = 1; i < 4; ++i) blocks += R"(,{"type":"text","text":"a",%})";
  EXPECT_EQ(strictly(blocks), "0/3");
  EXPECT_EQ(strictly(blocks + R"(,{"type":"text","text":"a",%})"),
            "messages[0].content[4].cache_control: a request may have at most 4 blocks with "
            "cache_control");
  EXPECT_EQ(mark(R"({"messages":[{"role":"user","content":[)" + blocks +
                 R"(,{"type":"text","text":"a",%}]}]})"),
            "0/4");
}

TEST(CacheMarks, StrictModeChecksTypeAndLifetime) {
  EXPECT_EQ(strictly(R"({"type":"text","text":"a","cache_control":{}})"),
            "messages[0].content[0].cache_control.type: is required");
  EXPECT_EQ(strictly(R"({"type":"text","text":"a","cache_control":{"type":"for_ever"}})"),
            "messages[0].content[0].cache_control.type: must be \"ephemeral\", got \"for_ever\"");
  EXPECT_EQ(
      strictly(R"({"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"2d"}})"),
      "messages[0].content[0].cache_control.ttl: must be \"5m\" or \"1h\", got \"2d\"");
  EXPECT_EQ(
      strictly(R"({"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}})"),
      "0/0");
}

}  // namespace
}  // namespace zerohop
