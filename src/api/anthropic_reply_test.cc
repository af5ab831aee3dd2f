#include "api/anthropic_reply.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/json_reader.h"
#include "api/json_value_writer.h"

namespace zerohop {
namespace {

constexpr Usage kTotal{.prompt_tokens = 12, .prompt_tokens_cached = 4, .output_tokens = 3};

AnthropicReply make_reply() { return AnthropicReply({"msg_1", "m", "req_1"}); }

TEST(AnthropicReply, GathersTheTextIntoOneBlock) {
  AnthropicReply reply = make_reply();
  reply.add(0, Started{});
  reply.add(0, TextDelta{"Hel"});
  EXPECT_FALSE(reply.complete());
  reply.add(0, TextDelta{"lo \"you\""});
  reply.add(0, Finished{FinishReason::kEndOfTurn, "", kTotal});
  ASSERT_TRUE(reply.complete());
  EXPECT_EQ(reply.failure(), nullptr);
  EXPECT_EQ(reply.body(),
            R"({"id":"msg_1","type":"message","role":"assistant","model":"m",)"
            R"("content":[{"type":"text","text":"Hello \"you\""}],"stop_reason":"end_turn",)"
            R"("stop_sequence":null,"stop_details":null,"usage":{"input_tokens":8,)"
            R"("cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":3}})");
}

TEST(AnthropicReply, ACallsInputKeepsItsDigits) {
  AnthropicReply reply = make_reply();
  reply.add(0, Started{});
  reply.add(0, ToolCallStarted{"toolu_1", "f"});
  reply.add(0, ToolCallDelta{R"({"id": 12345678901234567890123, "share": 0.10,)"});
  reply.add(0, ToolCallDelta{R"( "tiny": 1E-400, "text": "a b"})"});
  reply.add(0, Finished{FinishReason::kToolUse, "", kTotal});
  EXPECT_NE(reply.body().find(R"("input":{"id":12345678901234567890123,"share":0.10,)"
                              R"("tiny":1E-400,"text":"a b"})"),
            std::string::npos)
      << reply.body();
}

TEST(AnthropicReply, TellsAboutItsPromptWhereThatWasAskedFor) {
  AnthropicReplyOptions options;
  options.diagnostics.cache_miss = true;
  options.prompt_tokens = PromptTokens{1, 2, 3, 6};
  AnthropicReply reply({"msg_1", "m", "req_1"}, options);
  Started started;
  started.miss.cause = MissCause::kEvicted;
  reply.add(0, started);
  reply.add(0, Finished{FinishReason::kEndOfTurn, "", kTotal});
  EXPECT_TRUE(
      reply.body().ends_with(R"(,"diagnostics":{"cache_miss_reason":{"type":"unavailable"},)"
                             R"("prompt_tokens":{"system":1,"tools":2,"messages":3,"markup":6}}})"))
      << reply.body();
}

TEST(AnthropicReply, NamesValuesThatAToolDoesNotAllow) {
  AnthropicReplyOptions options;
  options.diagnostics.any = true;
  options.tool_conflicts = {{"pay", "unit", R"("pound \"x\"")"}, {"pay", "sum", "12.50"}};
  AnthropicReply reply({"msg_1", "m", "req_1"}, options);
  reply.add(0, Started{});
  reply.add(0, Finished{FinishReason::kEndOfTurn, "", kTotal});
  EXPECT_TRUE(reply.body().ends_with(
      R"(,"diagnostics":{"cache_miss_reason":null,"tool_conflicts":[{"tool":"pay",)"
      R"("argument":"unit","value":"pound \"x\""},{"tool":"pay","argument":"sum",)"
      R"("value":12.50}]}})"))
      << reply.body();
}

// The end of the reply's body, from `diagnostics` on.
std::string diagnostics_of(const CacheMiss& miss, const AnthropicReplyOptions& options) {
  AnthropicReply reply({"msg_1", "m", "req_1"}, options);
  Started started;
  started.miss = miss;
  reply.add(0, started);
  reply.add(0, Finished{FinishReason::kEndOfTurn, "", kTotal});
  const std::string body = reply.body();
  return body.substr(std::min(body.find(R"(,"diagnostics")"), body.size()));
}

