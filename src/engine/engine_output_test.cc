// How an answer ends and what comes with its tokens: output stages, log-probabilities, penalties.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/engine_harness.h"

namespace zerohop {
namespace {

FakeModelOptions repeats(char letter) {
  FakeModelOptions options = endless_model();
  options.script = [letter](TokenSpan) { return static_cast<Token>(letter); };
  return options;
}

// Thinks for two tokens, then calls a tool, as the stages of the server would report it.
class ToolStage final : public OutputStage {
 public:
  /// The call is complete with token number `end_at`; 0: never.
  explicit ToolStage(std::uint32_t end_at) : end_at_(end_at) {}

  StageVerdict accept(Token, std::string_view bytes, std::vector<Event>& events) override {
    ++tokens_;
    if (tokens_ <= 2) {
      ++thinking_;
      events.push_back(ThinkingDelta{std::string(bytes)});
      return {};
    }
    if (tokens_ == 3) events.push_back(ToolCallStarted{"call", "look"});
    events.push_back(ToolCallDelta{std::string(bytes)});
    if (tokens_ == end_at_) return {FinishReason::kToolUse, {}};
    return {};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>& events) override {
    flushed = true;
    if (tokens_ < 3) {
      ++thinking_;  // held back until now
      events.push_back(ThinkingDelta{"rest"});
      return reason;
    }
    events.push_back(ToolCallDelta{"}"});
    return FinishReason::kToolUse;
  }
  std::uint32_t thinking_tokens() const override { return thinking_; }

  static inline bool flushed = false;

 private:
  const std::uint32_t end_at_;
  std::uint32_t tokens_ = 0;
  std::uint32_t thinking_ = 0;
};

std::shared_ptr<HarnessClient> call_tool(std::uint32_t end_at, std::uint32_t max_tokens) {
  EngineHarness engine(repeats('x'), harness_context());
  HarnessRequest request{.prompt = "p", .max_tokens = max_tokens};
  request.stage = std::make_unique<ToolStage>(end_at);
  ToolStage::flushed = false;
  return engine.complete(std::move(request));
}

TEST(EngineOutput, EndsWithTheReasonOfTheStagesVerdict) {
  const auto client = call_tool(5, 50);
  const auto* finished = client->find<Finished>();
  ASSERT_NE(finished, nullptr);
  EXPECT_EQ(finished->reason, FinishReason::kToolUse);
  EXPECT_EQ(finished->stop_sequence, "");
  EXPECT_EQ(finished->usage.output_tokens, 5u);
  EXPECT_EQ(finished->usage.thinking_tokens, 2u);
  EXPECT_FALSE(ToolStage::flushed);
  ASSERT_NE(client->find<ToolCallDelta>(), nullptr);
  EXPECT_EQ(client->find<ToolCallDelta>()->json, "xxx");  // merged in the stream
  EXPECT_EQ(client->find<ThinkingDelta>()->text, "xx");
}

TEST(EngineOutput, LetsFlushChangeTheReason) {
  const auto client = call_tool(0, 4);
  EXPECT_TRUE(ToolStage::flushed);
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kToolUse);
  EXPECT_EQ(client->find<ToolCallDelta>()->json, "xx}");
}

// What it held back turns out to complete a stop sequence.
class LateStopStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view, std::vector<Event>&) override { return {}; }
  FinishReason flush(FinishReason, std::vector<Event>& events) override {
    events.push_back(TextDelta{"shown"});
    return FinishReason::kStopSequence;
  }
  std::string_view flushed_stop_sequence() const override { return "END"; }
};

TEST(EngineOutput, NamesTheStopSequenceThatTheFlushFound) {
  EngineHarness engine(repeats('x'), harness_context());
  HarnessRequest request{.prompt = "p", .max_tokens = 3};
  request.stage = std::make_unique<LateStopStage>();
  const auto client = engine.complete(std::move(request));
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kStopSequence);
  EXPECT_EQ(client->find<Finished>()->stop_sequence, "END");
  EXPECT_EQ(client->text(), "shown");
}

TEST(EngineOutput, CountsThinkingThatTheFlushShowed) {
  const auto client = call_tool(0, 2);
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kMaxTokens);
  EXPECT_EQ(client->find<Finished>()->usage.thinking_tokens, 3u);
  EXPECT_EQ(client->find<ThinkingDelta>()->text, "xxrest");
}

