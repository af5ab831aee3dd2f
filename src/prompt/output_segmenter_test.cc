#include "prompt/output_segmenter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "constrain/json_oracle.h"
#include "prompt/segment_recorder.h"

namespace zerohop {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

std::string read(const OutputPlan& plan, std::string_view output) {
  return segment(plan, {output}).str();
}

void expect_all(const OutputPlan& plan, const Cases& cases) {
  for (const auto& [output, expected] : cases) EXPECT_EQ(read(plan, output), expected) << output;
}

TEST(OutputSegmenter, LeavesPlainTextAsItIs) {
  expect_all(tools_plan(), {{"Hello, world.\n", "text[Hello, world.\n]"},
                            {" \n two\n\nlines ", "text[ \n two\n\nlines ]"},
                            {"a < b <tool> </", "text[a < b <tool> </]"},
                            {"", ""},
                            {"\n", "text[\n]"}});
}

TEST(OutputSegmenter, TellsThinkingFromText) {
  expect_all(tools_plan(), {{"<think>\nHm.\n</think>\n\nYes.", "think[Hm.] text[Yes.]"},
                            {"Yes. <think>Hm.</think> No.", "text[Yes.] think[Hm.] text[No.]"},
                            {"<think>a</think><think>b</think>c", "think[ab] text[c]"},
                            {"<think>\n\n</think>\n\nYes.", "text[Yes.]"},
                            {"<think>cut off", "think[cut off]"},
                            {"<think><think>twice opened</think>x", "think[twice opened] text[x]"},
                            {"stray</think> close", "text[stray close]"},
                            {"<think>a < b </thin", "think[a < b </thin]"},
                            {"<think>Hm.</think>\n\n", "think[Hm.]"}});
}

TEST(OutputSegmenter, ReadsCallsAmongTextAndThinking) {
  const std::string call =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
  const std::string seen = "call[f|{\"a\": 1}]";
  expect_all(tools_plan(),
             {{call, seen},
              {"\n\n" + call + "\n", seen},
              {"Look.\n\n" + call, "text[Look.] " + seen},
              {call + "\n" + call, seen + " " + seen},
              {call + "\nDone.", seen + " text[Done.]"},
              {"<think>Hm.\n" + call + "\nDone.", "think[Hm.] " + seen + " text[Done.]"},
              {"<think>Hm.</think>\n" + call, "think[Hm.] " + seen},
              {"<think>" + call + "</think>x", seen + " text[x]"}});
}

TEST(OutputSegmenter, GivesBackWhatIsNoCall) {
  expect_all(tools_plan(), {{"Write <tool_call> and JSON.", "text[Write <tool_call> and JSON.]"},
                            {"<tool_call>{\"x\": 1}</tool_call>", "text[<tool_call>{\"x\": 1}]"},
                            {"<tool_call>{\"name\": 5}", "text[<tool_call>{\"name\": 5}]"},
                            {"<tool_call>{\"name\": \"half", "text[<tool_call>{\"name\": \"half]"},
                            {"<tool_call>", "text[<tool_call>]"},
                            {"<think>a <tool_call> b</think>c", "think[a <tool_call> b] text[c]"},
                            {"<tool_call> <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
                             "text[<tool_call>] call[f|{}]"}});
}

TEST(OutputSegmenter, CompletesArgumentsWhateverFollows) {
  expect_all(
      tools_plan(),
      {{"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"cut o", "call[f|{\"a\":\"cut o\"}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1 oops}}</tool_call>Then.",
        "call[f|{\"a\":1 }] text[Then.]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1,}}</tool_call>", "call[f|{\"a\":1}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"b\nc\"}}</tool_call>",
        "call[f|{\"a\":\"b\\nc\"}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"\\d\\'\"}}</tool_call>",
        "call[f|{\"a\":\"\\\\d'\"}]"},
       {"<tool_call>{\"name\":\"f\"", "call[f|{}]"},
       {"<tool_call>{\"name\":\"f\"}</tool_call>", "call[f|{}]"},
       {"<tool_call>{\"name\":\"f\" oops</tool_call>x", "call[f|{}] text[x]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":oops} "
        "<tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>",
        "call[f|{\"a\":null}] call[g|{}]"}});
}

TEST(OutputSegmenter, TakesArgumentsInEveryShape) {
  expect_all(
      tools_plan(),
      {{"<tool_call>{\"arguments\":{\"a\":1},\"name\":\"f\"}</tool_call>", "call[f|{\"a\":1}]"},
       {"<tool_call>{\"name\":\"f\",\"parameters\":{\"a\":1}}</tool_call>", "call[f|{\"a\":1}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": 1}\"}</tool_call>",
        "call[f|{\"a\": 1}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": [1", "call[f|{\"a\": [1]}]"},
       {"<tool_call>{\"arguments\":\"{\\\"a\\\":1}\",\"name\":\"f\"}</tool_call>",
        "call[f|{\"a\":1}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":\"Oslo\"}</tool_call>", "call[f|{}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":[1,2]}</tool_call>", "call[f|{}]"},
       {"<tool_call>{\"name\":\"f\",\"arguments\":null}</tool_call>", "call[f|{}]"},
       {"<tool_call>{\"id\":7,\"name\":\"f\",\"x\":[{}],\"arguments\":{}}</tool_call>",
        "call[f|{}]"},
       {"<tool_call>{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}},"
        "\"id\":\"x\"}</tool_call>",
        "call[f|{\"a\":1}]"},
       {"<tool_call>[{\"name\":\"f\",\"arguments\":{}},{\"name\":\"g\",\"arguments\":{}}]</"
        "tool_call>",
        "call[f|{}] call[g|{}]"},
       {"<tool_call>\n{\"name\":\"f\"}\n{\"name\":\"g\"}\n</tool_call>x",
        "call[f|{}] call[g|{}] text[x]"}});
}

TEST(OutputSegmenter, ReadsTheCallsOfEveryFormItWrites) {
  const std::string input =
      "{\"city\":\"a \\\"b\\\"\\n<c>\",\"n\":-1.5,\"list\":[1,{\"x\":null}],\"on\":true}";
  for (const ToolSyntax& row : tool_syntax_table()) {
    const std::vector<ToolCallText> calls = {{"get_weather", input}, {"g-2", "{}"}};
    const std::string output = write_tool_calls(row, calls);
    const OutputPlan plan = tools_plan(row.id);
    EXPECT_EQ(read(plan, output), "call[get_weather|" + input + "] call[g-2|{}]") << row.id;
    const bool bare = row.open.empty();
    EXPECT_EQ(
        read(plan, "<think>Hm.</think>\n\n" + output + (bare ? "" : "\nBye.")),
        "think[Hm.] call[get_weather|" + input + "] call[g-2|{}]" + (bare ? "" : " text[Bye.]"))
        << row.id;
    if (!bare) {
      EXPECT_EQ(read(plan, "Hi.\n" + output),
                "text[Hi.] call[get_weather|" + input + "] call[g-2|{}]")
          << row.id;
    }
  }
}

TEST(OutputSegmenter, CompletesACallOfEveryFormCutAnywhere) {
  const std::string input = "{\"city\":\"Oslo\",\"n\":[1,2]}";
  for (const ToolSyntax& row : tool_syntax_table()) {
    const std::string output = write_tool_call(row, "get_weather", input);
    const std::size_t name_end = output.find("get_weather") + 11;
    for (std::size_t size = 0; size < output.size(); ++size) {
      const SegmentRecorder seen =
          segment(tools_plan(row.id), {std::string_view(output).substr(0, size)});
      if (size < name_end) {
        EXPECT_TRUE(seen.arguments.empty()) << row.id << ": " << seen.str();
        EXPECT_EQ(seen.text_bytes.size(), size) << row.id << ": " << seen.str();
      }
      for (const std::string& json : seen.arguments) {
        EXPECT_TRUE(JsonOracle::accepts_object(json)) << row.id << ": " << seen.str();
      }
    }
  }
}

TEST(OutputSegmenter, ReadsTheFormsThatModelsMixUp) {
  expect_all(tools_plan("qwen3-coder"),
             {{"<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
               "call[f|{\"a\":\"x\"}]"},
              {"<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", "call[f|{}]"},
              {"<tool_call><function=f><parameter=a>1</parameter></function></tool_call>",
               "call[f|{\"a\":1}]"},
              {"<tool_call>\n<function=f>\n</function>\n</tool_call>", "call[f|{}]"},
              {"<tool_call>\n<function=f>\n<parameter=a>\none", "call[f|{\"a\":\"one\"}]"},
              {"<tool_call>\n<function=f>\n<parameter=a>\n[1, 2", "call[f|{\"a\":[1, 2]}]"},
              {"<tool_call>\n<function=f>\nwords", "text[<tool_call>\n<function=f>\nwords]"},
              {"<tool_call>\n<function=f>\n<parameter=a>\n\"x\"\n</parameter>\n</function>",
               "call[f|{\"a\":\"\\\"x\\\"\"}]"}});
  expect_all(tools_plan("mistral-v11"),
             {{"[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{\"a\":1}", "call[f|{\"a\":1}]"},
              {"[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]", "call[f|{}]"},
              {"[TOOL_CALLS]f{\"a\":1}", "call[f|{\"a\":1}]"}});
  expect_all(tools_plan("mistral"),
             {{"[TOOL_CALLS] {\"name\":\"f\",\"arguments\":{}}", "call[f|{}]"},
              {"[TOOL_CALLS][{\"arguments\":{\"a\":1},\"name\":\"f\",\"id\":\"x\"}]x",
               "call[f|{\"a\":1}] text[x]"}});
  expect_all(tools_plan("kimi-k2"),
             {{"<|tool_calls_section_begin|><|tool_call_begin|>f<|tool_call_argument_begin|>{}"
               "<|tool_call_end|><|tool_calls_section_end|>",
               "call[f|{}]"}});
}

TEST(OutputSegmenter, ReadsBareJsonOnlyWhereItLooksLikeACall) {
  expect_all(tools_plan("llama-3"),
             {{"{\"name\": \"f\", \"parameters\": {\"a\": 1}}", "call[f|{\"a\": 1}]"},
              {" \n{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}", "call[f|{}]"},
              {"{\"name\":\"f\",\"parameters\":{}}; {\"name\":\"g\",\"parameters\":{}}",
               "call[f|{}] call[g|{}]"},
              {"<|python_tag|>{\"name\": \"f\", \"parameters\": {}}", "call[f|{}]"},
              {"{\"name\": \"Bob\", \"age\": 3}", "text[{\"name\": \"Bob\", \"age\": 3}]"},
              {"{\"name\": \"Bob\"}", "text[{\"name\": \"Bob\"}]"},
              {"{\"name\": \"Bob", "text[{\"name\": \"Bob]"},
              {"Say {\"name\": \"f\", \"parameters\": {}}",
               "text[Say {\"name\": \"f\", \"parameters\": {}}]"},
              {"{}", "text[{}]"}});
}

TEST(OutputSegmenter, DropsTheFramingOfHarmony) {
  OutputPlan plan;
  plan.tool_syntax = find_tool_syntax("harmony");
  plan.thinking = ThinkingTags{"<|channel|>analysis<|message|>", "<|end|>"};
  for (const std::string_view frame : plan.tool_syntax->framing) plan.framing.emplace_back(frame);
  expect_all(
      plan,
      {{"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
        "think[Hm.] text[Yes.]"},
       {"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
        "to=functions.f <|constrain|>json<|message|>{\"a\":1}<|call|>",
        "think[Hm.] call[f|{\"a\":1}]"},
       {" to=functions.f<|channel|>commentary json<|message|>{}<|call|>", "call[f|{}]"}});
}

TEST(OutputSegmenter, ReadsNoCallsWhereNoToolsWereOffered) {
  OutputPlan plan = tools_plan();
  plan.tool_syntax = nullptr;
  const std::string call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  EXPECT_EQ(read(plan, call), "text[" + call + "]");
  plan.thinking.reset();
  EXPECT_FALSE(OutputSegmenter::needed_for(plan));
  EXPECT_EQ(read(plan, "<think>a</think>"), "text[<think>a</think>]");
}

TEST(OutputSegmenter, IsDoneWithTheFirstCallWhereOneIsAllowed) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    OutputPlan plan = tools_plan(row.id);
    plan.parallel_tool_calls = false;
    const std::vector<ToolCallText> calls = {{"f", "{\"a\":1}"}, {"g", "{}"}};
    OutputSegmenter segmenter(plan);
    SegmentRecorder seen;
    segmenter.feed(write_tool_calls(row, calls), seen);
    EXPECT_TRUE(segmenter.done()) << row.id;
    segmenter.end(seen);
    EXPECT_EQ(seen.str(), "call[f|{\"a\":1}]") << row.id;
  }
}

TEST(OutputSegmenter, ContinuesACallThatThePromptBegan) {
  for (const ToolSyntax& row : tool_syntax_table()) {
    OutputPlan plan = tools_plan(row.id);
    const std::string call =
        write_tool_calls(row, std::vector<ToolCallText>{{"f", "{\"a\":\"b\"}"}});
    plan.start = OutputStart::kToolName;
    EXPECT_EQ(read(plan, call.substr(write_call_up_to_name(row).size())), "call[f|{\"a\":\"b\"}]")
        << row.id;
    plan.start = OutputStart::kToolArguments;
    plan.forced_tool = "f";
    const std::string rest = call.substr(write_call_up_to_arguments(row, "f").size());
    EXPECT_EQ(read(plan, rest), "call[f|{\"a\":\"b\"}]") << row.id;
    EXPECT_EQ(read(plan, ""), "call[f|{}]") << row.id;
    EXPECT_EQ(read(plan, "oops"), "call[f|{}]") << row.id;
  }
}

TEST(OutputSegmenter, ContinuesThinkingThatThePromptBegan) {
  OutputPlan plan = tools_plan();
  plan.start = OutputStart::kThinking;
  expect_all(plan, {{"\nHm.\n</think>\n\nYes.", "think[Hm.] text[Yes.]"},
                    {"<think>\nHm.</think>Yes.", "think[Hm.] text[Yes.]"},
                    {"</think>\n\nYes.", "text[Yes.]"}});
}

TEST(OutputSegmenter, GivesOutAsEarlyAsItCan) {
  OutputSegmenter segmenter(tools_plan());
  SegmentRecorder seen;
  const auto after = [&](std::string_view bytes) {
    segmenter.feed(bytes, seen);
    return seen.str();
  };
  EXPECT_EQ(after("Hi"), "text[Hi]");
  EXPECT_EQ(after(" <"), "text[Hi]");
  EXPECT_EQ(after("b"), "text[Hi <b]");
  EXPECT_EQ(after("\n<tool_call>\n{\"name\": \"f\", \"arg"), "text[Hi <b]");
  EXPECT_EQ(after("uments\": {"), "text[Hi <b] call[f|{");
  EXPECT_EQ(after("\"a\": \"Os"), "text[Hi <b] call[f|{\"a\": \"Os");
  EXPECT_EQ(after("lo\""), "text[Hi <b] call[f|{\"a\": \"Oslo\"");
  EXPECT_EQ(after("}}"), "text[Hi <b] call[f|{\"a\": \"Oslo\"}]");
}

TEST(OutputSegmenter, StreamsATaggedStringAsSoonAsItIsOne) {
  OutputSegmenter segmenter(tools_plan("qwen3-coder"));
  SegmentRecorder seen;
  segmenter.feed("<tool_call>\n<function=f>\n<parameter=a>\ntr", seen);
  EXPECT_EQ(seen.str(), "call[f|");
  segmenter.feed("ee \"1\"\n", seen);
  EXPECT_EQ(seen.str(), "call[f|{\"a\":\"tree \\\"1\\\"");
  segmenter.feed("<b>\n</parameter", seen);
  EXPECT_EQ(seen.str(), "call[f|{\"a\":\"tree \\\"1\\\"\\n<b>");
  segmenter.end(seen);
  EXPECT_EQ(seen.str(), "call[f|{\"a\":\"tree \\\"1\\\"\\n<b>\"}]");
}

TEST(OutputSegmenter, DoesNotHoldEndlessWhiteSpace) {
  OutputSegmenter segmenter(tools_plan());
  SegmentRecorder seen;
  segmenter.feed("a", seen);
  for (int i = 0; i < 1000; ++i) segmenter.feed("\n", seen);
  EXPECT_GT(seen.text_bytes.size(), 900u);
}

TEST(OutputSegmenter, ShowsTrailingWhiteSpaceWhereItIsAskedTo) {
  OutputSegmenter segmenter(tools_plan(), TrailingSpace::kShow);
  SegmentRecorder seen;
  segmenter.feed("a\n", seen);
  EXPECT_EQ(seen.str(), "text[a\n]");
}

TEST(OutputSegmenter, GivesUpACallThatNeverGetsAName) {
  OutputSegmenter segmenter(tools_plan());
  SegmentRecorder seen;
  const std::string output = "<tool_call>{\"arguments\":{\"a\":\"" + std::string(2 << 20, 'x');
  segmenter.feed(output, seen);
  segmenter.end(seen);
  EXPECT_EQ(seen.text_bytes, output);
}

TEST(OutputSegmenter, KnowsWhenItReadsThinking) {
  OutputSegmenter segmenter(tools_plan());
  SegmentRecorder seen;
  EXPECT_FALSE(segmenter.thinking());
  segmenter.feed("<think>a<tool_call>", seen);
  EXPECT_TRUE(segmenter.thinking());
  segmenter.feed("{\"name\":\"f\",\"arguments\":{", seen);
  EXPECT_FALSE(segmenter.thinking());
}

TEST(OutputSegmenter, CutsTheJsonOutOfAnAnswer) {
  OutputPlan plan = tools_plan();
  plan.tool_syntax = nullptr;
  plan.rules.format = OutputFormat::kJson;
  expect_all(plan, {{"{\"a\":1}", "text[{\"a\":1}]"},
                    {"```json\n{\"a\": [1]}\n```\nDone.", "text[{\"a\": [1]}]"},
                    {"Here {it} is: {\"a\": 1} <think>", "text[{\"a\": 1}]"},
                    {"<think>{\"x\":1}</think>\n{\"a\":\"<think>\"}",
                     "think[{\"x\":1}] text[{\"a\":\"<think>\"}]"},
                    {"{\"a\": \"cut", "text[{\"a\": \"cut\"}]"},
                    {"{\"a\": 1 oops", "text[{\"a\": 1 }]"},
                    {"{", "text[{}]"},
                    {"[1]", "text[{}]"},
                    {"", "text[{}]"},
                    {"<think>never ends", "think[never ends] text[{}]"}});
  OutputSegmenter segmenter(plan);
  SegmentRecorder seen;
  segmenter.feed("{\"a\":{}}", seen);
  EXPECT_TRUE(segmenter.done());
}

TEST(OutputSegmenter, TakesAnyValueForASchema) {
  OutputPlan plan;
  plan.rules = {OutputFormat::kJsonSchema, "true"};
  expect_all(plan, {{"[1, 2]", "text[[1, 2]]"},
                    {"\"text\" ", "text[\"text\"]"},
                    {"12\n", "text[12]"},
                    {"```json\ntrue\n```", "text[true]"},
                    {"``` \n-1.5e3", "text[-1.5e3]"},
                    {"the [link](x) {\"a\":1}", "text[{\"a\":1}]"},
                    {"no 5 things", "text[{}]"},
                    {"12.", "text[12.0]"}});
}

TEST(OutputSegmenter, ContinuesTheJsonOfAPrefill) {
  OutputPlan plan;
  plan.rules.format = OutputFormat::kJson;
  plan.prefill = "Here: {\"a\":1,";
  expect_all(plan, {{"\"b\":2} x", "text[\"b\":2}]"}, {"", "text[\"\":null}]"}});
  plan.prefill = "```json\n";
  expect_all(plan, {{"{\"b\":2}```", "text[{\"b\":2}]"}});
  plan.prefill = "{\"a\":\"b\\";
  expect_all(plan, {{"nc\"}", "text[nc\"}]"}});
  plan.prefill = "{}";
  expect_all(plan, {{"more", ""}});
}

TEST(OutputSegmenter, AnswersWithACallInPlaceOfJson) {
  OutputPlan plan = tools_plan();
  plan.rules.format = OutputFormat::kJson;
  EXPECT_EQ(read(plan, "Look: <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"),
            "call[f|{}]");
}

TEST(OutputSegmenter, ContinuesTheTextOfAPrefillWithItsWhiteSpace) {
  OutputPlan plan = tools_plan("llama-3");
  plan.prefill = "The JSON is";
  EXPECT_EQ(read(plan, " {\"name\":\"f\",\"parameters\":{}}"),
            "text[ {\"name\":\"f\",\"parameters\":{}}]");
}

TEST(OutputSegmenter, ShowsATextThatMatchesAPatternAsItIs) {
  OutputPlan plan = tools_plan();
  for (const OutputFormat format :
       {OutputFormat::kRegex, OutputFormat::kGrammar, OutputFormat::kChoice}) {
    plan.rules.format = format;
    for (const std::string_view output :
         {"\n a </think> <tool_call>\n ", "<tool", "", " ", "x<think>y"}) {
      EXPECT_EQ(segment(plan, {output}).text_bytes, output);
      std::vector<std::string_view> bytes;
      for (std::size_t i = 0; i < output.size(); ++i) bytes.push_back(output.substr(i, 1));
      EXPECT_EQ(segment(plan, bytes).text_bytes, output);
    }
    const SegmentRecorder thought = segment(plan, {"<think>hm</think>\n<think> a"});
    EXPECT_EQ(thought.thinking_bytes, "hm");
    EXPECT_EQ(thought.text_bytes, "\n<think> a");
    EXPECT_TRUE(segment(plan, {write_tool_call(*plan.tool_syntax, "f", "{}")}).str() ==
                "call[f|{}]");
  }
}

TEST(OutputSegmenter, ShowsTheRestOfATextThatTheClientHasBegunAsItIs) {
  OutputPlan plan = tools_plan();
  plan.rules.format = OutputFormat::kRegex;
  plan.prefill = "a";
  EXPECT_EQ(segment(plan, {"<think>\n"}).str(), "text[<think>\n]");
}

}  // namespace
}  // namespace zerohop
