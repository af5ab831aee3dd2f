#include "api/anthropic_events.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "api/anthropic_stream_checker.h"
#include "base/random.h"

namespace zerohop {
namespace {

constexpr Usage kPrompt{.prompt_tokens = 12, .prompt_tokens_cached = 4, .output_tokens = 0};
constexpr Usage kTotal{.prompt_tokens = 12, .prompt_tokens_cached = 4, .output_tokens = 3};

AnthropicStream make_stream() { return AnthropicStream({"msg_1", "m", "req_1"}); }

Failed overloaded() { return Failed{Error{ErrorCode::kOverloaded, "the queue is full", {}, {}}}; }

std::string frames(const std::vector<Event>& events) {
  AnthropicStream stream = make_stream();
  std::string out;
  for (const Event& event : events) stream.append(event, out);
  return out;
}

TEST(AnthropicStream, WritesTheWholeSequence) {
  EXPECT_EQ(
      frames({Started{kPrompt}, TextDelta{"Hel"}, TextDelta{"lo\n"},
              Finished{FinishReason::kEndOfTurn, "", kTotal}}),
      "event: message_start\n"
      R"(data: {"type":"message_start","message":{"id":"msg_1","type":"message",)"
      R"("role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,)"
      R"("stop_details":null,"usage":{"input_tokens":8,"cache_creation_input_tokens":0,)"
      R"("cache_read_input_tokens":4,"output_tokens":0}}})"
      "\n\nevent: content_block_start\n"
      R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":0,)"
      R"("delta":{"type":"text_delta","text":"lo\n"}})"
      "\n\nevent: content_block_stop\n"
      R"(data: {"type":"content_block_stop","index":0})"
      "\n\nevent: message_delta\n"
      R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,)"
      R"("stop_details":null},"usage":{"input_tokens":8,"cache_creation_input_tokens":0,)"
      R"("cache_read_input_tokens":4,"output_tokens":3}})"
      "\n\nevent: message_stop\n"
      R"(data: {"type":"message_stop"})"
      "\n\n");
}

TEST(AnthropicStream, AReplyWithoutTextHasNoBlock) {
  const std::string out =
      frames({Started{kPrompt}, TextDelta{""}, Finished{FinishReason::kMaxTokens, "", kTotal}});
  EXPECT_EQ(out.find("content_block"), std::string::npos);
  AnthropicStreamChecker checker;
  checker.feed(out);
  EXPECT_EQ(checker.fault(), "");
  EXPECT_EQ(checker.stop_reason(), "max_tokens");
}

TEST(AnthropicStream, NamesEveryStopReason) {
  const auto reason = [](FinishReason finish) {
    AnthropicStreamChecker checker;
    checker.feed(frames({Started{kPrompt}, TextDelta{"x"}, Finished{finish, "END", kTotal}}));
    EXPECT_EQ(checker.fault(), "");
    return checker.stop_reason();
  };
  EXPECT_EQ(reason(FinishReason::kEndOfTurn), "end_turn");
  EXPECT_EQ(reason(FinishReason::kMaxTokens), "max_tokens");
  EXPECT_EQ(reason(FinishReason::kContextWindow), "model_context_window_exceeded");
  EXPECT_EQ(reason(FinishReason::kStopSequence), "stop_sequence");
}

