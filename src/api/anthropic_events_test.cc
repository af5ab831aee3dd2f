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

std::string frames(const std::vector<Event>& events, AnthropicReplyOptions options = {}) {
  AnthropicStream stream({"msg_1", "m", "req_1"}, std::move(options));
  std::string out;
  for (const Event& event : events) stream.append(0, event, out);
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
  EXPECT_EQ(reason(FinishReason::kToolUse), "tool_use");
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
  stream.append(0, Started{kPrompt}, out);
  EXPECT_FALSE(stream.ended());
  stream.append(0, Finished{}, out);
  EXPECT_TRUE(stream.ended());
}

// The bytes that `add` appends to a stream which has seen these events.
template <class Add>
std::string after(const std::vector<Event>& events, AnthropicReplyOptions options, Add add) {
  AnthropicStream stream({"msg_1", "m", "req_1"}, std::move(options));
  std::string out;
  for (const Event& event : events) stream.append(0, event, out);
  out.clear();
  add(stream, out);
  return out;
}
std::string keep_alive(const std::vector<Event>& events, AnthropicReplyOptions options = {}) {
  return after(events, std::move(options),
               [](AnthropicStream& stream, std::string& out) { stream.append_keep_alive(out); });
}

constexpr std::string_view kPing = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

TEST(AnthropicStream, KeepsAliveByACommentBeforeTheStartAndByPingsAfter) {
  EXPECT_EQ(keep_alive({}), ": waiting\n\n");
  EXPECT_EQ(keep_alive({Started{kPrompt}}), kPing);
  EXPECT_EQ(keep_alive({Started{kPrompt}, TextDelta{"x"}}), kPing);
  EXPECT_EQ(keep_alive({Started{kPrompt}, ToolCallStarted{"t1", "f"}}), kPing);
}

TEST(AnthropicStream, KeepsAliveByEmptyTextWhereThatWasAskedFor) {
  const AnthropicReplyOptions options{.heartbeat = Heartbeat::kEmptyDelta};
  EXPECT_EQ(keep_alive({}, options), ": waiting\n\n");
  EXPECT_EQ(keep_alive({Started{kPrompt}}, options), kPing);
  EXPECT_EQ(keep_alive({Started{kPrompt}, ThinkingDelta{"x"}}, options), kPing);
  EXPECT_EQ(keep_alive({Started{kPrompt}, TextDelta{"x"}}, options),
            "event: content_block_delta\n"
            R"(data: {"type":"content_block_delta","index":0,)"
            R"("delta":{"type":"text_delta","text":""}})"
            "\n\n");
}

TEST(AnthropicStream, TheFoldedProfileKeepsAliveByComments) {
  EXPECT_EQ(keep_alive({Started{kPrompt}}, {.profile = StreamProfile::kFolded}), ": waiting\n\n");
}

std::vector<SeenBlock> blocks_of(const std::vector<Event>& events,
                                 AnthropicReplyOptions options = {}) {
  AnthropicStreamChecker checker(options.profile == StreamProfile::kFolded
                                     ? AnthropicStreamChecker::Profile::kFolded
                                     : AnthropicStreamChecker::Profile::kFull);
  checker.feed(frames(events, std::move(options)));
  EXPECT_EQ(checker.fault(), "");
  return checker.blocks();
}

Finished finished(FinishReason reason = FinishReason::kEndOfTurn) {
  return Finished{reason, "", kTotal};
}

TEST(AnthropicStream, ThinkingIsABlockWithASignatureBehindItsText) {
  const std::string out = frames(
      {Started{kPrompt}, ThinkingDelta{"hm"}, ThinkingDelta{"."}, TextDelta{"Yes"}, finished()});
  const std::string signature = thinking_signature("msg_1", 0);
  EXPECT_NE(out.find(R"("content_block":{"type":"thinking","thinking":"","signature":""})"),
            std::string::npos);
  const std::size_t signed_at =
      out.find(R"("delta":{"type":"signature_delta","signature":")" + signature + "\"}");
  EXPECT_GT(signed_at, out.find(R"("thinking":"."}})"));
  EXPECT_LT(signed_at, out.find("content_block_stop"));
  const auto blocks = blocks_of(
      {Started{kPrompt}, ThinkingDelta{"hm"}, ThinkingDelta{"."}, TextDelta{"Yes"}, finished()});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0], (SeenBlock{"thinking", "hm.", signature, "", ""}));
  EXPECT_EQ(blocks[1], (SeenBlock{"text", "Yes", "", "", ""}));
}

