#include "api/openai_completions_request.h"

#include <gtest/gtest.h>

#include <string>

#include "api/openai_test_parse.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<OpenAiCompletionsRequest> parse(std::string_view fields) {
  return parse_completions_request("{" + std::string(fields) + "}", {});
}

OpenAiCompletionsRequest parsed(std::string_view fields) {
  auto result = parse(fields);
  EXPECT_TRUE(result.ok()) << openai_test::complaint_of(result);
  return result.ok() ? *std::move(result) : OpenAiCompletionsRequest{};
}

std::string complaint(std::string_view fields) { return openai_test::complaint_of(parse(fields)); }

std::string text_of(const OpenAiPrompt& prompt) { return std::get<std::string>(prompt); }

TEST(OpenAiCompletionsRequest, ReadsEveryShapeOfPrompt) {
  EXPECT_EQ(text_of(parsed(R"("prompt":"a")").prompts.at(0)), "a");
  const auto texts = parsed(R"("prompt":["a","b"])").prompts;
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(text_of(texts[1]), "b");
  const auto tokens = parsed(R"("prompt":[1,2,3])").prompts;
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(std::get<std::vector<Token>>(tokens[0]), (std::vector<Token>{1, 2, 3}));
  const auto mixed = parsed(R"("prompt":[[1],"a",[2,3]])").prompts;
  ASSERT_EQ(mixed.size(), 3u);
  EXPECT_EQ(std::get<std::vector<Token>>(mixed[2]), (std::vector<Token>{2, 3}));
}

TEST(OpenAiCompletionsRequest, RefusesImpossiblePrompts) {
  EXPECT_EQ(complaint(""), "prompt: is required");
  EXPECT_EQ(complaint(R"("prompt":[])"), "prompt: must not be empty");
  EXPECT_EQ(complaint(R"("prompt":[[]])"), "prompt[0]: must not be empty");
  EXPECT_EQ(complaint(R"("prompt":5)"),
            "prompt: must be a string, an array of strings or an array of token ids, got 5");
  EXPECT_EQ(complaint(R"("prompt":["a",5])"),
            "prompt[1]: must be a string, an array of strings or an array of token ids, got 5");
  EXPECT_EQ(complaint(R"("prompt":[1,-1])"),
            "prompt[1]: must be an integer from 0 to 2147483647, got -1");
  EXPECT_EQ(complaint(R"("prompt":[1,"a"])"),
            "prompt[1]: must be an integer from 0 to 2147483647, got \"a\"");
  std::string many = "\"a\"";
  for (std::size_t i = 0; i < kCompletionPromptsMax; ++i) many.append(",\"a\"");
  EXPECT_EQ(complaint("\"prompt\":[" + many + "]"), "prompt: must have at most 64 entries, got 65");
}

TEST(OpenAiCompletionsRequest, ReadsGeneration) {
  const auto request =
      parsed(R"("prompt":["a","b"],"n":3,"best_of":3,"max_tokens":7,"temperature":0,"stop":"x",)"
             R"("stream":true,"stream_options":{"include_usage":true},"echo":true,"model":"m")");
  EXPECT_EQ(request.model, "m");
  EXPECT_EQ(request.choices_per_prompt, 3u);
  EXPECT_EQ(request.choices(), 6u);
  EXPECT_EQ(request.generation.max_tokens, 7u);
  EXPECT_EQ(request.generation.sampling.temperature, 0.0f);
  EXPECT_EQ(request.generation.stop_sequences, std::vector<std::string>{"x"});
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.echo);
  EXPECT_TRUE(request.reply.include_usage);
  EXPECT_EQ(parsed(R"("prompt":"a")").generation.max_tokens, limits::kDefaultMaxTokens);
}

TEST(OpenAiCompletionsRequest, ReadsLogprobsAsANumber) {
  const auto request = parsed(R"("prompt":"a","logprobs":5)");
  EXPECT_EQ(request.generation.top_logprobs, 5u);
  EXPECT_TRUE(request.reply.logprobs);
  EXPECT_EQ(parsed(R"("prompt":"a","logprobs":0)").generation.top_logprobs, 0u);
  EXPECT_FALSE(parsed(R"("prompt":"a","logprobs":null)").generation.top_logprobs);
  EXPECT_EQ(complaint(R"("prompt":"a","logprobs":21)"),
            "logprobs: must be an integer from 0 to 20, got 21");
}

TEST(OpenAiCompletionsRequest, RefusesWhatItCanNotDo) {
  EXPECT_EQ(complaint(R"("prompt":"a","suffix":"b")"),
            "suffix: filling in before a suffix is not supported by this server");
  EXPECT_EQ(complaint(R"("prompt":"a","suffix":"")"), "");
  EXPECT_EQ(complaint(R"("prompt":"a","best_of":2)"),
            "best_of: must equal `n`; ranking answers is not supported by this server");
  EXPECT_EQ(complaint(R"("prompt":"a","echo":true,"logprobs":1)"),
            "logprobs: log-probabilities of the prompt (`echo`) are not supported by this server");
}

}  // namespace
}  // namespace zerohop
