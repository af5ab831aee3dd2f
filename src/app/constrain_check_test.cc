#include "app/constrain_check.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using Language = ConstraintText::Language;
using Wanted = ExpectedText::Wanted;

// All single bytes, some longer tokens, one end token; written with the shortest tokens.
ConstraintChecker::Vocabulary small_vocabulary() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"{\"", "\": ", "true", "\"}", "ab", "12"}) bytes.emplace_back(word);
  const auto end = static_cast<Token>(bytes.size());
  bytes.emplace_back();
  auto tokens = std::make_shared<const TokenTrie>(bytes, std::vector<Token>{end}, bytes.size());
  Tokenize tokenize = [](std::string_view text) {
    std::vector<Token> each;
    for (const char byte : text) each.push_back(static_cast<unsigned char>(byte));
    return each;
  };
  return {std::move(tokens), std::move(tokenize)};
}

struct Rig {
  explicit Rig(ConstraintChecker::Options options = {}) : checker(std::move(options), clock) {}

  CaseFinding check(const ConstraintText& constraint, std::vector<ExpectedText> texts) {
    return checker.check({"id", constraint, std::move(texts)});
  }
  CaseFinding schema(const std::string& text, std::vector<ExpectedText> texts = {}) {
    return check({Language::kSchema, text}, std::move(texts));
  }

  VirtualClock clock;
  ConstraintChecker checker;
};

TEST(ConstrainCheck, JudgesACaseByItsTexts) {
  Rig rig;
  const std::string integer = R"({"type":"integer"})";
  const CaseFinding right =
      rig.schema(integer, {{Wanted::kAccept, "12"}, {Wanted::kReject, "true"}});
  EXPECT_EQ(right.verdict, CheckVerdict::kRight);
  ASSERT_EQ(right.texts.size(), 2u);
  EXPECT_TRUE(right.texts[0].accepted);
  EXPECT_EQ(right.texts[1].read, 0u);
  EXPECT_EQ(right.texts[1].possible, "-0123456789");
  EXPECT_EQ(rig.schema(integer, {{Wanted::kReject, "12"}}).verdict, CheckVerdict::kOver);
  EXPECT_EQ(rig.schema(integer, {{Wanted::kAccept, "\"a\""}}).verdict, CheckVerdict::kUnder);
  EXPECT_EQ(rig.schema(integer, {{Wanted::kAccept, "true"}, {Wanted::kReject, "1"}}).verdict,
            CheckVerdict::kOver);
}

TEST(ConstrainCheck, CompilesAConstraintOnceForCasesInARow) {
  Rig rig({.vocabulary = small_vocabulary()});
  const std::string schema = R"({"type":"array","items":{"type":"integer"}})";
  const CaseFinding first = rig.schema(schema, {{Wanted::kAccept, "[1]"}});
  const CaseFinding second = rig.schema(schema, {{Wanted::kAccept, "[]"}, {Wanted::kReject, "1"}});
  EXPECT_EQ(first.verdict, CheckVerdict::kRight);
  EXPECT_EQ(second.verdict, CheckVerdict::kRight);
  EXPECT_EQ(second.cost->shortest, first.cost->shortest);
  EXPECT_EQ(rig.checker.compiled(), 1u);
  EXPECT_EQ(rig.schema("false").verdict, CheckVerdict::kRefused);
  EXPECT_EQ(rig.schema("false", {{Wanted::kReject, "1"}}).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.checker.compiled(), 2u);
  EXPECT_EQ(rig.check({Language::kRegex, "false"}, {}).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.schema(schema, {{Wanted::kAccept, "[2]"}}).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.checker.compiled(), 4u);
}

// As JSON Schema has it; answers themselves write neither.
TEST(ConstrainCheck, TakesNumbersInAnySpelling) {
  Rig rig;
  const std::string integer = R"({"type":"integer","minimum":10})";
  EXPECT_EQ(rig.schema(integer, {{Wanted::kAccept, "1e1"}, {Wanted::kAccept, "11.0"}}).verdict,
            CheckVerdict::kRight);
  EXPECT_EQ(rig.schema(integer, {{Wanted::kReject, "9.0"}}).verdict, CheckVerdict::kRight);
}

TEST(ConstrainCheck, SaysHowFarATextWasRead) {
  Rig rig;
  const CaseFinding found = rig.schema(R"({"enum":["abc","abd"]})",
                                       {{Wanted::kAccept, "\"abx\""}, {Wanted::kAccept, "\"ab"}});
  EXPECT_EQ(found.texts[0].read, 3u);
  EXPECT_EQ(found.texts[0].possible, "\\cd");
  EXPECT_EQ(found.texts[1].read, 3u);
  EXPECT_FALSE(found.texts[1].accepted);
}