TEST(AnthropicStream, OmittedThinkingHasASignatureAndNoText) {
  const auto blocks = blocks_of({Started{kPrompt}, ThinkingDelta{"hm"}, TextDelta{"a"}, finished()},
                                {.thinking = ThinkingDisplay::kOmitted});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].text, "");
  EXPECT_FALSE(blocks[0].signature.empty());
}

TEST(AnthropicStream, SignaturesDifferFromBlockToBlockAndFromMessageToMessage) {
  EXPECT_NE(thinking_signature("msg_1", 0), thinking_signature("msg_1", 1));
  EXPECT_NE(thinking_signature("msg_1", 0), thinking_signature("msg_2", 0));
  EXPECT_EQ(thinking_signature("msg_1", 0), thinking_signature("msg_1", 0));
}

TEST(AnthropicStream, CallsAreBlocksWhoseDeltasJoinToTheirInput) {
  const auto blocks =
      blocks_of({Started{kPrompt}, ToolCallStarted{"t1", "f"}, ToolCallDelta{R"({"a":)"},
                 ToolCallDelta{R"("é"})"}, ToolCallStarted{"t2", "g"}, ToolCallDelta{"{}"},
                 finished(FinishReason::kToolUse)});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0], (SeenBlock{"tool_use", R"({"a":"é"})", "", "t1", "f"}));
  EXPECT_EQ(blocks[1], (SeenBlock{"tool_use", "{}", "", "t2", "g"}));
}

TEST(AnthropicStream, ACallWithoutDeltasGetsAnEmptyObject) {
  const auto blocks =
      blocks_of({Started{kPrompt}, ToolCallStarted{"t1", "f"}, ToolCallStarted{"t2", "g"},
                 ToolCallDelta{""}, finished(FinishReason::kToolUse)});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].text, "{}");
  EXPECT_EQ(blocks[1].text, "{}");
}

TEST(AnthropicStream, MembersOfToolsetsGoByTheirNamesOnTheWire) {
  AnthropicReplyOptions options;
  options.toolset_calls = {{"browser_key", "key", "browser"}};
  const std::string out = frames(
      {Started{kPrompt}, ToolCallStarted{"t1", "browser_key"}, finished(FinishReason::kToolUse)},
      options);
  EXPECT_NE(out.find(R"("name":"key","input":{},"caller":{"type":"direct"},)"
                     R"("toolset_name":"browser"})"),
            std::string::npos)
      << out;
}

TEST(AnthropicStream, LeavesLogProbabilitiesOut) {
  EXPECT_EQ(frames({Started{kPrompt}, TokenLogprobs{}, TextDelta{"x"}, finished()}),
            frames({Started{kPrompt}, TextDelta{"x"}, finished()}));
}

TEST(AnthropicStream, SaysThatNoEditOfTheContextWasMadeWhenAsked) {
  const std::vector<Event> events{Started{kPrompt}, TextDelta{"x"}, finished()};
  const std::string asked = frames(events, {.context_management = true});
  EXPECT_NE(asked.find(R"("output_tokens":3},"context_management":{"applied_edits":[]}})"),
            std::string::npos)
      << asked;
  EXPECT_EQ(frames(events).find("context_management"), std::string::npos);
}

TEST(AnthropicStream, CountsWrittenAndThinkingTokensApart) {
  const Usage usage{.prompt_tokens = 100,
                    .prompt_tokens_cached = 30,
                    .prompt_tokens_marked = 80,
                    .output_tokens = 9,
                    .thinking_tokens = 5};
  const std::string out = frames({Started{usage}, Finished{FinishReason::kEndOfTurn, "", usage}});
  const std::string counts = R"("usage":{"input_tokens":20,"cache_creation_input_tokens":50,)"
                             R"("cache_read_input_tokens":30,"output_tokens":9,)"
                             R"("output_tokens_details":{"thinking_tokens":5}})";
  EXPECT_NE(out.find(counts), std::string::npos) << out;
  EXPECT_NE(out.rfind(counts), out.find(counts)) << "both events carry them";
}

