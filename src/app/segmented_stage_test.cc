#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/output_chain.h"
#include "base/random.h"
#include "base/utf8.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

struct Output {
  std::string seen;  // "text[Hi] think[hm] call[id name|json]", deltas of one block joined
  std::size_t events = 0;
  std::optional<FinishReason> end;
  std::string stop_sequence;
  std::uint32_t thinking_tokens = 0;
};

class Recorder {
 public:
  void take(const std::vector<Event>& events) {
    output.events += events.size();
    for (const Event& event : events) {
      std::visit(Overloaded{[&](const TextDelta& delta) { add("text", delta.text); },
                            [&](const ThinkingDelta& delta) { add("think", delta.text); },
                            [&](const ToolCallDelta& delta) { add("call", delta.json); },
                            [&](const ToolCallStarted& call) {
                              begin("call");
                              output.seen.append(call.id).append(" ").append(call.name).append("|");
                            },
                            [](const auto&) { FAIL() << "not an event of a stage"; }},
                 event);
    }
  }
  void finish() {
    if (!kind_.empty()) output.seen += "]";
  }

  Output output;

 private:
  void begin(std::string_view kind) {
    if (!kind_.empty()) output.seen += "] ";
    output.seen.append(kind).append("[");
    kind_ = kind;
  }
  void add(std::string_view kind, const std::string& bytes) {
    EXPECT_FALSE(bytes.empty());
    EXPECT_TRUE(utf8_is_valid(bytes)) << bytes;
    if (kind_ != kind) begin(kind);
    output.seen += bytes;
  }

  std::string_view kind_;
};

std::unique_ptr<OutputStage> make_stage(const OutputPlan& plan,
                                        const std::vector<std::string>& stops = {}) {
  OutputChainParts parts;
  parts.plan = plan;
  parts.stops.stops = StopAutomaton::compile(stops);
  parts.make_tool_call_id = [count = 0]() mutable { return "id" + std::to_string(++count); };
  return make_output_chain(std::move(parts));
}

struct Drive {
  const OutputPlan& plan;
  std::vector<std::string> stops = {};
  FinishReason reason = FinishReason::kEndOfTurn;
};

// Drives a stage like the engine does. Tokens count from 0.
Output drive(const Drive& how, const std::vector<std::string>& tokens) {
  const auto stage = make_stage(how.plan, how.stops);
  Recorder recorder;
  std::vector<Event> events;
  for (std::size_t i = 0; i < tokens.size() && !recorder.output.end; ++i) {
    events.clear();
    const StageVerdict verdict = stage->accept(static_cast<Token>(i), tokens[i], events);
    recorder.take(events);
    recorder.output.end = verdict.end;
    recorder.output.stop_sequence = verdict.stop_sequence;
  }
  if (!recorder.output.end) {
    events.clear();
    recorder.output.end = stage->flush(how.reason, events);
    recorder.output.stop_sequence = stage->flushed_stop_sequence();
    recorder.take(events);
  }
  recorder.finish();
  recorder.output.thinking_tokens = stage->thinking_tokens();
  return recorder.output;
}

std::vector<std::string> bytes_of(std::string_view text) {
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  return bytes;
}

OutputPlan full_plan() {
  OutputPlan plan;
  plan.tool_syntax = &default_tool_syntax();
  plan.thinking = ThinkingTags{"<think>", "</think>"};
  return plan;
}

constexpr std::string_view kCall =
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"\xc3\xa9\"}}\n</tool_call>";

TEST(SegmentedStage, MakesEventsOfEveryKind) {
  const std::string text = "<think>\nHm \xe2\x82\xac.\n</think>\n\nLook \xf0\x9f\x98\x80.\n" +
                           std::string(kCall) + "\n" + std::string(kCall) + "\nDone.";
  const std::string expected =
      "think[Hm \xe2\x82\xac.] text[Look \xf0\x9f\x98\x80.] call[id1 f|{\"a\": \"\xc3\xa9\"}] "
      "call[id2 f|{\"a\": \"\xc3\xa9\"}] text[Done.]";
  const OutputPlan plan = full_plan();
  EXPECT_EQ(drive({plan}, {text}).seen, expected);
  EXPECT_EQ(drive({plan}, bytes_of(text)).seen, expected);
}

