#include "api/openai_generation.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "api/openai_test_parse.h"
#include "core/limits.h"

namespace zerohop {
namespace {

using openai_test::chat_complaint;
using openai_test::kStrict;
using openai_test::parsed_chat;

GenerationParameters parsed(std::string_view fields) { return parsed_chat(fields).chat.generation; }

TEST(OpenAiGeneration, DefaultsSampleFromTheWholeDistribution) {
  const GenerationParameters generation = parsed("");
  EXPECT_EQ(generation.max_tokens, limits::kDefaultMaxTokens);
  EXPECT_EQ(generation.sampling.temperature, 1.0f);
  EXPECT_EQ(generation.sampling.top_p, 1.0f);
  EXPECT_EQ(generation.sampling.min_p, 0.0f);
  EXPECT_EQ(generation.sampling.top_k, 0);
  EXPECT_EQ(generation.sampling.presence_penalty, 0.0f);
  EXPECT_EQ(generation.sampling.frequency_penalty, 0.0f);
  EXPECT_EQ(generation.sampling.repetition_penalty, 1.0f);
  EXPECT_FALSE(generation.sampling.seed);
  EXPECT_TRUE(generation.stop_sequences.empty());
  EXPECT_FALSE(generation.top_logprobs);
}

TEST(OpenAiGeneration, PrefersTheNewerNameOfTheOutputLimit) {
  EXPECT_EQ(parsed(R"("max_tokens":5)").max_tokens, 5u);
  EXPECT_EQ(parsed(R"("max_tokens":5,"max_completion_tokens":6)").max_tokens, 6u);
  EXPECT_EQ(parsed(R"("max_tokens":0)").max_tokens, 0u);
  EXPECT_EQ(parsed(R"("n_predict":9)").max_tokens, 9u);
}

TEST(OpenAiGeneration, TakesMinusOneForNoLimitUnlessStrict) {
  EXPECT_EQ(parsed(R"("max_tokens":-1)").max_tokens, limits::kDefaultMaxTokens);
  const std::string wanted = "max_tokens: must be an integer from 0 to 2147483647, got ";
  EXPECT_EQ(chat_complaint(R"("max_tokens":-2)"), wanted + "-2");
  EXPECT_EQ(chat_complaint(R"("model":"m","max_tokens":-1)", kStrict), wanted + "-1");
  EXPECT_EQ(chat_complaint(R"("max_tokens":"5")"), wanted + "\"5\"");
}

TEST(OpenAiGeneration, AllowsHotTemperaturesUnlessStrict) {
  EXPECT_EQ(parsed(R"("temperature":3)").sampling.temperature, 3.0f);
  EXPECT_EQ(chat_complaint(R"("temperature":101)"),
            "temperature: must be a number from 0 to 100, got 101");
  EXPECT_EQ(chat_complaint(R"("model":"m","temperature":3)", kStrict),
            "temperature: must be a number from 0 to 2, got 3");
}

TEST(OpenAiGeneration, ReadsPenalties) {
  const SamplingParameters sampling =
      parsed(R"("presence_penalty":1.5,"frequency_penalty":-0.5,"repetition_penalty":1.25)")
          .sampling;
  EXPECT_EQ(sampling.presence_penalty, 1.5f);
  EXPECT_EQ(sampling.frequency_penalty, -0.5f);
  EXPECT_EQ(sampling.repetition_penalty, 1.25f);
  EXPECT_EQ(parsed(R"("repeat_penalty":1.5)").sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(parsed(R"("presence_penalty":3)").sampling.presence_penalty, 3.0f);
}

TEST(OpenAiGeneration, RefusesImpossiblePenalties) {
  EXPECT_EQ(chat_complaint(R"("repetition_penalty":0)"),
            "repetition_penalty: must be a number above 0, got 0");
  EXPECT_EQ(chat_complaint(R"("repetition_penalty":1e-300)"),
            "repetition_penalty: must be a number above 0, got 1e-300");
  EXPECT_EQ(chat_complaint(R"("frequency_penalty":true)"),
            "frequency_penalty: must be a number from -100 to 100, got true");
  EXPECT_EQ(chat_complaint(R"("model":"m","presence_penalty":3)", kStrict),
            "presence_penalty: must be a number from -2 to 2, got 3");
}

TEST(OpenAiGeneration, ReadsWhatOtherServersTake) {
  const SamplingParameters sampling = parsed(R"("top_k":40,"min_p":0.125,"top_p":0)").sampling;
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.min_p, 0.125f);
  EXPECT_EQ(sampling.top_p, std::numeric_limits<float>::min());
  EXPECT_EQ(parsed(R"("top_k":-1)").sampling.top_k, 0);
  EXPECT_EQ(chat_complaint(R"("top_k":-2)"),
            "top_k: must be an integer from -1 to 2147483647, got -2");
}

TEST(OpenAiGeneration, KeepsEverySeedButMinusOne) {
  EXPECT_EQ(parsed(R"("seed":42)").sampling.seed, 42u);
  EXPECT_EQ(parsed(R"("seed":18446744073709551615)").sampling.seed, 18'446'744'073'709'551'615u);
  EXPECT_EQ(parsed(R"("seed":-2)").sampling.seed, static_cast<std::uint64_t>(-2));
  EXPECT_FALSE(parsed(R"("seed":-1)").sampling.seed);
}

TEST(OpenAiGeneration, ReadsBothShapesOfLogitBias) {
  const auto object = parsed(R"("logit_bias":{"5":-100,"6":1.5})").sampling.logit_bias;
  ASSERT_EQ(object.size(), 2u);
  EXPECT_EQ(object[0].token, 5);
  EXPECT_EQ(object[0].bias, -100.0f);
  EXPECT_EQ(object[1].bias, 1.5f);
  const auto pairs = parsed(R"("logit_bias":[[5,2],[6,false]])").sampling.logit_bias;
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].bias, 2.0f);
  EXPECT_EQ(pairs[1].bias, static_cast<float>(-limits::kLogitBiasMagnitudeMax));
}