TEST(AnthropicStream, TheFoldedProfileHasThreeKindsOfEvents) {
  const std::vector<Event> events{Started{kPrompt}, ThinkingDelta{"hm"}, TextDelta{"Hi"},
                                  ToolCallStarted{"t1", "f"}, finished(FinishReason::kToolUse)};
  const AnthropicReplyOptions folded{.profile = StreamProfile::kFolded};
  const std::string out = frames(events, folded);
  EXPECT_NE(out.find("event: message_stop\ndata: {\"type\":\"message_stop\",\"delta\":{"
                     "\"stop_reason\":\"tool_use\""),
            std::string::npos)
      << out;
  EXPECT_EQ(blocks_of(events, folded), blocks_of(events));
}

TEST(AnthropicStream, EscapesModelAndIds) {
  AnthropicStream stream({"msg_\"", "mo\\del\n", "r"});
  std::string out;
  stream.append(0, Started{kPrompt}, out);
  EXPECT_NE(out.find(R"("id":"msg_\"")"), std::string::npos);
  EXPECT_NE(out.find(R"("model":"mo\\del\n")"), std::string::npos);
}

using AnthropicStreamDeathTest = testing::Test;

TEST(AnthropicStreamDeathTest, EventsOutOfOrderAreABug) {
  AnthropicStream fresh = make_stream();
  std::string out;
  EXPECT_DEATH(fresh.append(0, TextDelta{"x"}, out), "state_");
  EXPECT_DEATH(fresh.append(0, Finished{}, out), "state_");
  AnthropicStream ended = make_stream();
  ended.append(0, overloaded(), out);
  EXPECT_DEATH(ended.append(0, TextDelta{"x"}, out), "state_");
  AnthropicStream callless = make_stream();
  callless.append(0, Started{kPrompt}, out);
  EXPECT_DEATH(callless.append(0, ToolCallDelta{"{}"}, out), "state_");
  EXPECT_DEATH(callless.append(1, TextDelta{"x"}, out), "choice");
}

// ---- Random event sequences against the strict checker ----

const std::array<std::string_view, 10> kPieces{
    "a",     "Hello world", "\n", "\r\n\r\n", "\"", "\\", "é", "🌍", "event: message_stop\n\n",
    "\u2028"};

// Feeds random events and keeps the blocks that a client should end up with.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed)
      : random_(seed), stream_({"msg_x", "m", "req_x"}, pick()) {}

  void run() {
    maybe_silence();
    if (random_.chance(0.05)) return end_by_failure();
    const auto prompt = static_cast<std::uint32_t>(1 + random_.below(1000));
    usage_.prompt_tokens = prompt;
    usage_.prompt_tokens_cached = static_cast<std::uint32_t>(random_.below(prompt));
    usage_.prompt_tokens_marked = static_cast<std::uint32_t>(random_.below(prompt));
    stream_.append(0, Started{usage_}, out);
    const std::uint64_t events = random_.below(20);
    for (std::uint64_t i = 0; i < events; ++i) add_event();
    maybe_silence();
    if (random_.chance(0.2)) return end_by_failure();
    const auto reason = static_cast<FinishReason>(random_.below(5));
    const std::string stop = reason == FinishReason::kStopSequence ? "STOP" : "";
    stream_.append(0, Finished{reason, stop, usage_}, out);
  }

  AnthropicStreamChecker::Profile profile() const {
    return options_.profile == StreamProfile::kFolded ? AnthropicStreamChecker::Profile::kFolded
                                                      : AnthropicStreamChecker::Profile::kFull;
  }
  // As a client should have them, but for signatures.
  const std::vector<SeenBlock>& blocks() const { return blocks_; }

  std::string out;
  bool failed = false;
  Usage usage() const { return usage_; }

 private:
  AnthropicReplyOptions pick() {
    if (random_.chance(0.3)) options_.profile = StreamProfile::kFolded;
    if (random_.chance(0.3)) options_.heartbeat = Heartbeat::kEmptyDelta;
    if (random_.chance(0.3)) options_.thinking = ThinkingDisplay::kOmitted;
    return options_;
  }

  std::string piece() {
    std::string text;
    const std::uint64_t parts = random_.below(4);  // sometimes none: an empty delta
    for (std::uint64_t i = 0; i < parts; ++i) text += kPieces[random_.below(kPieces.size())];
    return text;
  }

  void add_event() {
    maybe_silence();
    usage_.output_tokens += 1;
    switch (random_.below(4)) {
      case 0: return add_text("text", piece());
      case 1: return add_text("thinking", piece());
      case 2: return add_call();
      default: stream_.append(0, TokenLogprobs{}, out);
    }
  }

  void add_text(const std::string& type, const std::string& text) {
    if (type == "text") stream_.append(0, TextDelta{text}, out);
    if (type == "thinking") stream_.append(0, ThinkingDelta{text}, out);
    if (text.empty()) return;
    if (blocks_.empty() || blocks_.back().type != type) blocks_.push_back({type, "", "", "", ""});
    const bool shown = type == "text" || options_.thinking == ThinkingDisplay::kShown;
    if (shown) blocks_.back().text += text;
  }

  void add_call() {
    const std::string id = "toolu_" + std::to_string(blocks_.size());
    stream_.append(0, ToolCallStarted{id, "f"}, out);
    blocks_.push_back({"tool_use", "{}", "", id, "f"});
    if (random_.chance(0.3)) return;
    blocks_.back().text = R"({"key":[1,"two"]})";
    std::string_view rest = blocks_.back().text;
    while (!rest.empty()) {
      const std::size_t size = 1 + random_.below(rest.size());
      stream_.append(0, ToolCallDelta{std::string(rest.substr(0, size))}, out);
      rest.remove_prefix(size);
      maybe_silence();
    }
  }

  void maybe_silence() {
    if (random_.chance(0.2)) stream_.append_keep_alive(out);
  }
  void end_by_failure() {
    failed = true;
    stream_.append(0, Failed{Error{ErrorCode::kInternal, "fault\n\n", "f", {}}}, out);
  }

  Random random_;
  AnthropicReplyOptions options_;
  AnthropicStream stream_;
  Usage usage_;
  std::vector<SeenBlock> blocks_;
};

