#include "app/model_names.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(ModelNames, MatchesPatterns) {
  EXPECT_TRUE(matches_pattern("claude-*-haiku-*", "claude-3-5-haiku-latest"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(matches_pattern("gpt-4o-mini", "gpt-4o-mini"));
  EXPECT_FALSE(matches_pattern("gpt-4o", "gpt-4o-mini"));
  EXPECT_FALSE(matches_pattern("a*b", "a-b-c"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(ModelNames, EchoesNamesThatItKnowsAndNamesTheTierOtherwise) {
  ModelConfig config;
  config.aliases = {{"claude-*", "small"}, {"gpt-4o-mini", "small"}};
  EXPECT_EQ(resolve_model_name(config, "small", "claude-x").value(), "claude-x");
  EXPECT_EQ(resolve_model_name(config, "small", "small").value(), "small");
  EXPECT_EQ(resolve_model_name(config, "small", "").value(), "small");
  EXPECT_EQ(resolve_model_name(config, "small", "what").value(), "small");
}

TEST(ModelNames, RefusesUnknownNamesWhereConfigured) {
  ModelConfig config;
  config.unknown_name = UnknownModelPolicy::kNotFound;
  const auto result = resolve_model_name(config, "small", "what");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
}

TEST(ModelNames, RefusesAliasesOfModelsThatDoNotRun) {
  ModelConfig config;
  config.aliases = {{"claude-*", "small"}};
  EXPECT_TRUE(check_alias_targets(config, "small").ok());
  const auto result = check_alias_targets(config, "other");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kConfiguration);
}

TEST(ModelNames, ListsTheTierAndPlainAliases) {
  ModelConfig config;
  config.aliases = {{"claude-*", "small"}, {"gpt-4o-mini", "small"}};
  EXPECT_EQ(listed_model_names(config, "small"),
            (std::vector<std::string>{"small", "gpt-4o-mini"}));
}

}  // namespace
}  // namespace zerohop
