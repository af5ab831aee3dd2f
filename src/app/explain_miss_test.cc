#include "app/explain_miss.h"

#include <gtest/gtest.h>

#include <memory>

#include "model/fake_model.h"

namespace zerohop {
namespace {

struct Rig {
  Rig() : model(make_fake_model({})), prompts(*model) {}
  std::string compare(const std::string& first, const std::string& second) const {
    const auto a = conversation_of(first);
    const auto b = conversation_of(second);
    EXPECT_TRUE(a.ok() && b.ok());
    const auto text = compare_prompts({"a.json", "b.json", *a, *b}, prompts, model->tokenizer());
    EXPECT_TRUE(text.ok());
    return *text;
  }

  std::unique_ptr<Model> model;
  PromptStage prompts;
};

std::string body(const std::string& system, const std::string& user) {
  return R"({"system":")" + system + R"(","messages":[{"role":"user","content":")" + user +
         R"("}]})";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ExplainMiss, ShowsWhereTwoRequestsPart) {
  const std::string text = Rig().compare(body("It is 12:03 now. You help people.", "Hi"),
                                         body("It is 12:04 now. You help people.", "Hi"));
  EXPECT_TRUE(has(text, "the first difference lies in the system prompt")) << text;
  EXPECT_TRUE(has(text, "  a.json: \"It is 12:0\" then \"3 now.")) << text;
  EXPECT_TRUE(has(text, "  b.json: \"It is 12:0\" then \"4 now.")) << text;
  EXPECT_TRUE(has(text, "tokens behind it could have been reused")) << text;
  EXPECT_TRUE(has(text, "the system prompt changes near its beginning")) << text;
}

TEST(ExplainMiss, NamesTheMessagesWhereTheyPart) {
  const std::string text =
      Rig().compare(body("You help people.", "Hello there"), body("You help people.", "Goodbye"));
  EXPECT_TRUE(has(text, "the first difference lies in the messages")) << text;
}

TEST(ExplainMiss, FindsNothingBetweenAConversationAndItsNextTurn) {
  const std::string next =
      R"({"system":"S","messages":[{"role":"user","content":"Hi"},)"
      R"({"role":"assistant","content":"Hello"},{"role":"user","content":"More"}]})";
  EXPECT_TRUE(has(Rig().compare(body("S", "Hi"), next), "nothing keeps the second from reusing"));
  EXPECT_TRUE(has(Rig().compare(next, next), "nothing keeps the second from reusing"));
}

TEST(ExplainMiss, ReadsBothDialects) {
  EXPECT_TRUE(conversation_of(body("S", "Hi")).ok());
  EXPECT_TRUE(
      conversation_of(
          R"({"messages":[{"role":"developer","content":"S"},{"role":"user","content":"Hi"}]})")
          .ok());
  EXPECT_FALSE(conversation_of("[]").ok());
  EXPECT_FALSE(conversation_of("{").ok());
}

TEST(ExplainMiss, PrintsWhatAServerRecorded) {
  const auto text = misses_text(
      R"({"data":[{"time":"2026-01-02T03:04:05Z","request_id":"req_2","cause":"evicted",)"
      R"("missed_tokens":300,"prompt_tokens":500,"cached_tokens":14,"advice":"do this"},)"
      R"({"time":"2026-01-02T03:04:04Z","request_id":"req_1","cause":"cold","advice":"x"}]})");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "2026-01-02T03:04:04Z  req_1  cold  0 of 0 tokens found\n    x\n"
            "2026-01-02T03:04:05Z  req_2  evicted  14 of 500 tokens found, 300 more could have "
            "been\n    do this\n");
  EXPECT_EQ(*misses_text(R"({"data":[]})"), "no misses were recorded\n");
  for (const char* bad : {"", "{}", "[]", R"({"data":1})"}) EXPECT_FALSE(misses_text(bad).ok());
  EXPECT_TRUE(misses_text(R"({"data":[1,{"prompt_tokens":-1,"cause":5}]})").ok());
}

}  // namespace
}  // namespace zerohop