TEST(AnthropicReply, NamesTheCauseOfAMissAsTheProtocolDoes) {
  AnthropicReplyOptions asked;
  asked.diagnostics = {true, true, false};
  const auto reason = [&asked](MissCause cause) {
    const std::string text = diagnostics_of({cause, CacheCap::kNone, 14, 40}, asked);
    constexpr std::string_view kFront = R"(,"diagnostics":{"cache_miss_reason":)";
    EXPECT_TRUE(text.starts_with(kFront)) << text;
    return text.substr(kFront.size(), text.size() - kFront.size() - 2);
  };
  EXPECT_EQ(reason(MissCause::kNone), "null");
  EXPECT_EQ(reason(MissCause::kSystemChanged),
            R"({"type":"system_changed","cache_missed_input_tokens":40})");
  EXPECT_EQ(reason(MissCause::kToolsChanged),
            R"({"type":"tools_changed","cache_missed_input_tokens":40})");
  EXPECT_EQ(reason(MissCause::kMessagesChanged),
            R"({"type":"messages_changed","cache_missed_input_tokens":40})");
  EXPECT_EQ(reason(MissCause::kEvicted), R"({"type":"unavailable"})");
  // Whether others have the same prompt must not show.
  EXPECT_EQ(reason(MissCause::kOtherTenant), reason(MissCause::kCold));
  EXPECT_EQ(reason(MissCause::kCold), R"({"type":"previous_message_not_found"})");
}

TEST(AnthropicReply, SaysNothingOfMissesUnlessAsked) {
  const CacheMiss miss{MissCause::kSystemChanged, CacheCap::kNone, 14, 40};
  EXPECT_EQ(diagnostics_of(miss, {}), "");
  AnthropicReplyOptions without_message;
  without_message.diagnostics.any = true;
  EXPECT_EQ(diagnostics_of(miss, without_message), R"(,"diagnostics":{"cache_miss_reason":null}})");
}

TEST(AnthropicReply, WarnsOfAPromptThatEndsWithAStopSequence) {
  AnthropicReplyOptions options;
  options.diagnostics.any = true;
  options.prompt_ends_with_stop = "\n\n";
  EXPECT_EQ(diagnostics_of({}, options),
            R"(,"diagnostics":{"cache_miss_reason":null,"warnings":[{"type":)"
            R"("prompt_ends_with_stop_sequence","stop_sequence":"\n\n"}]}})");
}

TEST(AnthropicReply, EchoesHowItWasServed) {
  AnthropicReplyOptions options;
  options.service_tier = "standard";
  AnthropicReply reply({"msg_1", "m", "req_1"}, options);
  reply.add(0, Started{});
  reply.add(0, Finished{FinishReason::kEndOfTurn, "", kTotal});
  EXPECT_TRUE(reply.body().ends_with(R"("output_tokens":3,"service_tier":"standard"}})"));
}

TEST(AnthropicReply, HasNoBlockWithoutText) {
  AnthropicReply reply = make_reply();
  reply.add(0, Started{});
  reply.add(0, Finished{FinishReason::kMaxTokens, "", kTotal});
  EXPECT_NE(reply.body().find(R"("content":[],"stop_reason":"max_tokens")"), std::string::npos);
}

TEST(AnthropicReply, NamesTheStopSequence) {
  AnthropicReply reply = make_reply();
  reply.add(0, Started{});
  reply.add(0, TextDelta{"x"});
  reply.add(0, Finished{FinishReason::kStopSequence, "\n", kTotal});
  EXPECT_NE(reply.body().find(R"("stop_reason":"stop_sequence","stop_sequence":"\n")"),
            std::string::npos);
}

TEST(AnthropicReply, KeepsAFailureInPlaceOfABody) {
  AnthropicReply reply = make_reply();
  reply.add(0, Started{});
  reply.add(0, TextDelta{"half an answer"});
  reply.add(0, Failed{Error{ErrorCode::kTimeout, "took too long", {}, {}}});
  ASSERT_TRUE(reply.complete());
  ASSERT_NE(reply.failure(), nullptr);
  EXPECT_EQ(reply.failure()->code, ErrorCode::kTimeout);
}

