#include "app/constrain_report.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace zerohop {
namespace {

namespace json = boost::json;
using Wanted = ExpectedText::Wanted;

CaseFinding refused() {
  CaseFinding finding;
  finding.id = "a";
  finding.verdict = CheckVerdict::kRefused;
  finding.refusal = SchemaRefusal{SchemaRefusal::Kind::kUnsupported, "/properties/x", "uniqueItems",
                                  "the items cannot be told apart"};
  return finding;
}

struct Wrong {
  CheckCase wanted{"b", {}, {{Wanted::kAccept, "1"}, {Wanted::kAccept, "{\n\"a\": x"}}};
  CaseFinding finding;

  Wrong() {
    finding.id = "b";
    finding.verdict = CheckVerdict::kUnder;
    finding.cost = ConstraintCost{.nodes = 2, .form_bytes = 300, .shortest = "{}"};
    finding.texts.resize(2);
    finding.texts[0].accepted = true;
    finding.texts[1].read = 7;
    finding.texts[1].possible = "\"0123456789[fnt{";
  }
};

json::object line_of(const std::string& text) {
  EXPECT_TRUE(text.ends_with('\n') && text.find('\n') == text.size() - 1) << text;
  return json::parse(text).as_object();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ConstrainReport, ARefusalNamesPointerAndKeyword) {
  const json::object line = line_of(case_json({}, refused()));
  EXPECT_EQ(line.at("id"), "a");
  EXPECT_EQ(line.at("verdict"), "refused");
  EXPECT_EQ(line.at("pointer"), "/properties/x");
  EXPECT_EQ(line.at("keyword"), "uniqueItems");
  EXPECT_EQ(line.at("kind"), "unsupported");
  EXPECT_EQ(case_text({}, refused()),
            "refused  a  /properties/x: uniqueItems: the items cannot be told apart\n");
  const std::string text = constraint_text(refused());
  EXPECT_TRUE(has(text, "refused: a\n  pointer   /properties/x\n  keyword   uniqueItems\n"))
      << text;
  EXPECT_TRUE(has(text, "  reason    the items cannot be told apart\n")) << text;
}

TEST(ConstrainReport, AWrongTextIsShownWithItsPlace) {
  const Wrong wrong;
  const json::object line = line_of(case_json(wrong.wanted, wrong.finding));
  EXPECT_EQ(line.at("verdict"), "under");
  EXPECT_TRUE(line.at("pointer").is_null() && line.at("keyword").is_null());
  EXPECT_EQ(line.at("text"), "{\n\"a\": x");
  EXPECT_EQ(line.at("expected"), "accept");
  EXPECT_EQ(line.at("read_bytes").as_int64(), 7);
  EXPECT_EQ(line.at("cost").at("form_nodes").to_number<int>(), 2);
  const std::string text = case_text(wrong.wanted, wrong.finding);
  EXPECT_TRUE(text.starts_with("under    b\n    should be accepted: \"{\\n")) << text;
  EXPECT_TRUE(has(text, "at byte 7 (line 2, column 6), behind ")) << text;
  EXPECT_TRUE(has(text, ": \"x\"; may come: \" 0-9 [ f n t {\n")) << text;
}

TEST(ConstrainReport, SaysHowEveryTextFared) {
  TextFinding finding{.accepted = true};
  EXPECT_EQ(finding_text("t.json", "1", finding), "accepted: t.json\n  byte by byte yes\n");
  finding.canonical = TokenWalk{.possible = true, .accepted = true, .tokens = 1};
  finding.greedy = TokenWalk{.possible = true, .accepted = false, .tokens = 3, .read = 2};
  EXPECT_EQ(finding_text("t.json", "1", finding),
            "rejected: t.json\n  byte by byte yes; token by token: the model's own yes, 1 token, "
            "longest first no, 3 tokens of which the first 2 may come\n");
  const TextFinding cut{.read = 1, .possible = "]"};
  EXPECT_TRUE(has(finding_text("t", "[", cut), "it ends too early, at byte 1; may come: ]\n"));
  const TextFinding behind{.read = 2};
  EXPECT_TRUE(has(finding_text("t", "[]]", behind), "\"]\"; nothing more may come\n"));
}

TEST(ConstrainReport, LongTextsAndHalfCharactersStayReadable) {
  Wrong wrong;
  wrong.wanted.texts[1].text = std::string(500, 'a') + "\xc3\xa4\xff";
  wrong.finding.texts[1].read = 500;
  wrong.finding.texts[1].possible = "\x80\x81\xc3";
  const std::string text = case_text(wrong.wanted, wrong.finding);
  EXPECT_LT(text.size(), 500u);
  EXPECT_TRUE(has(text, "\"\xc3\xa4\"; may come: \\x80 \\x81 \\xc3")) << text;
  EXPECT_TRUE(line_of(case_json(wrong.wanted, wrong.finding)).contains("text"));
}

TEST(ConstrainReport, CountsTheVerdicts) {
  CheckTally tally;
  for (const CheckVerdict verdict :
       {CheckVerdict::kRight, CheckVerdict::kRight, CheckVerdict::kOver, CheckVerdict::kRefused,
        CheckVerdict::kError}) {
    tally.add(verdict);
  }
  EXPECT_EQ(tally_text(tally), "5 cases: 2 right, 1 over, 0 under, 1 refused, 1 error\n");
}

TEST(ConstrainReport, CostIsShownForPeople) {
  CaseFinding finding;
  finding.id = "s.json";
  finding.cost = ConstraintCost{.compile = std::chrono::microseconds{1500},
                                .nodes = 1,
                                .form_bytes = 10,
                                .first_state = std::chrono::microseconds{2},
                                .first_bytes = 99,
                                .begins = "\"{",
                                .shortest = "\"\""};
  EXPECT_EQ(constraint_text(finding),
            "compiled: s.json\n  compile      1.500 ms, 1 form node, 10 bytes\n"
            "  first state  0.002 ms, 99 bytes, may begin with: \" {\n"
            "  shortest     \"\\\"\\\"\"\n");
}

}  // namespace
}  // namespace zerohop