TEST(AnthropicStream, QuotesTheStopSequenceThatMatched) {
  const std::string out =
      frames({Started{kPrompt}, Finished{FinishReason::kStopSequence, "\n\"Human\":", kTotal}});
  EXPECT_NE(out.find(R"("stop_sequence":"\n\"Human\":")"), std::string::npos) << out;
}

TEST(AnthropicStream, AFailureMidTextIsOneErrorEventAndNothingAfter) {
  const std::string out = frames({Started{kPrompt}, TextDelta{"x"}, overloaded()});
  const std::string tail =
      "event: error\n"
      R"(data: {"type":"error","error":{"type":"overloaded_error",)"
      R"("message":"the queue is full"},"request_id":"req_1"})"
      "\n\n";
  ASSERT_GE(out.size(), tail.size());
  EXPECT_EQ(out.substr(out.size() - tail.size()), tail);
  EXPECT_EQ(out.find("message_delta"), std::string::npos);
  EXPECT_EQ(out.find("message_stop"), std::string::npos);
}

TEST(AnthropicStream, AFailureBeforeTheStartIsOneErrorEvent) {
  const std::string out = frames({overloaded()});
  EXPECT_EQ(out.find("message_start"), std::string::npos);
  AnthropicStreamChecker checker;
  checker.feed(out);
  EXPECT_EQ(checker.fault(), "");
  EXPECT_TRUE(checker.failed());
}

TEST(AnthropicStream, KnowsWhenItHasEnded) {
  AnthropicStream stream = make_stream();
  std::string out;
  stream.append(Started{kPrompt}, out);
  EXPECT_FALSE(stream.ended());
  stream.append(Finished{}, out);
  EXPECT_TRUE(stream.ended());
}

TEST(AnthropicStream, WritesPings) {
  std::string out;
  AnthropicStream::append_ping(out);
  EXPECT_EQ(out, "event: ping\ndata: {\"type\":\"ping\"}\n\n");
}

TEST(AnthropicStream, EscapesModelAndIds) {
  AnthropicStream stream({"msg_\"", "mo\\del\n", "r"});
  std::string out;
  stream.append(Started{kPrompt}, out);
  EXPECT_NE(out.find(R"("id":"msg_\"")"), std::string::npos);
  EXPECT_NE(out.find(R"("model":"mo\\del\n")"), std::string::npos);
}

using AnthropicStreamDeathTest = testing::Test;

TEST(AnthropicStreamDeathTest, EventsOutOfOrderAreABug) {
  AnthropicStream fresh = make_stream();
  std::string out;
  EXPECT_DEATH(fresh.append(TextDelta{"x"}, out), "state_");
  EXPECT_DEATH(fresh.append(Finished{}, out), "state_");
  AnthropicStream ended = make_stream();
  ended.append(overloaded(), out);
  EXPECT_DEATH(ended.append(TextDelta{"x"}, out), "state_");
}

// ---- Random event sequences against the strict checker ----

const std::array<std::string_view, 10> kPieces{
    "a",     "Hello world", "\n", "\r\n\r\n", "\"", "\\", "é", "🌍", "event: message_stop\n\n",
    "\u2028"};

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : random_(seed), stream_({"msg_x", "m", "req_x"}) {}

  void run() {
    maybe_ping();
    if (random_.chance(0.05)) return end_by_failure();
    const auto prompt = static_cast<std::uint32_t>(1 + random_.below(1000));
    usage_ = Usage{prompt, static_cast<std::uint32_t>(random_.below(prompt)), 0};
    stream_.append(Started{usage_}, out);
    const std::uint64_t deltas = random_.below(20);
    for (std::uint64_t i = 0; i < deltas; ++i) add_delta();
    maybe_ping();
    if (random_.chance(0.2)) return end_by_failure();
    const auto reason = static_cast<FinishReason>(random_.below(4));
    const std::string stop = reason == FinishReason::kStopSequence ? "STOP" : "";
    stream_.append(Finished{reason, stop, usage_}, out);
  }

  std::string out;
  std::string text;
  bool failed = false;
  Usage usage() const { return usage_; }

 private:
  void add_delta() {
    maybe_ping();
    std::string piece;
    const std::uint64_t parts = random_.below(4);  // sometimes none: an empty delta
    for (std::uint64_t i = 0; i < parts; ++i) piece += kPieces[random_.below(kPieces.size())];
    usage_.output_tokens += 1;
    text += piece;
    stream_.append(TextDelta{piece}, out);
  }
  void maybe_ping() {
    if (random_.chance(0.2)) AnthropicStream::append_ping(out);
  }
  void end_by_failure() {
    failed = true;
    stream_.append(Failed{Error{ErrorCode::kInternal, "fault\n\n", "f", {}}}, out);
  }

  Random random_;
  AnthropicStream stream_;
  Usage usage_;
};

TEST(AnthropicStreamProperty, EveryEventSequenceObeysTheProtocol) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    RandomStream random(seed);
    random.run();
    AnthropicStreamChecker checker;
    checker.feed(random.out);
    ASSERT_EQ(checker.fault(), "") << "seed " << seed << "\n" << random.out;
    ASSERT_TRUE(checker.ended()) << "seed " << seed;
    ASSERT_EQ(checker.failed(), random.failed) << "seed " << seed;
    ASSERT_EQ(checker.text(), random.text) << "seed " << seed;
    if (random.failed) continue;
    ASSERT_EQ(checker.blocks(), random.text.empty() ? 0u : 1u) << "seed " << seed;
    ASSERT_EQ(checker.input_tokens(), random.usage().prompt_tokens) << "seed " << seed;
    ASSERT_EQ(checker.output_tokens(), random.usage().output_tokens) << "seed " << seed;
  }
}

TEST(AnthropicStreamChecker, CatchesTheFaultsItIsFor) {
  const std::string good =
      frames({Started{kPrompt}, TextDelta{"x"}, Finished{FinishReason::kEndOfTurn, "", kTotal}});
  const auto fault_after = [&](std::string_view from, std::string_view to) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    AnthropicStreamChecker checker;
    checker.feed(bad);
    return checker.fault();
  };
  EXPECT_EQ(fault_after("event: message_start\n", ""),
            "a frame must be an event line and a data line");
  EXPECT_EQ(fault_after(R"("index":0)", R"("index":1)"), "indices must run without gaps");
  EXPECT_EQ(fault_after(R"("content":[])", R"("content":[1])"), "content must be [] at the start");
  EXPECT_EQ(fault_after(R"("text":"x")", R"("text":"")"), "an empty block");
  EXPECT_EQ(fault_after(R"("stop_reason":"end_turn")", R"("stop_reason":null)"),
            "message_delta needs a stop_reason");
  EXPECT_EQ(fault_after("event: content_block_stop", "event: ping"),
            "data.type must equal the event name");
  EXPECT_EQ(fault_after(R"("output_tokens":3)", R"("output_tokens":null)"),
            "output_tokens must be a count");
  AnthropicStreamChecker twice;
  twice.feed(good + good);
  EXPECT_EQ(twice.fault(), "nothing may follow the end");
}

}  // namespace
}  // namespace zerohop