TEST(SegmentedStage, GivesTheSameHoweverTheOutputIsCut) {
  const std::string call(kCall);
  const std::vector<std::string> outputs = {
      "a \xc3\xa9 <think>b ST</think>OP " + call + call + " c\xff",
      call + "S<think>\xe2\x82</think>T " + call.substr(0, 55),
      "<think>x" + call + "y</think>z STOP hidden " + call,
      "<tool_call>\xf0\x9f\x98\x80 <think" + call + "ST",
  };
  const OutputPlan plan = full_plan();
  Random random(17);
  for (const std::string& output : outputs) {
    const Output whole = drive({plan, {"STOP"}}, {output});
    for (int round = 0; round < 500; ++round) {
      std::vector<std::string> tokens;
      for (std::size_t at = 0; at < output.size(); at += tokens.back().size()) {
        tokens.push_back(output.substr(at, 1 + random.below(round % 12 + 1)));
      }
      const Output cut = drive({plan, {"STOP"}}, tokens);
      ASSERT_EQ(cut.seen, whole.seen) << output;
      ASSERT_EQ(cut.end, whole.end);
      ASSERT_EQ(cut.stop_sequence, whole.stop_sequence);
    }
  }
}

TEST(SegmentedStage, GivesOneEventForATokenOfOneBlock) {
  const OutputPlan plan = full_plan();
  EXPECT_EQ(drive({plan}, {"a ", "b <", " c"}).events, 3u);
}

TEST(SegmentedStage, ReportsToolUseWhenTheTurnEndedWithCalls) {
  const OutputPlan plan = full_plan();
  const std::vector<std::string> call{std::string(kCall)};
  EXPECT_EQ(drive({plan}, call).end, FinishReason::kToolUse);
  EXPECT_EQ(drive({plan}, {"text"}).end, FinishReason::kEndOfTurn);
  EXPECT_EQ(drive({plan, {}, FinishReason::kMaxTokens}, call).end, FinishReason::kMaxTokens);
  EXPECT_EQ(drive({plan, {}, FinishReason::kContextWindow}, call).end,
            FinishReason::kContextWindow);
}

TEST(SegmentedStage, CompletesACallThatTheLimitCutOff) {
  const OutputPlan plan = full_plan();
  const Output output = drive({plan, {}, FinishReason::kMaxTokens},
                              {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"b\xc3"});
  EXPECT_EQ(output.seen, "call[id1 f|{\"a\":\"b\xef\xbf\xbd\"}]");
  EXPECT_EQ(output.end, FinishReason::kMaxTokens);
}

TEST(SegmentedStage, EndsWithTheOnlyCallThatIsAllowed) {
  OutputPlan plan = full_plan();
  plan.parallel_tool_calls = false;
  const Output output =
      drive({plan}, {"<tool_call>", "{\"name\":\"f\",\"arguments\":{}", "}", "x"});
  EXPECT_EQ(output.seen, "call[id1 f|{}]");
  EXPECT_EQ(output.end, FinishReason::kToolUse);
}

TEST(SegmentedStage, EndsTheTurnBehindTheJsonAskedFor) {
  OutputPlan plan;
  plan.rules.format = OutputFormat::kJson;
  const Output output = drive({plan}, {"```json\n", "{\"a\"", ":1}\n", "```"});
  EXPECT_EQ(output.seen, "text[{\"a\":1}]");
  EXPECT_EQ(output.end, FinishReason::kEndOfTurn);
}

TEST(SegmentedStage, StopsInTextOnly) {
  const OutputPlan plan = full_plan();
  const std::string output =
      "<think>END</think>a " +
      std::string("<tool_call>{\"name\":\"f\",\"arguments\":{\"k\":\"END\"}}") +
      "</tool_call>b END c";
  for (const auto& tokens : {std::vector<std::string>{output}, bytes_of(output)}) {
    const Output seen = drive({plan, {"END"}}, tokens);
    EXPECT_EQ(seen.seen, "think[END] text[a] call[id1 f|{\"k\":\"END\"}] text[b ]");
    EXPECT_EQ(seen.end, FinishReason::kStopSequence);
    EXPECT_EQ(seen.stop_sequence, "END");
  }
}