TEST(ConstrainCheck, NamesWhatIsRefused) {
  const CaseFinding found = Rig().schema(R"({"properties":{"a":{"minLength":"3"}}})");
  EXPECT_EQ(found.verdict, CheckVerdict::kRefused);
  ASSERT_TRUE(found.refusal.has_value());
  EXPECT_EQ(found.refusal->pointer, "/properties/a");
  EXPECT_EQ(found.refusal->keyword, "minLength");
  EXPECT_FALSE(found.cost.has_value());
}

TEST(ConstrainCheck, ASchemaThatNothingSatisfiesRejectsEveryText) {
  Rig rig;
  EXPECT_EQ(rig.schema("false", {{Wanted::kReject, "1"}}).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.schema("false", {{Wanted::kAccept, "1"}}).verdict, CheckVerdict::kRefused);
  EXPECT_EQ(rig.schema("false").verdict, CheckVerdict::kRefused);
}

TEST(ConstrainCheck, KeysComeAsDeclaredOrInAnyOrder) {
  const std::string schema =
      R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}}})";
  const std::vector<ExpectedText> texts{{Wanted::kAccept, R"({"b":null,"a":null})"}};
  const CaseFinding declared = Rig().schema(schema, texts);
  EXPECT_EQ(declared.verdict, CheckVerdict::kUnder);
  EXPECT_TRUE(declared.texts[0].order_alone);
  EXPECT_FALSE(Rig().schema(schema, {{Wanted::kAccept, R"({"b":1})"}}).texts[0].order_alone);
  Rig any({.key_order = JsonMachineOptions::KeyOrder::kAny});
  EXPECT_EQ(any.schema(schema, texts).verdict, CheckVerdict::kRight);
}

TEST(ConstrainCheck, FollowsRegularExpressionsAndGrammars) {
  Rig rig;
  const std::vector<ExpectedText> texts{{Wanted::kAccept, "aab"}, {Wanted::kReject, "aa"}};
  EXPECT_EQ(rig.check({Language::kRegex, "a*b"}, texts).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.check({Language::kGrammar, "root ::= \"a\" root | \"b\""}, texts).verdict,
            CheckVerdict::kRight);
  const CaseFinding refused = rig.check({Language::kGrammar, "root ::= nothing"}, texts);
  EXPECT_EQ(refused.verdict, CheckVerdict::kRefused);
  EXPECT_TRUE(refused.refusal->reason.starts_with("line 1, column")) << refused.refusal->reason;
}

TEST(ConstrainCheck, AsksTokenByTokenInTwoSpellings) {
  Rig rig({.vocabulary = small_vocabulary()});
  const CaseFinding found =
      rig.schema(R"({"type":"object","properties":{"ab":{"type":"boolean"}},"required":["ab"]})",
                 {{Wanted::kAccept, R"({"ab": true})"}, {Wanted::kReject, R"({"ab": 12})"}});
  EXPECT_EQ(found.verdict, CheckVerdict::kRight);
  ASSERT_TRUE(found.texts[0].canonical && found.texts[0].greedy);
  EXPECT_TRUE(found.texts[0].canonical->accepted);
  EXPECT_EQ(found.texts[0].canonical->tokens, 12u);
  EXPECT_TRUE(found.texts[0].greedy->accepted);
  EXPECT_EQ(found.texts[0].greedy->tokens, 5u);
  EXPECT_EQ(found.texts[1].greedy->read, 3u);
  EXPECT_FALSE(found.texts[1].canonical->accepted);
  ASSERT_TRUE(found.cost.has_value());
  EXPECT_EQ(found.cost->first_tokens, 2u);  // `{` and `{"`
  EXPECT_EQ(found.cost->begins, "{");
}

TEST(ConstrainCheck, AnEmptyTextIsATextWithoutTokens) {
  Rig rig({.vocabulary = small_vocabulary()});
  const std::vector<ExpectedText> texts{{Wanted::kAccept, ""}};
  EXPECT_EQ(rig.check({Language::kRegex, "a*"}, texts).verdict, CheckVerdict::kRight);
  EXPECT_EQ(rig.check({Language::kRegex, "a+"}, texts).verdict, CheckVerdict::kUnder);
}

}  // namespace
}  // namespace zerohop
