#include "http/request_parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "http/request_parser_check.h"

namespace zerohop {
namespace {

RequestHead parse(std::string_view bytes) {
  RequestParser parser(kCheckLimits);
  EXPECT_EQ(parser.feed_head(bytes).state, ParseState::kDone);
  return std::move(parser.head());
}

TEST(RequestParser, UnderstandsAHead) {
  const RequestHead head = parse(
      "POST /v1//messages/?beta=true HTTP/1.1\r\nHost: localhost\r\nX-Api-Key:  secret \r\n"
      "Content-Length: 12\r\n\r\n");
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/v1//messages/?beta=true");
  EXPECT_EQ(head.path, "/v1/messages");
  EXPECT_EQ(head.query, "beta=true");
  EXPECT_EQ(head.headers.find("x-api-key"), "secret");
  EXPECT_EQ(head.version, HttpVersion::k1_1);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.chunked);
  EXPECT_EQ(head.content_length, 12u);
}

TEST(RequestParser, KeepAliveFollowsVersionAndConnection) {
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n").keep_alive);
}

TEST(RequestParser, ConsumesExactlyOneRequest) {
  const std::string first = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  const std::string both = first + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestParser parser(kCheckLimits);
  const ParseProgress head = parser.feed_head(both);
  ASSERT_EQ(head.state, ParseState::kDone);
  ASSERT_TRUE(parser.body_pending());
  const ParseProgress body = parser.feed_body(std::string_view(both).substr(head.bytes_consumed));
  EXPECT_EQ(body.state, ParseState::kDone);
  EXPECT_EQ(head.bytes_consumed + body.bytes_consumed, first.size());
  EXPECT_EQ(parser.take_body(), "abc");
}

TEST(RequestParser, SkipsOneEmptyLineInFront) {
  EXPECT_EQ(parse("\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n").path, "/a");
  RequestParser parser(kCheckLimits);
  EXPECT_EQ(parser.feed_head("\r\n\r\nGET / HTTP/1.1\r\n").state, ParseState::kFailed);
}

TEST(RequestParser, RefusesGarbageWithoutWaitingForTheEndOfAHead) {
  for (const std::string_view garbage :
       {std::string_view("\x16\x03\x01", 3), std::string_view("\0", 1), std::string_view("{\"a\""),
        std::string_view("hello there\r\n"), std::string_view("GET /\r\n"), std::string_view("\n"),
        std::string_view("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")}) {
    RequestParser parser(kCheckLimits);
    EXPECT_EQ(parser.feed_head(garbage).state, ParseState::kFailed) << garbage;
    EXPECT_EQ(parser.error().code, ErrorCode::kInvalidRequest);
  }
  RequestParser patient(kCheckLimits);
  EXPECT_EQ(patient.feed_head("GET /very/long").state, ParseState::kNeedMore);
}

TEST(RequestParser, TellsHeadsThatAreTooLongFromMalformedOnes) {
  const std::string long_head =
      "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(kCheckLimits.head_bytes_max, 'a') +
      "\r\n\r\n";
  RequestParser parser(kCheckLimits);
  ASSERT_EQ(parser.feed_head(long_head).state, ParseState::kFailed);
  EXPECT_EQ(parser.error().code, ErrorCode::kHeadTooLarge);
}

TEST(RequestParser, DoesNotReserveWhatIsOnlyDeclared) {
  RequestParser parser(RequestLimits{2'048, 1u << 30});
  ASSERT_EQ(
      parser.feed_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n").state,
      ParseState::kDone);
  ASSERT_EQ(parser.feed_body("x").state, ParseState::kNeedMore);
  EXPECT_LE(parser.take_body().capacity(), 2u << 20);
}

TEST(ChunkDecoder, StopsAtALimitBeforeTheDataComes) {
  ChunkDecoder decoder(10);
  std::string body;
  ASSERT_EQ(decoder.feed("6\r\n012345\r\n", body).state, ParseState::kNeedMore);
  ASSERT_EQ(decoder.feed("5\r\n", body).state, ParseState::kFailed);
  EXPECT_EQ(decoder.error().code, ErrorCode::kRequestTooLarge);
  EXPECT_EQ(body, "012345");
}

TEST(ChunkDecoder, LeavesWhatFollowsTheLastChunk) {
  ChunkDecoder decoder(10);
  std::string body;
  const std::string chunks = "3 \t;a=\"b\"\r\nabc\r\n000;x\r\nTrailer: x\r\n\r\n";
  const ParseProgress progress = decoder.feed(chunks + "GET /", body);
  EXPECT_EQ(progress.state, ParseState::kDone);
  EXPECT_EQ(progress.bytes_consumed, chunks.size());
  EXPECT_EQ(body, "abc");
}

TEST(RequestParser, ReadsTheSameWhereverTheReadsAreCut) {
  const std::filesystem::path corpus = "tests/corpus/request_head";
  int files = 0;
  int done = 0;
  int failed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    const ParsedRequest parsed = check_request(bytes);
    ++files;
    done += parsed.state == ParseState::kDone ? 1 : 0;
    failed += parsed.state == ParseState::kFailed ? 1 : 0;
  }
  EXPECT_GE(files, 25);
  EXPECT_GE(done, 10);
  EXPECT_GE(failed, 20);
}

}  // namespace
}  // namespace zerohop
