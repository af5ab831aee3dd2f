#include "api/openai_error_body.h"

#include <gtest/gtest.h>

#include <string>

#include "api/json_place.h"

namespace zerohop {
namespace {

TEST(OpenAiErrorBody, NamesTheField) {
  EXPECT_EQ(openai_error_body(invalid_request("messages[0].role", "must be a string, got 5")),
            R"({"error":{"message":"messages[0].role: must be a string, got 5",)"
            R"("type":"invalid_request_error","param":"messages[0].role","code":null}})");
}

TEST(OpenAiErrorBody, MarksAContextOverflowAndKeepsItsText) {
  EXPECT_EQ(openai_error_body(prompt_too_long(9, 8)),
            R"({"error":{"message":"prompt is too long: 9 tokens > 8 maximum",)"
            R"("type":"invalid_request_error","param":null,"code":"context_length_exceeded"}})");
}

TEST(OpenAiErrorBody, TellsAnUnknownModelFromAnUnknownPath) {
  EXPECT_EQ(openai_error_code({ErrorCode::kNotFound, "x", "model", {}}), "model_not_found");
  EXPECT_EQ(openai_error_code({ErrorCode::kNotFound, "x", "", {}}), "");
  EXPECT_EQ(openai_error_type(ErrorCode::kNotFound), "not_found_error");
}

TEST(OpenAiErrorBody, GivesEveryCodeATypeOnOneLineOfJson) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kAddressInUse); ++i) {
    const Error error{static_cast<ErrorCode>(i), "a\n\xff", "f\"", {}};
    const std::string body = openai_error_body(error);
    EXPECT_EQ(body.find('\n'), std::string::npos);
    const auto document = parse_json(body);
    ASSERT_TRUE(document.ok()) << body;
    const JsonPlace root(document->root());
    const auto inner = root.find("error");
    ASSERT_TRUE(inner);
    EXPECT_TRUE(inner->find("type")) << body;
    EXPECT_TRUE(inner->find("param")) << body;
  }
}

TEST(OpenAiErrorBody, TypesFollowTheStatus) {
  EXPECT_EQ(openai_error_type(ErrorCode::kAuthentication), "authentication_error");
  EXPECT_EQ(openai_error_type(ErrorCode::kPermission), "permission_error");
  EXPECT_EQ(openai_error_type(ErrorCode::kRateLimited), "rate_limit_error");
  EXPECT_EQ(openai_error_type(ErrorCode::kOverloaded), "overloaded_error");
  EXPECT_EQ(openai_error_type(ErrorCode::kInternal), "server_error");
  EXPECT_EQ(openai_error_type(ErrorCode::kRequestTooLarge), "invalid_request_error");
}

}  // namespace
}  // namespace zerohop
