#include "api/anthropic_generation.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "api/error_body.h"
#include "core/limits.h"

namespace zerohop {
namespace {

Result<GenerationParameters> parse(std::string_view fields,
                                   Strictness strictness = Strictness::kLenient) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json("{" + std::string(fields) + "}"));
  const JsonPlace root(document.root());
  return parse_anthropic_generation(root, ParseOptions{.strictness = strictness});
}

GenerationParameters parsed(std::string_view fields) {
  auto result = parse(fields);
  EXPECT_TRUE(result.ok()) << fields << ": " << (result.ok() ? "" : error_text(result.error()));
  return result.ok() ? *result : GenerationParameters{};
}

std::string complaint(std::string_view fields, Strictness strictness = Strictness::kLenient) {
  const auto result = parse(fields, strictness);
  return result.ok() ? "" : error_text(result.error());
}

TEST(AnthropicGeneration, DefaultsSampleFromTheWholeDistribution) {
  const GenerationParameters generation = parsed("");
  EXPECT_EQ(generation.max_tokens, limits::kDefaultMaxTokens);
  EXPECT_EQ(generation.sampling.temperature, 1.0f);
  EXPECT_EQ(generation.sampling.top_p, 1.0f);
  EXPECT_EQ(generation.sampling.min_p, 0.0f);
  EXPECT_EQ(generation.sampling.top_k, 0);
  EXPECT_FALSE(generation.sampling.seed);
  EXPECT_TRUE(generation.sampling.logit_bias.empty());
  EXPECT_TRUE(generation.stop_sequences.empty());
}

TEST(AnthropicGeneration, ReadsMaxTokens) {
  EXPECT_EQ(parsed(R"("max_tokens":0)").max_tokens, 0u);
  EXPECT_EQ(parsed(R"("max_tokens":128000.0)").max_tokens, 128'000u);
  EXPECT_EQ(parsed(R"("max_tokens":2147483647)").max_tokens, 2'147'483'647u);
}

TEST(AnthropicGeneration, RefusesImpossibleMaxTokens) {
  const std::string wanted = "max_tokens: must be an integer from 0 to 2147483647, got ";
  EXPECT_EQ(complaint(R"("max_tokens":"ten")"), wanted + "\"ten\"");
  EXPECT_EQ(complaint(R"("max_tokens":-1)"), wanted + "-1");
  EXPECT_EQ(complaint(R"("max_tokens":1.5)"), wanted + "1.5");
  EXPECT_EQ(complaint(R"("max_tokens":2147483648)"), wanted + "2147483648");
  EXPECT_EQ(complaint(R"("max_tokens":1e400)"), wanted + "a number too large to hold");
  EXPECT_EQ(complaint(R"("max_tokens":true)"), wanted + "true");
}

TEST(AnthropicGeneration, ReadsSampling) {
  const SamplingParameters sampling =
      parsed(R"("temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"seed":42)").sampling;
  EXPECT_EQ(sampling.temperature, 0.5f);
  EXPECT_EQ(sampling.top_p, 0.25f);
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.min_p, 0.125f);
  EXPECT_EQ(sampling.seed, 42u);
}

TEST(AnthropicGeneration, AllowsTemperaturesAboveOneUnlessStrict) {
  EXPECT_EQ(parsed(R"("temperature":1.5)").sampling.temperature, 1.5f);
  EXPECT_EQ(parsed(R"("temperature":100)").sampling.temperature, 100.0f);
  EXPECT_EQ(complaint(R"("max_tokens":1,"temperature":1.5)", Strictness::kStrict),
            "temperature: must be a number from 0 to 1, got 1.5");
}

TEST(AnthropicGeneration, RefusesImpossibleTemperatures) {
  const std::string wanted = "temperature: must be a number from 0 to 100, got ";
  EXPECT_EQ(complaint(R"("temperature":-0.1)"), wanted + "-0.1");
  EXPECT_EQ(complaint(R"("temperature":"hot")"), wanted + "\"hot\"");
  EXPECT_EQ(complaint(R"("temperature":1e400)"), wanted + "a number too large to hold");
  EXPECT_EQ(complaint(R"("temperature":101)"), wanted + "101");
}

TEST(AnthropicGeneration, TurnsTopPZeroIntoTheSmallestPositiveNumber) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  EXPECT_EQ(parsed(R"("top_p":0)").sampling.top_p, kSmallest);
  EXPECT_EQ(parsed(R"("top_p":1e-60)").sampling.top_p, kSmallest);
  EXPECT_EQ(parsed(R"("top_p":1)").sampling.top_p, 1.0f);
}

