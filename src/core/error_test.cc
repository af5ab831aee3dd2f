#include "core/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace zerohop {
namespace {

constexpr int kLast = static_cast<int>(ErrorCode::kAddressInUse);

TEST(ErrorTraits, HasARowForEveryCodeWithANameOfItsOwn) {
  std::set<std::string> names;
  for (int number = 0; number <= kLast; ++number) {
    const auto code = static_cast<ErrorCode>(number);
    const ErrorTraits& traits = error_traits(code);
    EXPECT_EQ(traits.code, code);
    names.insert(std::string(traits.name));
    for (const char c : traits.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '_') << traits.name;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLast) + 1);
  EXPECT_EQ(names.count(""), 0u);
}

TEST(ErrorTraits, GivesAnHttpErrorStatusOrNone) {
  for (int number = 0; number <= kLast; ++number) {
    const ErrorTraits& traits = error_traits(static_cast<ErrorCode>(number));
    EXPECT_TRUE(traits.status == 0 || (traits.status >= 400 && traits.status < 600)) << traits.name;
    EXPECT_FALSE(traits.status == 0 && traits.retryable) << traits.name;
  }
}

TEST(ErrorTraits, GivesTheStatusesThatClientsKnow) {
  EXPECT_EQ(error_traits(ErrorCode::kInvalidRequest).status, 400);
  EXPECT_EQ(error_traits(ErrorCode::kAuthentication).status, 401);
  EXPECT_EQ(error_traits(ErrorCode::kNotFound).status, 404);
  EXPECT_EQ(error_traits(ErrorCode::kRequestTooLarge).status, 413);
  EXPECT_EQ(error_traits(ErrorCode::kRateLimited).status, 429);
  EXPECT_EQ(error_traits(ErrorCode::kOverloaded).status, 529);
  EXPECT_EQ(error_traits(ErrorCode::kShuttingDown).status, 503);
  EXPECT_EQ(error_traits(ErrorCode::kAddressInUse).status, 0);
}

TEST(ErrorTraits, InvitesARetryOnlyWhereItCanHelp) {
  EXPECT_TRUE(error_traits(ErrorCode::kOverloaded).retryable);
  EXPECT_TRUE(error_traits(ErrorCode::kModelFailure).retryable);
  EXPECT_FALSE(error_traits(ErrorCode::kInvalidRequest).retryable);
  EXPECT_FALSE(error_traits(ErrorCode::kWrongInstance).retryable);
}

TEST(Error, NamesTheFieldOfAnInvalidRequest) {
  const Error error = invalid_request("messages[0].role", "must be a string");
  EXPECT_EQ(error.code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(error.field, "messages[0].role");
  EXPECT_EQ(error.message, "must be a string");
  EXPECT_EQ(error.retry_after.count(), 0);
}

TEST(Error, SaysThatAPromptIsTooLongInTheWordsThatAgentsParse) {
  const Error error = prompt_too_long(9000, 8192);
  EXPECT_EQ(error.code, ErrorCode::kPromptTooLong);
  EXPECT_EQ(error.message, "prompt is too long: 9000 tokens > 8192 maximum");
}

TEST(Error, OverflowTextsAreThoseThatAgentsParse) {
  const Error both = prompt_and_output_too_long({190'000, 32'000, 200'000});
  EXPECT_EQ(both.code, ErrorCode::kPromptTooLong);
  EXPECT_EQ(both.message,
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease "
            "input length or `max_tokens` and try again");
  const Error most = max_tokens_too_large(9'000, 8'192, "small");
  EXPECT_EQ(most.code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(most.message,
            "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for "
            "small");
}

}  // namespace
}  // namespace zerohop