std::string body_of(const std::vector<Event>& events, AnthropicReplyOptions options = {}) {
  AnthropicReply reply({"msg_1", "m", "req_1"}, std::move(options));
  for (const Event& event : events) reply.add(0, event);
  return reply.body();
}

// The value of `content` in a body.
std::string content_of(const std::vector<Event>& events, AnthropicReplyOptions options = {}) {
  const std::string body = body_of(events, std::move(options));
  const auto document = parse_json(body);
  EXPECT_TRUE(document.ok()) << body;
  return document.ok() ? json_text(document->root().at("content")) : "";
}

TEST(AnthropicReply, HasTheBlocksThatAStreamWouldHave) {
  const std::string first = thinking_signature("msg_1", 0);
  const std::string second = thinking_signature("msg_1", 2);
  EXPECT_EQ(content_of({Started{}, ThinkingDelta{"h"}, ThinkingDelta{"m"}, TextDelta{"a"},
                        ThinkingDelta{"x"}, ToolCallStarted{"t1", "f"}, ToolCallDelta{"{\"a\""},
                        ToolCallDelta{": 1}"}, ToolCallStarted{"t2", "g"}, Finished{}}),
            R"([{"type":"thinking","thinking":"hm","signature":")" + first +
                R"("},{"type":"text","text":"a"},)" +
                R"({"type":"thinking","thinking":"x","signature":")" + second +
                R"("},{"type":"tool_use","id":"t1","name":"f","input":{"a":1},)" +
                R"("caller":{"type":"direct"}},{"type":"tool_use","id":"t2","name":"g",)" +
                R"("input":{},"caller":{"type":"direct"}}])");
}

TEST(AnthropicReply, OmitsThinkingWhenAsked) {
  EXPECT_EQ(content_of({Started{}, ThinkingDelta{"secret"}, Finished{}},
                       {.thinking = ThinkingDisplay::kOmitted}),
            R"([{"type":"thinking","thinking":"","signature":")" + thinking_signature("msg_1", 0) +
                "\"}]");
}

TEST(AnthropicReply, NeverWritesInputThatIsNoObject) {
  for (const char* broken : {R"({"a":)", "[1]", "nonsense", "{} {}"}) {
    EXPECT_EQ(content_of({Started{}, ToolCallStarted{"t", "f"}, ToolCallDelta{broken}, Finished{}}),
              R"([{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}])")
        << broken;
  }
}

TEST(AnthropicReply, SaysThatNoEditOfTheContextWasMadeWhenAsked) {
  EXPECT_NE(body_of({Started{}, Finished{}}, {.context_management = true})
                .find(R"(,"context_management":{"applied_edits":[]}})"),
            std::string::npos);
}

TEST(AnthropicReply, ATurnWithCallsEndsForThem) {
  EXPECT_NE(body_of({Started{}, ToolCallStarted{"t", "f"}, Finished{}})
                .find(R"("stop_reason":"tool_use")"),
            std::string::npos);
  EXPECT_NE(body_of({Started{}, ToolCallStarted{"t", "f"}, Finished{FinishReason::kMaxTokens}})
                .find(R"("stop_reason":"max_tokens")"),
            std::string::npos);
}

using AnthropicReplyDeathTest = testing::Test;

TEST(AnthropicReplyDeathTest, MisuseIsABug) {
  AnthropicReply unfinished = make_reply();
  unfinished.add(0, Started{});
  EXPECT_DEATH(unfinished.body(), "finished_");
  AnthropicReply finished = make_reply();
  finished.add(0, Finished{});
  EXPECT_DEATH(finished.add(0, TextDelta{"x"}), "complete");
}

TEST(CountTokens, SaysTheNumber) {
  EXPECT_EQ(count_tokens_body(0), R"({"input_tokens":0})");
  EXPECT_EQ(count_tokens_body(4'294'967'295u), R"({"input_tokens":4294967295})");
}

}  // namespace
}  // namespace zerohop