TEST(EngineOutput, PassesTheMarkedTokensOn) {
  EngineHarness engine(repeats('x'), harness_context());
  const auto client = engine.submit({.prompt = "0123456789", .max_tokens = 1});
  engine.run();
  client->read();
  EXPECT_EQ(client->find<Started>()->usage.prompt_tokens_marked, 0u);
  EngineRequest request;
  request.prompt = engine.model->tokenizer().tokenize("0123456789", SpecialTokens::kInert);
  request.marked_tokens = 6;
  request.max_tokens = 1;
  request.stage = std::make_unique<PlainStage>();
  HarnessClient marked;
  request.stream = marked.stream = engine.loop->make_stream();
  ASSERT_TRUE(engine.loop->submit(std::move(request)).ok());
  engine.run();
  marked.read();
  EXPECT_EQ(marked.find<Started>()->usage.prompt_tokens_marked, 6u);
  EXPECT_EQ(marked.find<Finished>()->usage.prompt_tokens_marked, 6u);
  EXPECT_EQ(marked.find<Finished>()->usage.prompt_tokens_written(), 0u);  // it was in the cache
}

// ---- log-probabilities ----

std::vector<TokenLogprobs> logprobs_of(const HarnessClient& client) {
  std::vector<TokenLogprobs> all;
  for (const Event& event : client.events) {
    if (const auto* one = std::get_if<TokenLogprobs>(&event)) all.push_back(*one);
  }
  return all;
}

double naive_logprob(const std::vector<float>& logits, Token token) {
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - std::log(total);
}

// Bias and penalties change what is drawn, never what is reported.
TEST(EngineOutput, ReportsLogprobsOfTheRawDistribution) {
  SamplingParameters sampling{.temperature = 1.3f, .top_k = 30, .seed = 5};
  sampling.logit_bias = {{'a', 6.0f}, {'b', 6.0f}};
  sampling.frequency_penalty = 0.3f;
  sampling.repetition_penalty = 1.2f;
  EngineHarness engine(endless_model(), harness_context());
  const auto client = engine.complete(
      {.prompt = "tell", .max_tokens = 12, .sampling = sampling, .top_logprobs = 5});
  const std::vector<TokenLogprobs> reported = logprobs_of(*client);
  ASSERT_EQ(reported.size(), 12u);
  std::vector<Token> tokens = engine.model->tokenizer().tokenize("tell", SpecialTokens::kParse);
  for (const TokenLogprobs& one : reported) {
    const std::vector<float> logits = plain_logits(*engine.model, tokens);
    EXPECT_NEAR(one.chosen.logprob, naive_logprob(logits, one.chosen.token), 1e-4);
    EXPECT_EQ(one.chosen.bytes, engine.model->tokenizer().table().bytes(one.chosen.token));
    ASSERT_EQ(one.likeliest.size(), 5u);
    std::vector<float> sorted = logits;
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t i = 0; i < 5; ++i) {
      const auto token = static_cast<std::size_t>(one.likeliest[i].token);
      EXPECT_EQ(logits[token], sorted[i]);
      EXPECT_NEAR(one.likeliest[i].logprob, naive_logprob(logits, one.likeliest[i].token), 1e-4);
    }
    tokens.push_back(one.chosen.token);
  }
}

TEST(EngineOutput, ReportsNoLogprobsUnasked) {
  EngineHarness engine(repeats('x'), harness_context());
  EXPECT_TRUE(logprobs_of(*engine.complete({.prompt = "p"})).empty());
  const auto bare = engine.complete({.prompt = "p", .max_tokens = 3, .top_logprobs = 0});
  ASSERT_EQ(logprobs_of(*bare).size(), 3u);
  EXPECT_TRUE(logprobs_of(*bare)[0].likeliest.empty());
}

TEST(EngineOutput, SendsLogprobsInFrontOfTheTextOfTheirToken) {
  EngineHarness engine(repeats('x'), harness_context());
  const auto client = engine.complete({.prompt = "p", .max_tokens = 2, .top_logprobs = 1});
  ASSERT_EQ(client->events.size(), 6u);  // Started, two pairs, Finished
  EXPECT_TRUE(std::holds_alternative<TokenLogprobs>(client->events[1]));
  EXPECT_TRUE(std::holds_alternative<TextDelta>(client->events[2]));
  EXPECT_TRUE(std::holds_alternative<TokenLogprobs>(client->events[3]));
  EXPECT_TRUE(std::holds_alternative<TextDelta>(client->events[4]));
}

// Shows nothing before the end; stops at "xxx" without showing it.
class SilentStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view bytes, std::vector<Event>&) override {
    text_ += bytes;
    if (text_ == "xxx") return {FinishReason::kStopSequence, "xxx"};
    return {};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>& events) override {
    events.push_back(TextDelta{text_});
    return reason;
  }

 private:
  std::string text_;
};

