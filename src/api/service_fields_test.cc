#include "api/service_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "api/openai_chat_request.h"
#include "api/openai_completions_request.h"
#include "api/openai_responses_request.h"

namespace zerohop {
namespace {

constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

std::string with(std::string_view members) {
  return R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],)" +
         std::string(members) + "}";
}

Result<AnthropicRequest> anthropic(std::string_view members, const ParseOptions& options = {}) {
  return parse_messages_request(with(members), options);
}

TEST(ServiceTier, OfTheMessagesApiIsAlwaysTheStandard) {
  for (const std::string_view name : {"auto", "standard_only"}) {
    const auto parsed = anthropic(R"("service_tier":")" + std::string(name) + "\"", kStrict);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->chat.generation.priority, PriorityClass::kStandard);
    EXPECT_EQ(parsed->reply.service_tier, "standard");
  }
  EXPECT_EQ(anthropic(R"("service_tier":null)")->reply.service_tier, "");
  EXPECT_EQ(anthropic(R"("service_tier":"golden")")->reply.service_tier, "standard");
  EXPECT_EQ(error_text(anthropic(R"("service_tier":"golden")", kStrict).error()),
            "service_tier: must be one of \"auto\", \"standard_only\", got \"golden\"");
  EXPECT_EQ(error_text(anthropic(R"("service_tier":1)").error()),
            "service_tier: must be a string, got 1");
}

TEST(ServiceTier, OfTheOtherDialectChoosesTheClass) {
  const auto priority = [](std::string_view name) {
    const std::string members = R"("service_tier":")" + std::string(name) + "\"";
    const auto parsed = parse_chat_completions_request(with(members), {});
    EXPECT_TRUE(parsed.ok());
    return std::string(priority_class_name(parsed->chat.generation.priority)) + " " +
           std::string(parsed->reply.service_tier);
  };
  EXPECT_EQ(priority("auto"), "standard default");
  EXPECT_EQ(priority("default"), "standard default");
  EXPECT_EQ(priority("flex"), "batch flex");
  EXPECT_EQ(priority("priority"), "priority priority");
  EXPECT_EQ(priority("scale"), "standard default");
  EXPECT_FALSE(parse_chat_completions_request(with(R"("service_tier":"scale")"), kStrict).ok());
  const auto completion = parse_completions_request(R"({"prompt":"a","service_tier":"flex"})", {});
  ASSERT_TRUE(completion.ok());
  EXPECT_EQ(completion->generation.priority, PriorityClass::kBatch);
  const auto response = parse_responses_request(R"({"input":"a","service_tier":"flex"})", {});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->chat.generation.priority, PriorityClass::kBatch);
  EXPECT_EQ(response->service_tier, "flex");
}

std::string limits_of(std::string_view members) {
  const auto parsed = anthropic(members);
  if (!parsed.ok()) return error_text(parsed.error());
  const GenerationParameters& generation = parsed->chat.generation;
  std::string text;
  if (const auto& soft = generation.soft_max_tokens) text += *soft ? "soft " : "hard ";
  if (const auto& cap = generation.soft_cap) {
    text += std::to_string(static_cast<int>(cap->at * 100));
    if (cap->sentence_end) text += " sentence";
    for (const std::string& stop : cap->stops) text += " [" + stop + "]";
  }
  return text;
}

TEST(AnswerLimits, AreReadFromTheBody) {
  EXPECT_EQ(limits_of(R"("x":1)"), "");
  EXPECT_EQ(limits_of(R"("soft_max_tokens":true)"), "soft ");
  EXPECT_EQ(limits_of(R"("soft_max_tokens":false)"), "hard ");
  EXPECT_EQ(limits_of(R"("soft_cap":{})"), "85 sentence");
  EXPECT_EQ(limits_of(R"("soft_cap":{"at":0.5,"stop":["a","b"]})"), "50 [a] [b]");
  EXPECT_EQ(limits_of(R"("soft_cap":{"stop":"a","sentence":true})"), "85 sentence [a]");
  EXPECT_EQ(parse_completions_request(R"({"prompt":"a","soft_max_tokens":true})", {})
                ->generation.soft_max_tokens,
            true);
  EXPECT_TRUE(parse_responses_request(R"({"input":"a","soft_cap":{}})", {})
                  ->chat.generation.soft_cap.has_value());
}

TEST(AnswerLimits, OfAWrongTypeAreRefusedByTheirPaths) {
  EXPECT_EQ(limits_of(R"("soft_max_tokens":"yes")"),
            "soft_max_tokens: must be true or false, got \"yes\"");
  EXPECT_EQ(limits_of(R"("soft_cap":0.5)"), "soft_cap: must be an object, got 0.5");
  EXPECT_EQ(limits_of(R"("soft_cap":{"at":1})"), "soft_cap.at: must be a share below 1, got 1");
  EXPECT_EQ(limits_of(R"("soft_cap":{"stop":["a",""]})"), "soft_cap.stop[1]: must not be empty");
  EXPECT_EQ(limits_of(R"("soft_cap":{"sentence":false})"),
            "soft_cap.sentence: must be true where soft_cap has no stop");
  EXPECT_TRUE(limits_of(R"("soft_cap":{"stop":7})").starts_with("soft_cap.stop: must be"));
}

}  // namespace
}  // namespace zerohop
