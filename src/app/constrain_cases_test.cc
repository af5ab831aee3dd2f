#include "app/constrain_cases.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using Wanted = ExpectedText::Wanted;

CheckCase parsed(std::string_view text) {
  const auto read = parse_case({text, 3}, std::nullopt);
  EXPECT_TRUE(read.ok()) << text << ": " << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : CheckCase{};
}

std::string fault(std::string_view text) {
  const auto read = parse_case({text, 3}, std::nullopt);
  return read.ok() ? "no error" : read.error().message;
}

std::vector<std::string> texts(const CheckCase& of, Wanted wanted) {
  std::vector<std::string> found;
  for (const ExpectedText& each : of.texts) {
    if (each.wanted == wanted) found.push_back(each.text);
  }
  return found;
}

TEST(ConstrainCases, StringsAloneAreTexts) {
  const CheckCase read =
      parsed(R"({"id":"x","schema":{"maximum":1.50},"accept":["{\"a\": 1}","1"],"reject":["{"]})");
  EXPECT_EQ(read.id, "x");
  EXPECT_EQ(read.constraint.language, ConstraintText::Language::kSchema);
  EXPECT_EQ(read.constraint.text, R"({"maximum":1.50})");
  EXPECT_EQ(texts(read, Wanted::kAccept), (std::vector<std::string>{R"({"a": 1})", "1"}));
  EXPECT_EQ(texts(read, Wanted::kReject), (std::vector<std::string>{"{"}));
}

TEST(ConstrainCases, OneOtherThanAStringMakesAllOfThemValues) {
  const CheckCase read =
      parsed(R"({"schema":true,"accept":["a","1"],"reject":[1.0, {"b" : [null]}]})");
  EXPECT_EQ(read.id, "3");
  EXPECT_EQ(texts(read, Wanted::kAccept), (std::vector<std::string>{R"("a")", R"("1")"}));
  EXPECT_EQ(texts(read, Wanted::kReject), (std::vector<std::string>{"1.0", R"({"b":[null]})"}));
}

TEST(ConstrainCases, TextsCanStandBesideValues) {
  const CheckCase read =
      parsed(R"({"id":7,"schema":{},"accept":[1],"accept_text":["[1, 2]"],"reject_text":["01"]})");
  EXPECT_EQ(read.id, "7");
  EXPECT_EQ(texts(read, Wanted::kAccept), (std::vector<std::string>{"1", "[1, 2]"}));
  EXPECT_EQ(texts(read, Wanted::kReject), (std::vector<std::string>{"01"}));
}

TEST(ConstrainCases, RegexAndGrammarStandForASchema) {
  EXPECT_EQ(parsed(R"({"regex":"a+"})").constraint.language, ConstraintText::Language::kRegex);
  const CheckCase grammar = parsed(R"({"grammar":"root ::= \"a\""})");
  EXPECT_EQ(grammar.constraint.language, ConstraintText::Language::kGrammar);
  EXPECT_EQ(grammar.constraint.text, "root ::= \"a\"");
}

TEST(ConstrainCases, TheConstraintBesideTheFileCountsWhereALineHasNone) {
  const ConstraintText otherwise{ConstraintText::Language::kRegex, "a*"};
  const auto read = parse_case({R"({"accept":["a"]})", 1}, otherwise);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->constraint.text, "a*");
  EXPECT_EQ(parse_case({R"({"schema":false})", 1}, otherwise)->constraint.text, "false");
}

TEST(ConstrainCases, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(fault("[]"), "a case must be a JSON object");
  EXPECT_EQ(fault("{}"), "schema is missing");
  EXPECT_EQ(fault(R"({"schema":{},"regex":"a"})"),
            "only one of schema, regex and grammar may be there");
  EXPECT_EQ(fault(R"({"regex":1})"), "regex must be a string");
  EXPECT_EQ(fault(R"({"schema":{},"accept":"1"})"), "accept must be an array");
  EXPECT_EQ(fault(R"({"schema":{},"reject_text":[1]})"), "reject_text must hold strings");
  EXPECT_TRUE(fault("{\"schema\":").starts_with("not JSON at byte 10"));
}

TEST(ConstrainCases, ALineWithAFaultKeepsItsId) {
  EXPECT_EQ(case_id({R"({"id":"a"})", 4}), "a");
  EXPECT_EQ(case_id({R"({"id":[]})", 4}), "4");
  EXPECT_EQ(case_id({"{", 4}), "4");
}

}  // namespace
}  // namespace zerohop
