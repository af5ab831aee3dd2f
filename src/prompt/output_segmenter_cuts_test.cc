// What comes out does not depend on how the output was cut, whatever stands in it: outputs put
// together of all kinds of parts in all orders, cut at every byte, at every two, and at random.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "constrain/json_oracle.h"
#include "prompt/segment_recorder.h"

namespace zerohop {
namespace {

using Pieces = std::vector<std::string_view>;

// One part of an output, and the words in it that must come out as text or thinking.
struct Part {
  std::string output;
  std::string words;
};

std::vector<Part> parts_of(const ToolSyntax& row) {
  const std::string input = "{\"k\":\"\xc3\xa9<\",\"n\":[1]}";
  const std::string call = write_tool_calls(row, std::vector<ToolCallText>{{"f", input}});
  const std::string two =
      write_tool_calls(row, std::vector<ToolCallText>{{"f", input}, {"g", "{}"}});
  const std::string open = row.open.empty() ? "{" : std::string(mark_core(row.open));
  return {
      {"\nplain <words ", "plain <words"},
      {"<think>\nhidden\n</think>\n\n", "hidden"},
      {call, ""},
      {"\n" + two + "\n", ""},
      {"<think>before " + call + " behind", row.open.empty() ? "" : "before"},
      {"<think>left open ", "left open"},
      {open + "! no call", row.open.empty() ? "! no call" : open + "! no call"},
      {call.substr(0, call.size() / 2), ""},
      {open.substr(0, open.size() / 2 + 1) + "half", "half"},
      {"</think>", ""},
  };
}

void expect_sound(const SegmentRecorder& seen, std::string_view output) {
  for (const std::string& json : seen.arguments) {
    EXPECT_TRUE(JsonOracle::accepts_object(json)) << json << "\nof " << output;
  }
  EXPECT_EQ(seen.str().find('('), output.find('(')) << seen.str();
}

void expect_same(const OutputPlan& plan, const Pieces& pieces, const std::string& expected) {
  const std::string seen = segment(plan, pieces).str();
  if (seen == expected) return;
  std::string cut;
  for (const std::string_view piece : pieces) cut.append(piece).append("¦");
  ADD_FAILURE() << "cut as  " << cut << "\ngives   " << seen << "\nwhole   " << expected;
}

void cut_at_every_byte(const OutputPlan& plan, std::string_view output) {
  const SegmentRecorder whole = segment(plan, {output});
  expect_sound(whole, output);
  Pieces bytes;
  for (std::size_t i = 0; i < output.size(); ++i) {
    bytes.push_back(output.substr(i, 1));
    expect_same(plan, {output.substr(0, i), output.substr(i)}, whole.str());
  }
  expect_same(plan, bytes, whole.str());
}

void cut_at_every_two_bytes(const OutputPlan& plan, std::string_view output) {
  const std::string whole = segment(plan, {output}).str();
  for (std::size_t i = 0; i < output.size(); ++i) {
    for (std::size_t j = i; j < output.size(); ++j) {
      expect_same(plan, {output.substr(0, i), output.substr(i, j - i), output.substr(j)}, whole);
    }
  }
}

void cut_at_random(const OutputPlan& plan, std::string_view output, Random& random) {
  const std::string whole = segment(plan, {output}).str();
  for (int round = 0; round < 4; ++round) {
    Pieces pieces;
    std::string_view rest = output;
    while (!rest.empty()) {
      pieces.push_back(rest.substr(0, 1 + random.below(9)));
      rest.remove_prefix(pieces.back().size());
    }
    expect_same(plan, pieces, whole);
  }
}

TEST(OutputSegmenterCuts, ReadsAllOrdersOfThreePartsAlike) {
  Random random(3);
  const std::vector<Part> parts = parts_of(default_tool_syntax());
  const OutputPlan plan = tools_plan();
  for (const Part& a : parts) {
    for (const Part& b : parts) {
      for (const Part& c : parts) {
        const std::string output = a.output + b.output + c.output;
        cut_at_random(plan, output, random);
        // Half a call swallows what follows, and may end as rubble.
        const SegmentRecorder seen = segment(plan, {output});
        expect_sound(seen, output);
        const std::string half = parts[7].output;
        if (a.output == half || b.output == half) continue;
        for (const Part& part : {a, b, c}) {
          const bool found = seen.text_bytes.find(part.words) != std::string::npos ||
                             seen.thinking_bytes.find(part.words) != std::string::npos;
          EXPECT_TRUE(found) << part.words << " is lost of " << output << "\n" << seen.str();
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(OutputSegmenterCuts, ReadsTwoPartsOfEveryFormAlikeAtEveryByte) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    const OutputPlan plan = tools_plan(row.id);
    for (const Part& a : parts_of(row)) {
      for (const Part& b : parts_of(row)) {
        if (a.output.size() + b.output.size() < 150) cut_at_every_byte(plan, a.output + b.output);
        if (testing::Test::HasFailure()) FAIL() << row.id;
      }
    }
  }
}

TEST(OutputSegmenterCuts, ReadsEveryPartAlikeAtEveryTwoBytes) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    for (const Part& part : parts_of(row)) {
      if (part.output.size() < 100) cut_at_every_two_bytes(tools_plan(row.id), part.output);
      if (testing::Test::HasFailure()) FAIL() << row.id;
    }
  }
}

TEST(OutputSegmenterCuts, ReadsMalformedCallsAlike) {
  const std::vector<std::string> outputs = {
      "<tool_call>{\"arguments\":{\"a\":[1,2,]},\"name\":\"f\"} ,</tool_call> x",
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"\\q\\u12",
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}</tool_call>\n<tool_call>{\"name\":\"g\"}",
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\" 1}} x </tool_call> y",
      "<tool_call>[{\"name\":\"f\"},{\"name\":\"\"}] z",
      "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"b\\nc\\\"\"}",
      "a <tool_call> <tool_call> {\"nam <think>b</think> c <tool_call>{\"name\":\"f\"}",
      "<think>a <tool_call>{\"x\":[[[ </think> b",
      "a" + std::string(100, '\n') + "<tool_call>{\"name\":\"f\"}" + std::string(100, ' ') + "b",
  };
  for (const std::string& output : outputs) {
    cut_at_every_byte(tools_plan(), output);
    if (output.size() < 130) cut_at_every_two_bytes(tools_plan(), output);
  }
}

TEST(OutputSegmenterCuts, ReadsTaggedValuesAlike) {
  const std::vector<std::string> values = {
      "12 ",      "12 3",      "true",   "\"q\"", " {\"a\":[1]}\n",
      "{\"a\":}", "\n\nx\n\n", "</para", "nul",   ""};
  for (const std::string_view id : {"qwen3-coder", "glm-4.5", "seed-oss", "minimax-m2"}) {
    const ToolSyntax& row = *find_tool_syntax(id);
    for (const std::string& value : values) {
      std::string output(row.open);
      output.append(row.before_name).append("f").append(row.after_name);
      output.append(row.parameter_open).append("k").append(row.parameter_middle).append(value);
      cut_at_every_byte(tools_plan(id), output);
      output.append(row.parameter_close).append(row.arguments_close).append(row.close);
      cut_at_every_two_bytes(tools_plan(id), output);
    }
  }
}

// Of a parameter that cannot be a string, a mark may be a part of the value, or may have ended it.
TEST(OutputSegmenterCuts, ReadsTaggedValuesThatMustBeJsonAlike) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    if (row.kind != ToolSyntaxKind::kTagged) continue;
    OutputPlan plan = tools_plan(row.id);
    plan.offered = std::make_shared<const OfferedTools>(OfferedTools{{"f", {{}, {"k"}}}});
    const std::string close(row.parameter_close);
    const std::string end = close + std::string(row.arguments_close) + std::string(row.close);
    for (const std::string& value :
         {std::string("12 "), "[\"" + close + "\"]", "[\"" + close, "[\"x" + end + " a \" b",
          std::string("\"12\""), "{} x" + end + "y", std::string("[\"\\")}) {
      std::string output(row.open);
      output.append(row.before_name).append("f").append(row.after_name);
      output.append(row.parameter_open).append("k").append(row.parameter_middle).append(value);
      cut_at_every_byte(plan, output);
      cut_at_every_byte(plan, output + end);
      cut_at_every_byte(plan, output + end + " z");
    }
  }
}

TEST(OutputSegmenterCuts, ReadsJsonAnswersAlike) {
  for (const OutputFormat format : {OutputFormat::kJson, OutputFormat::kJsonSchema}) {
    OutputPlan plan = tools_plan();
    plan.rules.format = format;
    for (const std::string output :
         {"<think>{}</think>\n```json\n{\"a\":\"<think>\n\\d\",}\n```", "no {x} [y] {\"a\":[1,]} z",
          "tru", "true x", "12.", "{ \n", "``` \"a\" b", "<tool_call>{\"name\":\"f\"} {\"a\":1}"}) {
      cut_at_every_byte(plan, output);
      cut_at_every_two_bytes(plan, output);
      const std::string text = segment(plan, {output}).text_bytes;
      EXPECT_TRUE(text.empty() || JsonOracle::accepts(text)) << text;
    }
  }
}

}  // namespace
}  // namespace zerohop
