#include "api/openai_responses_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/openai_responses_reply.h"
#include "api/openai_responses_request.h"
#include "api/openai_responses_stream_checker.h"
#include "api/openai_test_events.h"
#include "base/random.h"

namespace zerohop {
namespace {

using namespace openai_test;

OpenAiResponsesReplyOptions options() {
  return {{"resp_1", "small", 1'700'000'000, ""},
          parse_responses_request(R"({"input":"a"})", {}).value().echo};
}

std::string write(const std::vector<Event>& events) {
  OpenAiResponsesStream stream(options());
  std::string out;
  for (const Event& event : events) stream.append(0, event, out);
  EXPECT_TRUE(stream.ended());
  return out;
}

OpenAiResponsesStreamChecker checked(const std::string& bytes) {
  OpenAiResponsesStreamChecker checker;
  checker.feed(bytes);
  EXPECT_EQ(checker.fault(), "") << bytes;
  EXPECT_TRUE(checker.ended()) << bytes;
  return checker;
}

std::string body_of(const std::vector<Event>& events) {
  OpenAiResponsesReply reply(options());
  for (const Event& event : events) reply.add(0, event);
  EXPECT_TRUE(reply.complete());
  return reply.body();
}

const std::vector<Event> kAnswer{started(),
                                 thinking("h"),
                                 thinking("m"),
                                 text("a"),
                                 text("\"b\n"),
                                 call("c1", "f"),
                                 arguments("{"),
                                 arguments("}"),
                                 call("c2", "g"),
                                 arguments("{}"),
                                 finished(FinishReason::kToolUse)};

// At whatever point one reader stays no longer, what it got is a whole answer that failed, and the
// others get theirs.
TEST(OpenAiResponsesStream, EndsForOneReaderAndGoesOnForTheOthers) {
  for (std::size_t cut = 0; cut < kAnswer.size(); ++cut) {
    OpenAiResponsesStream stream(options());
    std::string out;
    std::string late;
    for (std::size_t i = 0; i < kAnswer.size(); ++i) {
      if (i == cut) {
        late = out;
        stream.append_failure(Error{ErrorCode::kTimeout, "too late", "", {}}, late);
      }
      stream.append(0, kAnswer[i], out);
    }
    EXPECT_EQ(checked(late).end(), "failed") << cut;
    EXPECT_EQ(out, write(kAnswer)) << cut;
  }
}

TEST(OpenAiResponsesStream, MakesAnItemOfEachKindOfOutput) {
  const auto checker = checked(write(kAnswer));
  ASSERT_EQ(checker.items().size(), 4u);
  EXPECT_EQ(checker.items()[0].type, "reasoning");
  EXPECT_EQ(checker.items()[0].text, "hm");
  EXPECT_EQ(checker.items()[1].type, "message");
  EXPECT_EQ(checker.items()[1].text, "a\"b\n");
  EXPECT_EQ(checker.items()[2].call_id, "c1");
  EXPECT_EQ(checker.items()[2].text, "{}");
  EXPECT_EQ(checker.items()[3].name, "g");
  EXPECT_EQ(checker.end(), "completed");
  EXPECT_EQ(
      checker.usage(),
      R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":0},)"
      R"("output_tokens":5,)"
      R"("output_tokens_details":{"reasoning_tokens":2},"total_tokens":15})");
}

TEST(OpenAiResponsesStream, OpensANewItemWhenTheModelThinksAgain) {
  const auto checker =
      checked(write({started(), thinking("a"), text("b"), thinking("c"), text("d"), finished()}));
  ASSERT_EQ(checker.items().size(), 4u);
  EXPECT_EQ(checker.items()[2].type, "reasoning");
}

TEST(OpenAiResponsesStream, HasNoItemWithoutOutput) {
  EXPECT_TRUE(checked(write({started(), finished()})).items().empty());
}

TEST(OpenAiResponsesStream, IsIncompleteWhenCutOff) {
  for (const FinishReason reason : {FinishReason::kMaxTokens, FinishReason::kContextWindow}) {
    const std::string bytes = write({started(), text("a"), finished(reason)});
    EXPECT_EQ(checked(bytes).end(), "incomplete");
    EXPECT_NE(bytes.find(R"("incomplete_details":{"reason":"max_output_tokens"})"),
              std::string::npos);
    EXPECT_NE(bytes.find(R"("logprobs":[]}],"status":"incomplete"})"), std::string::npos);
  }
}

TEST(OpenAiResponsesStream, FailsWithACode) {
  const auto midway = checked(write({started(), text("a"), failed()}));
  EXPECT_EQ(midway.end(), "failed");
  EXPECT_EQ(midway.error_code(), "server_error");
  const auto at_once = checked(write({Failed{prompt_too_long(9, 8)}}));
  EXPECT_EQ(at_once.error_code(), "context_length_exceeded");
}

TEST(OpenAiResponsesStream, KeepsAliveWithComments) {
  OpenAiResponsesStream stream(options());
  std::string out;
  stream.append_keep_alive(out);
  stream.append(0, started(), out);
  stream.append_keep_alive(out);
  stream.append(0, finished(), out);
  checked(out);
}

TEST(OpenAiResponsesStream, ObeysTheProtocolForRandomAnswers) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events{started()};
    const std::uint64_t parts = random.below(10);
    for (std::uint64_t i = 0; i < parts; ++i) {
      switch (random.below(4)) {
        case 0: events.push_back(text("t")); break;
        case 1: events.push_back(thinking("h")); break;
        case 2: events.push_back(token("x", -0.5f)); break;
        default:
          events.push_back(call("c" + std::to_string(i), "f"));
          events.push_back(arguments("{}"));
      }
    }
    events.push_back(random.chance(0.2) ? failed()
                                        : finished(random.chance(0.5) ? FinishReason::kMaxTokens
                                                                      : FinishReason::kEndOfTurn));
    checked(write(events));
  }
}

TEST(OpenAiResponsesReply, SaysTheSameAsTheStream) {
  const std::string body = body_of(kAnswer);
  const std::string bytes = write(kAnswer);
  EXPECT_TRUE(bytes.ends_with(R"("response":)" + body + "}\n\n")) << body << "\n" << bytes;
}

TEST(OpenAiResponsesReply, NeverPassesOffAFailureAsAnAnswer) {
  OpenAiResponsesReply reply(options());
  reply.add(0, started());
  EXPECT_FALSE(reply.complete());
  reply.add(0, failed());
  EXPECT_TRUE(reply.complete());
  ASSERT_NE(reply.failure(), nullptr);
}

// ---- The checker itself ----

std::string fault_of(const std::string& bytes) {
  OpenAiResponsesStreamChecker checker;
  checker.feed(bytes);
  return checker.fault();
}

std::string replaced(std::string bytes, std::string_view from, std::string_view to) {
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, from.size(), to);
}

TEST(OpenAiResponsesStreamChecker, NamesTheFirstBrokenRule) {
  const std::string good = write({started(), text("a"), text("b"), finished()});
  EXPECT_EQ(fault_of(good), "");
  EXPECT_EQ(fault_of(good + good), "nothing may follow the end");
  EXPECT_EQ(fault_of(replaced(good, R"("sequence_number":3)", R"("sequence_number":4)")),
            "sequence numbers must run without gaps");
  EXPECT_EQ(fault_of(replaced(good, "event: response.created", "event: response.made")),
            "the type must equal the event's name");
  EXPECT_EQ(fault_of(replaced(good, R"("delta":"b")", R"("delta":"c")")),
            "the deltas make another text");
  EXPECT_EQ(fault_of(replaced(good, R"("delta":"b")", R"("delta":"")")), "an empty delta");
  EXPECT_EQ(fault_of(replaced(good, R"("output_index":0)", R"("output_index":1)")),
            "output indices must run without gaps");
}

}  // namespace
}  // namespace zerohop
