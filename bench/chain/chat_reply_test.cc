#include "chain/chat_reply.h"

#include <gtest/gtest.h>

namespace zerohop::bench {
namespace {

std::string chunk(const std::string& text) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

const std::string kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string data(const std::string& json) { return "data: " + json + "\n\n"; }

const std::string kFirst = data(R"({"choices":[{"delta":{"role":"assistant","content":null}}]})");
const std::string kText = data(R"({"choices":[{"delta":{"content":"a\"b"}}]})");
const std::string kStop = data(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
const std::string kUsage =
    data(R"({"choices":[],"usage":{"completion_tokens":3,"prompt_tokens":9,"total_tokens":12,)"
         R"("prompt_tokens_details":{"cached_tokens":4}}})");
const std::string kDone = "data: [DONE]\n\n";

TEST(ChatReply, AStreamIsReadWhereverItsBytesAreCut) {
  const std::string body = kFirst + kText + kText + kStop + kUsage + kDone;
  const std::string bytes =
      kStreamHead + chunk(body.substr(0, 70)) + chunk(body.substr(70)) + "0\r\n\r\n";
  for (std::size_t size = 1; size < 40; ++size) {
    ChatReply reply(true);
    double at = 0;
    for (std::size_t i = 0; i < bytes.size(); i += size) reply.feed(bytes.substr(i, size), ++at);
    EXPECT_TRUE(reply.whole());
    EXPECT_EQ(reply.text(), R"(a\"ba\"b)");
    EXPECT_EQ(reply.text_times().size(), 2U);
    EXPECT_EQ(reply.prompt_tokens(), 9);
    EXPECT_EQ(reply.cached_tokens(), 4);
    EXPECT_EQ(reply.output_tokens(), 3);
  }
}

TEST(ChatReply, AStreamEndsWithTheEmptyLineBehindItsLastChunk) {
  // Whoever stopped reading before it would take it for the next answer on the connection.
  ChatReply reply(true);
  reply.feed(kStreamHead + chunk(kText + kStop + kDone) + "0\r\n", 1);
  EXPECT_FALSE(reply.complete());
  reply.feed("\r\n", 2);
  EXPECT_TRUE(reply.whole());
}

TEST(ChatReply, TextCountsFromWhenItArrived) {
  ChatReply reply(true);
  reply.feed(kStreamHead + chunk(kFirst), 1);
  EXPECT_TRUE(reply.text_times().empty());
  reply.feed(chunk(kText), 2);
  EXPECT_EQ(reply.text_times(), std::vector<double>{2});
}

TEST(ChatReply, AStreamWithoutItsEndMarkIsNotWhole) {
  ChatReply reply(true);
  reply.feed(kStreamHead + chunk(kText + kStop) + "0\r\n\r\n", 1);
  EXPECT_TRUE(reply.complete());
  EXPECT_FALSE(reply.whole());
}

TEST(ChatReply, AnErrorInsideAStreamIsTrouble) {
  ChatReply reply(true);
  reply.feed(kStreamHead + chunk(kText + data(R"({"error":{"code":500}})") + kDone) + "0\r\n\r\n",
             1);
  EXPECT_FALSE(reply.whole());
  EXPECT_EQ(reply.trouble(), R"({"error":{"code":500}})");
}

TEST(ChatReply, AWholeAnswerMayComeThroughAProxyThatRepeatsHeadersUnderOtherNames) {
  const std::string body = R"({"choices":[{"finish_reason":"length","message":{"content": "Hi"}}],)"
                           R"("usage":{"completion_tokens":1,"prompt_tokens":2}})";
  ChatReply reply(false);
  reply.feed("HTTP/1.1 200 OK\r\nllm_provider-transfer-encoding: chunked\r\ncontent-length: " +
                 std::to_string(body.size()) + "\r\nllm_provider-content-length: 7\r\n\r\n" + body,
             5);
  EXPECT_TRUE(reply.whole());
  EXPECT_EQ(reply.text(), "Hi");
  EXPECT_EQ(reply.finish_reason(), "length");
  EXPECT_EQ(reply.text_times(), std::vector<double>{5});
}

TEST(ChatReply, ARefusalKeepsItsBody) {
  ChatReply reply(true);
  EXPECT_FALSE(reply.begun());
  reply.feed("HTTP/1.1 529 x\r\ncontent-length: 4\r\n\r\nbusy", 1);
  EXPECT_TRUE(reply.complete());
  EXPECT_FALSE(reply.whole());
  EXPECT_EQ(reply.status(), 529);
  EXPECT_EQ(reply.trouble(), "busy");
}

}  // namespace
}  // namespace zerohop::bench