TEST(EngineOutput, ReportsTokensWhoseTextIsHeldBackOrNeverShown) {
  for (const std::uint32_t max_tokens : {2u, 9u}) {
    EngineHarness engine(repeats('x'), harness_context());
    HarnessRequest request{.prompt = "p", .max_tokens = max_tokens};
    request.top_logprobs = 2;
    request.stage = std::make_unique<SilentStage>();
    const auto client = engine.complete(std::move(request));
    const std::uint32_t tokens = std::min(max_tokens, 3u);
    EXPECT_EQ(client->find<Finished>()->usage.output_tokens, tokens);
    ASSERT_EQ(logprobs_of(*client).size(), tokens);
    for (std::size_t i = 1; i <= tokens; ++i) {
      EXPECT_TRUE(std::holds_alternative<TokenLogprobs>(client->events[i])) << i;
    }
    EXPECT_EQ(client->text(), max_tokens == 2 ? "xx" : "");
  }
}

TEST(EngineOutput, ReportsNoLogprobsOfTheEndOfTheTurn) {
  FakeModelOptions options = endless_model();
  options.script = [](TokenSpan tokens) -> std::optional<Token> {
    return tokens.size() < 4 ? static_cast<Token>('y') : FakeTokens::kEnd;
  };
  EngineHarness engine(options, harness_context());
  const auto client = engine.complete({.prompt = "p", .max_tokens = 9, .top_logprobs = 1});
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kEndOfTurn);
  EXPECT_EQ(logprobs_of(*client).size(), 3u);
}

// ---- penalties ----

// Greedy, with the penalties counted anew from the whole text for every token.
std::string plain_penalised(const Model& model, std::vector<Token> tokens,
                            const SamplingParameters& sampling, std::size_t count) {
  const std::size_t prompt = tokens.size();
  std::string text;
  while (tokens.size() < prompt + count) {
    std::vector<float> logits = plain_logits(model, tokens);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto token = static_cast<Token>(i);
      const auto answer_begin = tokens.begin() + static_cast<std::ptrdiff_t>(prompt);
      const auto in_answer = std::count(answer_begin, tokens.end(), token);
      if (std::count(tokens.begin(), tokens.end(), token) > 0) {
        logits[i] = logits[i] > 0 ? logits[i] / sampling.repetition_penalty
                                  : logits[i] * sampling.repetition_penalty;
      }
      if (in_answer > 0) {
        logits[i] -=
            sampling.presence_penalty + sampling.frequency_penalty * static_cast<float>(in_answer);
      }
    }
    const auto next =
        static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    text += model.tokenizer().table().bytes(next);
    tokens.push_back(next);
  }
  return text;
}

TEST(EngineOutput, PenalisesLikeAPlainLoop) {
  for (const SamplingParameters& sampling :
       {SamplingParameters{.temperature = 0, .frequency_penalty = 0.4f},
        SamplingParameters{.temperature = 0, .presence_penalty = 1.5f},
        SamplingParameters{.temperature = 0, .repetition_penalty = 1.3f},
        SamplingParameters{.temperature = 0,
        .presence_penalty = 0.2f,
        .frequency_penalty = 0.3f,
        .repetition_penalty = 1.1f}}) {
    EngineHarness engine(repeats('p'), harness_context());
    const auto prompt = engine.model->tokenizer().tokenize("prompt", SpecialTokens::kParse);
    const std::string expected = plain_penalised(*engine.model, prompt, sampling, 20);
    EXPECT_NE(expected, std::string(20, 'p'));  // the penalty matters
    const auto client =
        engine.complete({.prompt = "prompt", .max_tokens = 20, .sampling = sampling});
    EXPECT_EQ(client->text(), expected);
  }
}

TEST(EngineOutput, CountsThePenaltiesOfEachAnswerAlone) {
  const SamplingParameters sampling{.temperature = 0, .frequency_penalty = 1.0f};
  EngineHarness alone(repeats('p'), harness_context());
  const std::string expected =
      alone.complete({.prompt = "q", .max_tokens = 10, .sampling = sampling})->text();
  EngineHarness engine(repeats('p'), harness_context());
  const auto first = engine.submit({.prompt = "q", .max_tokens = 10, .sampling = sampling});
  const auto plain = engine.submit({.prompt = "q", .max_tokens = 10});
  const auto second = engine.submit({.prompt = "q", .max_tokens = 10, .sampling = sampling});
  engine.run();
  for (const auto& client : {first, plain, second}) client->read();
  EXPECT_EQ(first->text(), expected);
  EXPECT_EQ(second->text(), expected);
  EXPECT_EQ(plain->text(), std::string(10, 'p'));
}

}  // namespace
}  // namespace zerohop
