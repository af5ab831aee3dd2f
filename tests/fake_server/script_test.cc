#include "script.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

Script script_of(std::string_view json) {
  Result<Script> script = parse_script(json);
  EXPECT_TRUE(script.ok()) << (script.ok() ? "" : script.error().message);
  return script.ok() ? *script : Script();
}

std::vector<Token> tokens_of(const Model& model, std::string_view prompt) {
  return model.tokenizer().tokenize(prompt, SpecialTokens::kParse);
}

// The whole answer to a prompt that ends in an open assistant's turn.
std::string answer_to(const Script& script, std::string_view prompt) {
  const auto model = make_fake_model({});
  const FakeModelOptions options = scripted_model(script, {});
  std::vector<Token> tokens = tokens_of(*model, prompt);
  const std::size_t begin = tokens.size();
  while (tokens.size() < begin + 1000) {
    const std::optional<Token> next = options.script(tokens);
    if (!next || *next == FakeTokens::kEnd) break;
    tokens.push_back(*next);
  }
  std::string text;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    text += model->tokenizer().table().bytes(tokens[i]);
  }
  return text;
}

constexpr std::string_view kTwoTurns =
    "<|im_start|>user\nfirst<|im_end|>\n<|im_start|>assistant\ncalled<|im_end|>\n"
    "<|im_start|>user\nsecond<|im_end|>\n<|im_start|>system\nthird<|im_end|>\n"
    "<|im_start|>assistant\n";

TEST(FakeServerScript, TheFirstRuleThatFitsAnswers) {
  const Script script =
      script_of(R"([{"last":"nowhere","reply":"a"},{"last":"second","reply":"b"},{"reply":"c"}])");
  EXPECT_EQ(answer_to(script, kTwoTurns), "b");
}

TEST(FakeServerScript, LastIsEverythingBehindTheModelsTurn) {
  EXPECT_EQ(answer_to(script_of(R"([{"last":"first","reply":"a"}])"), kTwoTurns), kNoRuleReply);
  EXPECT_EQ(answer_to(script_of(R"([{"last":"third","reply":"a"}])"), kTwoTurns), "a");
  const Script both = script_of(R"([{"anywhere":"first","last":"second","reply":"the Paris"}])");
  EXPECT_EQ(answer_to(both, kTwoTurns), "the Paris");
}

TEST(FakeServerScript, WhatThePromptHasBegunIsPartOfTheReply) {
  const Script script = script_of(R"([{"reply":"<call>one","tokens":"bytes"}])");
  EXPECT_EQ(answer_to(script, "<|im_start|>assistant\n<call>"), "one");
  EXPECT_EQ(answer_to(script, "<|im_start|>assistant\nWell: "), "<call>one");
}

TEST(FakeServerScript, AThoughtThatThePromptHasOpenedIsClosedWhenTheReplyHasNone) {
  const Script silent = script_of(R"([{"reply":"Hi"}])");
  const Script thinks = script_of(R"([{"reply":"<think>\nHm\n</think>\n\nHi"}])");
  EXPECT_EQ(answer_to(silent, "<|im_start|>assistant\n<think>\n"), "</think>\n\nHi");
  EXPECT_EQ(answer_to(silent, "<|im_start|>assistant\n<think>\n\n</think>\n\n"), "Hi");
  EXPECT_EQ(answer_to(thinks, "<|im_start|>assistant\n<think>\n"), "Hm\n</think>\n\nHi");
}

TEST(FakeServerScript, ARepeatedReplyIsSaidSoOften) {
  EXPECT_EQ(answer_to(script_of(R"([{"reply":"ab ","repeat":3}])"), "<|im_start|>assistant\n"),
            "ab ab ab ");
}

TEST(FakeServerScript, AModelBreaksDownWhereTheRuleSays) {
  const FakeModelOptions options =
      scripted_model(script_of(R"([{"reply":"abc","fail_at":1}])"), {});
  const auto model = make_fake_model({});
  std::vector<Token> tokens = tokens_of(*model, "<|im_start|>assistant\n");
  EXPECT_EQ(options.script(tokens), Token('a'));
  EXPECT_EQ(options.fault({}), DecodeStatus::kOk);
  tokens.push_back('a');
  EXPECT_EQ(options.script(tokens), Token('b'));
  EXPECT_EQ(options.fault({}), DecodeStatus::kFatal);
  EXPECT_EQ(options.fault({}), DecodeStatus::kFatal);
  EXPECT_EQ(options.fault({}), DecodeStatus::kOk);
}

TEST(FakeServerScript, FaultsNameTheRuleAndTheKey) {
  EXPECT_FALSE(parse_script("{}").ok());
  const Result<Script> script = parse_script(R"([{"reply":"a"},{"reply":1}])");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().message, "rule 1 of the script: reply must be a string");
  EXPECT_EQ(parse_script(R"([{"replies":"a"}])").error().message,
            "rule 0 of the script: unknown key replies");
}

}  // namespace
}  // namespace zerohop
