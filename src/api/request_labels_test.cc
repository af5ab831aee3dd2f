#include "api/request_labels.h"

#include <gtest/gtest.h>

#include <string>

#include "api/anthropic_request.h"
#include "api/json_reader.h"
#include "api/openai_chat_request.h"
#include "api/openai_completions_request.h"
#include "api/openai_responses_request.h"
#include "core/limits.h"

namespace zerohop {
namespace {

RequestLabels labels_of(const std::string& body) {
  const auto document = parse_json(body);
  EXPECT_TRUE(document.ok());
  return request_labels(JsonPlace(document->root()));
}

TEST(RequestLabels, AreTheShortTextsOfMetadata) {
  EXPECT_EQ(labels_of(R"({"metadata":{"channel":"web","intent":"refund"}})"),
            (RequestLabels{{"channel", "web"}, {"intent", "refund"}}));
  EXPECT_TRUE(labels_of("{}").empty());
  EXPECT_TRUE(labels_of(R"({"metadata":null})").empty());
  EXPECT_TRUE(labels_of(R"({"metadata":[1]})").empty());
}

TEST(RequestLabels, LeaveOutWhatIsNoLabel) {
  EXPECT_TRUE(labels_of(R"({"metadata":{"user_id":"u","context":"It is noon.","n":1,
                            "o":{"a":"b"},"e":"","z":null}})")
                  .empty());
  const std::string fits(limits::kRequestLabelBytesMax, 'x');
  EXPECT_EQ(labels_of(R"({"metadata":{"a":")" + fits + R"("}})").size(), 1u);
  EXPECT_TRUE(labels_of(R"({"metadata":{"a":")" + fits + R"(x"}})").empty());
}

TEST(RequestLabels, AreAtMostSoMany) {
  std::string body = R"({"metadata":{)";
  for (int i = 0; i < 100; ++i) body += "\"k" + std::to_string(i) + R"(":"v",)";
  body.back() = '}';
  EXPECT_EQ(labels_of(body + "}").size(), limits::kRequestLabelsMax);
}

TEST(RequestLabels, ComeWithEveryDialect) {
  const RequestLabels expected{{"channel", "web"}};
  const std::string metadata = R"("metadata":{"channel":"web"},)";
  const std::string messages = R"("messages":[{"role":"user","content":"Hi"}]})";
  const auto one = parse_messages_request("{" + metadata + messages, {});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->chat.labels, expected);
  const auto two = parse_chat_completions_request("{" + metadata + messages, {});
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->chat.labels, expected);
  const auto three = parse_responses_request("{" + metadata + R"("input":"Hi"})", {});
  ASSERT_TRUE(three.ok());
  EXPECT_EQ(three->chat.labels, expected);
  const auto four = parse_completions_request("{" + metadata + R"("prompt":"Hi"})", {});
  ASSERT_TRUE(four.ok());
  EXPECT_EQ(four->labels, expected);
}

}  // namespace
}  // namespace zerohop