TEST(AnthropicGeneration, RefusesImpossibleFilters) {
  EXPECT_EQ(complaint(R"("top_p":1.1)"), "top_p: must be a number from 0 to 1, got 1.1");
  EXPECT_EQ(complaint(R"("top_p":-0.5)"), "top_p: must be a number from 0 to 1, got -0.5");
  EXPECT_EQ(complaint(R"("min_p":2)"), "min_p: must be a number from 0 to 1, got 2");
  EXPECT_EQ(complaint(R"("top_k":-1)"), "top_k: must be an integer from 0 to 2147483647, got -1");
  EXPECT_EQ(complaint(R"("top_k":0.5)"), "top_k: must be an integer from 0 to 2147483647, got 0.5");
}

TEST(AnthropicGeneration, ReadsSeedsOfAllSixtyFourBits) {
  EXPECT_EQ(parsed(R"("seed":18446744073709551615)").sampling.seed, 18446744073709551615u);
  EXPECT_EQ(parsed(R"("seed":-1)").sampling.seed, 18446744073709551615u);
  EXPECT_EQ(parsed(R"("seed":0)").sampling.seed, 0u);
  EXPECT_NE(complaint(R"("seed":1.5)"), "");
  EXPECT_NE(complaint(R"("seed":1e300)"), "");
  EXPECT_NE(complaint(R"("seed":"x")"), "");
}

TEST(AnthropicGeneration, ReadsLogitBiasInBothForms) {
  for (const char* form :
       {R"("logit_bias":{"17":-100,"3":2.5})", R"("logit_bias":[[17,-100],[3,2.5]])"}) {
    const auto biases = parsed(form).sampling.logit_bias;
    ASSERT_EQ(biases.size(), 2u) << form;
    EXPECT_EQ(biases[0].token, 17);
    EXPECT_EQ(biases[0].bias, -100.0f);
    EXPECT_EQ(biases[1].token, 3);
    EXPECT_EQ(biases[1].bias, 2.5f);
  }
}

TEST(AnthropicGeneration, NamesTheEntryOfABadLogitBias) {
  EXPECT_EQ(complaint(R"("logit_bias":5)"),
            "logit_bias: must be an object or an array of pairs, got 5");
  for (const char* key : {"x", "-1", "1x", " 1", "", "4294967296"}) {
    EXPECT_EQ(complaint(R"("logit_bias":{")" + std::string(key) + R"(":1})"),
              "logit_bias: must have token ids as keys")
        << key;
  }
  EXPECT_EQ(complaint(R"("logit_bias":{"1":"x"})"),
            "logit_bias.1: must be a number from -1000 to 1000, got \"x\"");
  EXPECT_EQ(complaint(R"("logit_bias":[[1,1e400]])"),
            "logit_bias[0][1]: must be a number from -1000 to 1000, got a number too large to "
            "hold");
  EXPECT_EQ(complaint(R"("logit_bias":[[1]])"),
            "logit_bias[0]: must be a pair of token id and bias");
  EXPECT_EQ(complaint(R"("logit_bias":[[1,2,3]])"),
            "logit_bias[0]: must have at most 2 entries, got 3");
  EXPECT_EQ(complaint(R"("logit_bias":[[-1,2]])"),
            "logit_bias[0][0]: must be an integer from 0 to 2147483647, got -1");
}

TEST(AnthropicGeneration, BoundsTheLogitBias) {
  std::string entries = R"("0":1)";
  for (std::size_t i = 1; i < limits::kLogitBiasMax; ++i) {
    entries += ",\"" + std::to_string(i) + "\":1";
  }
  EXPECT_EQ(complaint(R"("logit_bias":{)" + entries + "}"), "");
  EXPECT_EQ(complaint(R"("logit_bias":{)" + entries + R"(,"5000":1})"),
            "logit_bias: must have at most 1024 entries, got 1025");
}

TEST(AnthropicGeneration, ReadsStopSequences) {
  using Sequences = std::vector<std::string>;
  EXPECT_EQ(parsed(R"("stop_sequences":["b","a\n","b"])").stop_sequences,
            (Sequences{"b", "a\n", "b"}));
  EXPECT_EQ(parsed(R"("stop_sequences":[])").stop_sequences, Sequences{});
  EXPECT_EQ(parsed(R"("stop_sequences":"one")").stop_sequences, Sequences{"one"});
  EXPECT_EQ(parsed(R"("stop":"one")").stop_sequences, Sequences{"one"});
  EXPECT_EQ(parsed(R"("stop":["one","two"])").stop_sequences, (Sequences{"one", "two"}));
}

TEST(AnthropicGeneration, NamesTheBadStopSequenceUnderTheNameThatWasSent) {
  EXPECT_EQ(complaint(R"("stop_sequences":["a",""])"), "stop_sequences[1]: must not be empty");
  EXPECT_EQ(complaint(R"("stop_sequences":[1])"), "stop_sequences[0]: must be a string, got 1");
  EXPECT_EQ(complaint(R"("stop_sequences":{})"), "stop_sequences: must be an array, got an object");
  EXPECT_EQ(complaint(R"("stop":"")"), "stop: must not be empty");
  EXPECT_EQ(complaint(R"("stop":[null])"), "stop[0]: must be a string, got null");
}

