#include "api/error_body.h"

#include <gtest/gtest.h>

#include <map>

#include "api/json_reader.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;

std::map<std::string, std::string> headers(ErrorCode code, milliseconds retry_after = {}) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : error_headers(Error{code, "m", {}, retry_after})) {
    all[std::string(name)] = value;
  }
  return all;
}

TEST(ErrorBody, HasTheShapeThatClientsRead) {
  EXPECT_EQ(anthropic_error_body(invalid_request("max_tokens", "is required"), "req_1"),
            R"({"type":"error","error":{"type":"invalid_request_error",)"
            R"("message":"max_tokens: is required"},"request_id":"req_1"})");
}

TEST(ErrorBody, WritesAnUnknownRequestIdAsNull) {
  EXPECT_EQ(anthropic_error_body(Error{ErrorCode::kNotFound, "no such path", {}, {}}, ""),
            R"({"type":"error","error":{"type":"not_found_error","message":"no such path"},)"
            R"("request_id":null})");
}

TEST(ErrorBody, GivesEveryCodeItsWireType) {
  EXPECT_EQ(anthropic_error_type(ErrorCode::kPromptTooLong), "invalid_request_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kMethodNotAllowed), "invalid_request_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kHeadTooLarge), "invalid_request_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kWrongInstance), "invalid_request_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kAuthentication), "authentication_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kPermission), "permission_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kConflict), "conflict_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kRequestTooLarge), "request_too_large");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kRateLimited), "rate_limit_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kOverloaded), "overloaded_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kShuttingDown), "api_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kTimeout), "timeout_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kRequestTimeout), "timeout_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kInternal), "api_error");
  EXPECT_EQ(anthropic_error_type(ErrorCode::kModelFailure), "api_error");
}

TEST(ErrorBody, TellsWhichEncodingFaultItIs) {
  const std::string body =
      anthropic_error_body(Error{ErrorCode::kUnsupportedEncoding, "no brotli", {}, {}}, "r");
  EXPECT_EQ(body,
            R"({"type":"error","error":{"type":"invalid_request_error","message":"no brotli",)"
            R"("details":{"error_code":"request_body_encoding_unsupported"}},"request_id":"r"})");
}

TEST(ErrorBody, NeverPrefixesTwiceAndIsNeverEmpty) {
  EXPECT_EQ(error_text(invalid_request("f", "is bad")), "f: is bad");
  EXPECT_EQ(error_text(invalid_request("f", "f: is bad")), "f: is bad");
  EXPECT_EQ(error_text(invalid_request("f", "f")), "f: f");
  EXPECT_EQ(error_text(invalid_request("", "is bad")), "is bad");
  EXPECT_EQ(error_text(invalid_request("f", "")), "f: is not valid");
  EXPECT_EQ(error_text(Error{ErrorCode::kOverloaded, "", "", {}}), "overloaded");
}

TEST(ErrorBody, IsValidJsonWhateverTheMessageHolds) {
  const std::string body =
      anthropic_error_body(invalid_request("a\"b", "broken \xff bytes\nand lines"), "id\xc3\"");
  EXPECT_TRUE(parse_json(body).ok()) << body;
  EXPECT_EQ(body.find('\n'), std::string::npos);
}

TEST(ErrorHeaders, SayWhetherARepetitionCanHelp) {
  EXPECT_EQ(headers(ErrorCode::kInvalidRequest).at("x-should-retry"), "false");
  EXPECT_EQ(headers(ErrorCode::kWrongInstance).at("x-should-retry"), "false");
  EXPECT_EQ(headers(ErrorCode::kOverloaded).at("x-should-retry"), "true");
  EXPECT_EQ(headers(ErrorCode::kInternal).at("x-should-retry"), "true");
}

TEST(ErrorHeaders, GiveWaitsInWholeSecondsRoundedUp) {
  const auto wait = [](int ms) { return headers(ErrorCode::kOverloaded, milliseconds{ms}); };
  EXPECT_EQ(wait(1).at("retry-after"), "1");
  EXPECT_EQ(wait(1).at("retry-after-ms"), "1");
  EXPECT_EQ(wait(1000).at("retry-after"), "1");
  EXPECT_EQ(wait(1001).at("retry-after"), "2");
  EXPECT_EQ(wait(1001).at("retry-after-ms"), "1001");
}

TEST(ErrorHeaders, NeverAskForMoreThanAMinute) {
  const auto all = headers(ErrorCode::kRateLimited, milliseconds{3'600'000});
  EXPECT_EQ(all.at("retry-after"), "60");
  EXPECT_EQ(all.at("retry-after-ms"), "60000");
  EXPECT_EQ(all.at("x-should-retry"), "false");
  EXPECT_EQ(headers(ErrorCode::kRateLimited, milliseconds{60'000}).at("x-should-retry"), "true");
}

TEST(ErrorHeaders, GiveNoAdviceWithoutAWait) {
  EXPECT_EQ(headers(ErrorCode::kOverloaded).size(), 1u);
  EXPECT_EQ(headers(ErrorCode::kOverloaded, milliseconds{-5}).size(), 1u);
}

TEST(ErrorBody, CarriesTheFinerNameOfAnErrorThatHasOne) {
  Error error = invalid_request("tools[1].name", "twice");
  error.detail = "tool_name_conflict";
  EXPECT_NE(anthropic_error_body(error, "r")
                .find(R"("details":{"error_code":"tool_name_conflict"}},"request_id":"r"})"),
            std::string::npos);
}

}  // namespace
}  // namespace zerohop