TEST(OpenAiGeneration, RefusesOddLogitBiases) {
  EXPECT_EQ(chat_complaint(R"("logit_bias":{"five":1})"),
            "logit_bias: must have token ids as keys");
  EXPECT_EQ(chat_complaint(R"("logit_bias":{"-5":1})"), "logit_bias: must have token ids as keys");
  EXPECT_EQ(chat_complaint(R"("logit_bias":{"5":"x"})"),
            "logit_bias.5: must be a number from -1000 to 1000, got \"x\"");
  EXPECT_EQ(chat_complaint(R"("logit_bias":[[5]])"),
            "logit_bias[0]: must be a pair of token id and bias");
  EXPECT_EQ(chat_complaint(R"("logit_bias":[[5,true]])"),
            "logit_bias[0][1]: must be a number from -1000 to 1000, got true");
  EXPECT_EQ(chat_complaint(R"("logit_bias":7)"),
            "logit_bias: must be an object or an array of pairs, got 7");
}

TEST(OpenAiGeneration, ReadsStopsAsStringOrArray) {
  EXPECT_EQ(parsed(R"("stop":"END")").stop_sequences, std::vector<std::string>{"END"});
  EXPECT_EQ(parsed(R"("stop":["a","","b"])").stop_sequences, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parsed(R"("stop":"")").stop_sequences.empty());
  EXPECT_EQ(parsed(R"("stop":["1","2","3","4","5"])").stop_sequences.size(), 5u);
}

TEST(OpenAiGeneration, RefusesImpossibleStops) {
  EXPECT_EQ(chat_complaint(R"("stop":5)"), "stop: must be a string or an array of strings, got 5");
  EXPECT_EQ(chat_complaint(R"("stop":["a",5])"), "stop[1]: must be a string, got 5");
  EXPECT_EQ(chat_complaint(R"("model":"m","stop":"")", kStrict), "stop: must not be empty");
  EXPECT_EQ(chat_complaint(R"("model":"m","stop":["1","2","3","4","5"])", kStrict),
            "stop: must have at most 4 entries, got 5");
  const std::string longest(limits::kStopSequenceBytesMax, 'x');
  EXPECT_EQ(parsed("\"stop\":\"" + longest + "\"").stop_sequences.size(), 1u);
  EXPECT_EQ(chat_complaint("\"stop\":\"" + longest + "x\""),
            "stop: must be at most 1024 bytes long, got 1025");
}

TEST(OpenAiGeneration, BoundsTheNumberOfChoices) {
  EXPECT_EQ(parsed_chat("").chat.choices, 1u);
  EXPECT_EQ(parsed_chat(R"("n":8)").chat.choices, 8u);
  EXPECT_EQ(chat_complaint(R"("n":9)"), "n: must be an integer from 1 to 8, got 9");
  EXPECT_EQ(chat_complaint(R"("n":0)"), "n: must be an integer from 1 to 8, got 0");
}

}  // namespace
}  // namespace zerohop