TEST(AnthropicStreamProperty, EveryEventSequenceObeysTheProtocol) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    RandomStream random(seed);
    random.run();
    AnthropicStreamChecker checker(random.profile());
    checker.feed(random.out);
    ASSERT_EQ(checker.fault(), "") << "seed " << seed << "\n" << random.out;
    ASSERT_TRUE(checker.ended()) << "seed " << seed;
    ASSERT_EQ(checker.failed(), random.failed) << "seed " << seed;
    if (random.failed) continue;
    std::vector<SeenBlock> seen = checker.blocks();
    for (SeenBlock& block : seen) block.signature.clear();
    ASSERT_EQ(seen, random.blocks()) << "seed " << seed << "\n" << random.out;
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
  const std::string thinking = frames({Started{kPrompt}, ThinkingDelta{"x"}, finished()});
  const std::string call =
      frames({Started{kPrompt}, ToolCallStarted{"t", "f"}, finished(FinishReason::kToolUse)});
  const auto fault_of = [](std::string bad, std::string_view from, std::string_view to) {
    const std::size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    AnthropicStreamChecker checker;
    checker.feed(bad);
    return checker.fault();
  };
  EXPECT_EQ(fault_of(thinking, R"("signature":"")", R"("signature":null)"),
            "a thinking block starts with empty thinking and signature");
  EXPECT_EQ(fault_of(thinking, "signature_delta", "text_delta"),
            "text_delta does not belong into a thinking block");
  EXPECT_EQ(fault_of(call, R"("partial_json":"{}")", R"("partial_json":"{")"),
            "the input of a call is no JSON object");
  EXPECT_EQ(fault_of(call, R"("input":{})", R"("input":"")"), "a call starts with input {}");
  EXPECT_EQ(fault_of(call, R"("stop_reason":"tool_use")", R"("stop_reason":"end_turn")"),
            "a turn with calls ends for tool_use");
  AnthropicStreamChecker folded(AnthropicStreamChecker::Profile::kFolded);
  folded.feed(good);
  EXPECT_EQ(folded.fault(), "not an event of the folded profile: content_block_start");
  AnthropicStreamChecker twice;
  twice.feed(good + good);
  EXPECT_EQ(twice.fault(), "nothing may follow the end");
}

TEST(AnthropicStream, EndsForOneReaderAndGoesOnForTheOthers) {
  AnthropicStream stream = make_stream();
  std::string all;
  stream.append(0, Started{}, all);
  stream.append(0, TextDelta{"a"}, all);
  std::string late;
  stream.append_failure(Error{ErrorCode::kTimeout, "too late", "", {}}, late);
  EXPECT_TRUE(late.starts_with("event: error\n")) << late;
  EXPECT_FALSE(stream.ended());
  std::string rest;
  stream.append(0, TextDelta{"b"}, rest);
  EXPECT_TRUE(rest.starts_with("event: content_block_delta\n")) << rest;
}

}  // namespace
}  // namespace zerohop