TEST(AnthropicGeneration, BoundsTheStopSequences) {
  std::string many = "\"s\"";
  for (std::size_t i = 1; i < limits::kStopSequencesMax; ++i) many += ",\"s\"";
  EXPECT_EQ(complaint(R"("stop_sequences":[)" + many + "]"), "");
  EXPECT_EQ(complaint(R"("stop_sequences":[)" + many + ",\"s\"]"),
            "stop_sequences: must have at most 64 entries, got 65");
  const std::string longest(limits::kStopSequenceBytesMax, 's');
  EXPECT_EQ(complaint(R"("stop_sequences":[")" + longest + "\"]"), "");
  EXPECT_EQ(complaint(R"("stop_sequences":[")" + longest + "s\"]"),
            "stop_sequences[0]: must be at most 1024 bytes long, got 1025");
}

TEST(AnthropicGeneration, ReadsAnAliasOnlyWhenTheRealFieldIsAbsent) {
  EXPECT_EQ(parsed(R"("max_completion_tokens":9)").max_tokens, 9u);
  EXPECT_EQ(parsed(R"("max_tokens":null,"max_completion_tokens":9)").max_tokens, 9u);
  EXPECT_EQ(parsed(R"("max_tokens":3,"max_completion_tokens":9)").max_tokens, 3u);
  EXPECT_EQ(complaint(R"("max_completion_tokens":-9)"),
            "max_completion_tokens: must be an integer from 0 to 2147483647, got -9");
}

TEST(AnthropicGeneration, StrictModeRefusesFieldsOfOtherApis) {
  for (const std::string field : {"stop", "max_completion_tokens", "min_p", "seed", "logit_bias"}) {
    EXPECT_EQ(complaint(R"("max_tokens":1,")" + field + "\":1", Strictness::kStrict),
              field + ": is not a field of the Messages API (strict mode)");
  }
}

TEST(AnthropicGeneration, StrictModeRefusesBlankStopSequencesAndBareStrings) {
  EXPECT_EQ(parsed(R"("stop_sequences":["\n\n"])").stop_sequences.size(), 1u);
  EXPECT_EQ(complaint(R"("max_tokens":1,"stop_sequences":["\n\n"])", Strictness::kStrict),
            "stop_sequences[0]: must contain a character that is not white space");
  EXPECT_EQ(complaint(R"("max_tokens":1,"stop_sequences":"x")", Strictness::kStrict),
            "stop_sequences: must be an array, got \"x\"");
}

TEST(AnthropicGeneration, ReadsPenalties) {
  const SamplingParameters sampling =
      parsed(R"("presence_penalty":-2,"frequency_penalty":0.5,"repetition_penalty":1.25)").sampling;
  EXPECT_EQ(sampling.presence_penalty, -2.0f);
  EXPECT_EQ(sampling.frequency_penalty, 0.5f);
  EXPECT_EQ(sampling.repetition_penalty, 1.25f);
  EXPECT_EQ(parsed(R"("repeat_penalty":10)").sampling.repetition_penalty, 10.0f);
  EXPECT_EQ(parsed(R"("repeat_penalty":2,"repetition_penalty":3)").sampling.repetition_penalty,
            3.0f);
  EXPECT_EQ(
      parsed(R"("presence_penalty":null,"repetition_penalty":null)").sampling.repetition_penalty,
      1.0f);
}

TEST(AnthropicGeneration, RefusesImpossiblePenalties) {
  EXPECT_EQ(complaint(R"("presence_penalty":2.5)"),
            "presence_penalty: must be a number from -2 to 2, got 2.5");
  EXPECT_EQ(complaint(R"("frequency_penalty":"x")"),
            "frequency_penalty: must be a number from -2 to 2, got \"x\"");
  EXPECT_EQ(complaint(R"("repetition_penalty":0)"),
            "repetition_penalty: must be a number above 0, got 0");
  EXPECT_EQ(complaint(R"("repetition_penalty":1e-60)"),
            "repetition_penalty: must be a number above 0, got 1e-60");
  EXPECT_EQ(complaint(R"("repeat_penalty":11)"),
            "repeat_penalty: must be a number from 0 to 10, got 11");
}

TEST(AnthropicGeneration, StrictModeKnowsNoFieldsOfOtherApis) {
  for (const std::string field :
       {"stop", "max_completion_tokens", "max_output_tokens", "repeat_penalty",
        "repetition_penalty", "presence_penalty", "frequency_penalty", "min_p", "seed",
        "logit_bias", "response_format", "reasoning_effort", "parallel_tool_calls"}) {
    EXPECT_EQ(complaint(R"("max_tokens":1,")" + field + "\":1", Strictness::kStrict),
              field + ": is not a field of the Messages API (strict mode)");
  }
}

}  // namespace
}  // namespace zerohop
