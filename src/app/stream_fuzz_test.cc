// The stream fuzzer from end to end: what a model writes, split at every byte border, through the
// output chain and the dialect to bytes, which an independent reader checks against the protocol
// and adds up again. However tokens fall, a client must see the same message.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "api/anthropic_stream_checker.h"
#include "app/output_chain.h"
#include "prompt/tool_syntax.h"

namespace zerohop {
namespace {

const std::vector<std::string> kPieces{
    "<think>\nfirst\n</think>\n\n",
    "Some text \xc3\xa9. ",
    "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": [1, \"\\u00e9\"]}}\n</tool_call>\n",
    "<tool_call>{\"name\": \"go\", \"arguments\": {\"b\": tru",  // broken off
    "<tool_cal ",
    "<think>a call inside <tool_call>{\"name\": \"x\", \"arguments\": {}}</tool_call>",
};

OutputPlan make_plan() {
  OutputPlan plan;
  plan.tool_syntax = &default_tool_syntax();
  plan.thinking = ThinkingTags{"<think>", "</think>"};
  return plan;
}

// The events of an answer whose tokens are the given parts.
std::vector<Event> answer(const std::vector<std::string_view>& tokens) {
  OutputChainParts parts;
  parts.plan = make_plan();
  parts.make_tool_call_id = [count = 0]() mutable { return "toolu_" + std::to_string(++count); };
  const auto stage = make_output_chain(std::move(parts));
  std::vector<Event> events{Started{}};
  for (const std::string_view token : tokens) {
    EXPECT_FALSE(stage->accept(0, token, events).end.has_value());
  }
  const FinishReason reason = stage->flush(FinishReason::kEndOfTurn, events);
  events.emplace_back(Finished{reason, "", {}});
  return events;
}

// What a client has at the end: kinds, texts, names and inputs of its blocks, and the stop reason.
std::string streamed(const std::vector<Event>& events) {
  AnthropicStream stream({"msg_1", "m", "req_1"});
  std::string bytes;
  for (const Event& event : events) stream.append(0, event, bytes);
  AnthropicStreamChecker checker;
  checker.feed(bytes);
  EXPECT_EQ(checker.fault(), "") << bytes;
  EXPECT_TRUE(checker.ended());
  std::string seen;
  for (const auto& block : checker.blocks()) {
    seen += block.type + "(" + block.name + "|" + block.text + ") ";
  }
  return seen + checker.stop_reason();
}

std::string whole(const std::vector<Event>& events) {
  AnthropicReply reply({"msg_1", "m", "req_1"});
  for (const Event& event : events) reply.add(0, event);
  return reply.body();
}

void check_all_splits(const std::string& text) {
  const std::vector<Event> uncut = answer({text});
  const std::string expected = streamed(uncut);
  const std::string expected_body = whole(uncut);
  const std::string_view view = text;
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::vector<Event> events = answer({view.substr(0, cut), view.substr(cut)});
    ASSERT_EQ(streamed(events), expected) << text << " at " << cut;
    ASSERT_EQ(whole(events), expected_body) << text << " at " << cut;
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) bytes.push_back(view.substr(i, 1));
  const std::vector<Event> events = answer(bytes);
  ASSERT_EQ(streamed(events), expected) << text << " byte by byte";
  ASSERT_EQ(whole(events), expected_body) << text << " byte by byte";
}

TEST(StreamFuzz, EveryPairOfPiecesReadsTheSameWhereverTokensEnd) {
  for (const std::string& first : kPieces) {
    for (const std::string& second : kPieces) check_all_splits(first + second);
  }
}

TEST(StreamFuzz, SoDoesEveryTriple) {
  for (const std::string& first : kPieces) {
    for (const std::string& second : kPieces) {
      for (const std::string& third : kPieces) {
        const std::string text = first + second + third;
        std::vector<std::string_view> bytes;
        for (std::size_t i = 0; i < text.size(); ++i) {
          bytes.push_back(std::string_view(text).substr(i, 1));
        }
        ASSERT_EQ(streamed(answer(bytes)), streamed(answer({text}))) << text;
      }
    }
  }
}

}  // namespace
}  // namespace zerohop