TEST(SegmentedStage, ShowsNothingBehindAStopInTheSameToken) {
  const OutputPlan plan = full_plan();
  const Output seen = drive({plan, {"END"}}, {"a END <think>b</think>" + std::string(kCall) + "c"});
  EXPECT_EQ(seen.seen, "text[a ]");
  EXPECT_EQ(seen.end, FinishReason::kStopSequence);
}

TEST(SegmentedStage, DoesNotStopAcrossBlocks) {
  const OutputPlan plan = full_plan();
  const Output seen = drive({plan, {"END"}}, {"aE<think>x</think>ND"});
  EXPECT_EQ(seen.seen, "text[aE] think[x] text[ND]");
}

TEST(SegmentedStage, StopsAtWhiteSpaceWithoutWaitingForMore) {
  const OutputPlan plan = full_plan();
  const Output seen = drive({plan, {"\n\n"}}, {"a\n", "\n", "b"});
  EXPECT_EQ(seen.seen, "text[a]");
  EXPECT_EQ(seen.stop_sequence, "\n\n");
}

TEST(SegmentedStage, StopsInWhatTheEndReleases) {
  const OutputPlan plan = full_plan();
  const Output seen = drive({plan, {"<to"}}, {"a <tool"});
  EXPECT_EQ(seen.seen, "text[a ]");
  EXPECT_EQ(seen.end, FinishReason::kStopSequence);
  EXPECT_EQ(seen.stop_sequence, "<to");
}

TEST(SegmentedStage, ReadsTheTextOfMarkerTokens) {
  OutputPlan plan = full_plan();
  plan.marker_tokens = {{4, "</tool_call>"}, {1, "<tool_call>"}};
  const Output seen =
      drive({plan}, {"a", "", "{\"name\":\"f\",\"arguments\":", "{}}", "", "b", "", "c"});
  EXPECT_EQ(seen.seen, "text[a] call[id1 f|{}] text[bc]");
}

TEST(SegmentedStage, CountsThinkingTokens) {
  const OutputPlan plan = full_plan();
  EXPECT_EQ(drive({plan}, {"<think>", "a", "b", "</think>", "c", "d"}).thinking_tokens, 4u);
  OutputPlan open = full_plan();
  open.start = OutputStart::kThinking;
  EXPECT_EQ(drive({open}, {"a", "</think>", "c"}).thinking_tokens, 2u);
}

TEST(SegmentedStage, ReplacesBrokenBytesInNamesAndBlocks) {
  const OutputPlan plan = full_plan();
  const Output seen = drive({plan}, {"a\xff<think>b\xe2\x82</think>c<tool_call>{\"name\":\"f\x80\","
                                     "\"arguments\":{\"\xc3\":1}}"});
  EXPECT_EQ(seen.seen,
            "text[a\xef\xbf\xbd] think[b\xef\xbf\xbd] text[c] "
            "call[id1 f\xef\xbf\xbd|{\"\xef\xbf\xbd\":1}]");
}

TEST(SegmentedStage, IsLeftOutWhereThePlanTellsNoPartsApart) {
  const OutputPlan plan;
  const Output seen = drive({plan, {"END"}}, {" \n", "<think>", " ", "END"});
  EXPECT_EQ(seen.seen, "text[ \n<think> ]");
  EXPECT_EQ(seen.events, 3u);
}

TEST(SegmentedStageDeathTest, IsNotUsedAfterItsEnd) {
  const OutputPlan plan = full_plan();
  const auto stage = make_stage(plan, {"x"});
  std::vector<Event> events;
  EXPECT_TRUE(stage->accept(0, "x", events).end);
  EXPECT_DEATH(stage->accept(0, "y", events), "check failed");
}

}  // namespace
}  // namespace zerohop
