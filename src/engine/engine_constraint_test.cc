// Answers that follow a constraint: whatever the model wants and however few tokens there are, the
// text is a legal one, or the request was refused before anything was computed.

#include <gtest/gtest.h>

#include "engine/engine_constraint_kit.h"

namespace zerohop {
namespace {

// The model wants this token wherever it is.
FakeModelOptions wants(Token token) {
  FakeModelOptions options = endless_model();
  options.script = [token](TokenSpan) { return token; };
  return options;
}

// Takes the text up to `>` for a call.
class EndingStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view bytes, std::vector<Event>&) override {
    return bytes == ">" ? StageVerdict{FinishReason::kToolUse, ""} : StageVerdict{};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>&) override { return reason; }
};

const Finished& finished(const HarnessClient& client) {
  const auto* end = client.find<Finished>();
  ZH_CHECK(end != nullptr);
  return *end;
}

const Error* refusal(const HarnessClient& client) {
  const auto* failed = client.find<Failed>();
  return failed ? &failed->error : nullptr;
}

std::size_t tokens_of(const EngineHarness& engine, const std::string& text) {
  return engine.model->tokenizer().tokenize(text, SpecialTokens::kInert).size();
}

struct Tally {
  int answers = 0;
  int refusals = 0;
  int cut = 0;  // answers that ended for want of tokens
};

void count_answer(const EngineHarness& engine, const HarnessClient& client,
                  const TestConstraint& constraint, std::uint32_t max_tokens, Tally& tally) {
  const std::size_t needed = tokens_of(engine, constraint.shortest());
  if (const Error* error = refusal(client)) {
    ++tally.refusals;
    EXPECT_EQ(error->code, ErrorCode::kInvalidRequest);
    EXPECT_GT(needed, max_tokens);
    EXPECT_EQ(client.find<Started>(), nullptr);
    return;
  }
  ++tally.answers;
  EXPECT_LE(needed, max_tokens);
  EXPECT_TRUE(constraint.allows(client.text())) << client.text();
  EXPECT_LE(finished(client).usage.output_tokens, max_tokens);
  if (finished(client).reason == FinishReason::kMaxTokens) ++tally.cut;
}

Tally ask_with_every_limit(const TestConstraint& constraint, EngineOptions options) {
  Tally tally;
  FakeModelOptions model = endless_model();
  model.end_of_turn_chance = 0.1;
  EngineHarness engine(model, harness_context(), options);
  for (std::uint32_t max_tokens = 1; max_tokens <= 60; ++max_tokens) {
    for (const double temperature : {0.0, 1.0, 1.5}) {
      SCOPED_TRACE(testing::Message() << max_tokens << " tokens at " << temperature);
      const std::string prompt = "say" + std::to_string(max_tokens);
      const auto client = engine.complete(constrained(constraint, max_tokens, temperature, prompt));
      count_answer(engine, *client, constraint, max_tokens, tally);
    }
  }
  EXPECT_EQ(engine.loop->snapshot().constraints.refused,
            static_cast<std::uint64_t>(tally.refusals));
  return tally;
}

TEST(EngineConstraint, AnswersWithALegalTextOrRefusesHoweverFewTokensThereAre) {
  const std::vector<TestConstraint> constraints{
      record(),
      calls(),
      calls(1),
      choice({"yes", "no", "perhaps the other one", "perhaps"}),
      regex("\"([^\"\\\\\\x00-\\x1f]|\\\\[nt\"])*\""),
      regex("[a-c]*"),
      regex("(ab){3,20}"),
  };
  for (const std::uint32_t forced : {0u, 1u, 3u, limits::kForcedTokensMax}) {
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "constraint " << i << ", forced " << forced);
      EngineOptions options;
      options.forced_tokens = forced;
      const Tally tally = ask_with_every_limit(constraints[i], options);
      EXPECT_GT(tally.answers, 0);
      const bool may_be_empty = constraints[i].shortest().empty();
      EXPECT_EQ(tally.refusals > 0, !may_be_empty && constraints[i].shortest().size() > 1);
    }
  }
}

TEST(EngineConstraint, SaysHowManyTokensAreNeededWhereTheLimitIsTooSmall) {
  EngineHarness engine(endless_model(), harness_context());
  const auto client = engine.complete(constrained(regex("[0-9]{12}"), 5));
  ASSERT_NE(refusal(*client), nullptr);
  EXPECT_EQ(refusal(*client)->field, "max_tokens");
  EXPECT_EQ(refusal(*client)->message,
            "the shortest answer that the asked for structure allows takes 12 tokens, but only 5 "
            "may be generated");
  EXPECT_EQ(engine.steps.size(), 0u);
  EXPECT_EQ(engine.loop->snapshot().requests_failed, 1u);
}

TEST(EngineConstraint, SaysSoWhereTheWindowLeavesTooLittle) {
  EngineHarness engine(endless_model(), harness_context());
  const auto client =
      engine.complete(constrained(regex("[0-9]{12}"), 50, 0, std::string(250, 'p')));
  ASSERT_NE(refusal(*client), nullptr);
  EXPECT_EQ(refusal(*client)->message,
            "the shortest answer that the asked for structure allows takes 12 tokens, but a prompt "
            "of 250 tokens leaves 6 in the context window of 256");
  EXPECT_EQ(engine.steps.size(), 0u);
}

TEST(EngineConstraint, ClosesAtTheEndOfTheWindowAndSaysSo) {
  EngineHarness engine(wants('x'), harness_context());
  const auto client = engine.complete(constrained(regex("<[a-z]*>"), 50, 0, std::string(250, 'p')));
  EXPECT_EQ(client->text(), "<xxxx>");
  EXPECT_EQ(finished(*client).reason, FinishReason::kContextWindow);
}

TEST(EngineConstraint, EndsWhereTheTextIsCompleteWithoutAFurtherStep) {
  EngineHarness engine(wants('x'), harness_context());
  EngineOptions each;
  each.forced_tokens = 0;
  EngineHarness slow(wants('x'), harness_context(), each);
  const TestConstraint constraint = regex("x{4}");
  const auto client = slow.complete(constrained(constraint, 50));
  EXPECT_EQ(client->text(), "xxxx");
  EXPECT_EQ(finished(*client).reason, FinishReason::kEndOfTurn);
  EXPECT_EQ(finished(*client).usage.output_tokens, 4u);
  EXPECT_EQ(slow.steps.size(), 4u);
  // What follows the first token is forced: the step of the prompt is the only one.
  EXPECT_EQ(engine.complete(constrained(constraint, 50))->text(), "xxxx");
  EXPECT_EQ(engine.steps.size(), 1u);
}

TEST(EngineConstraint, LetsTheModelEndOnlyWhereTheTextMay) {
  EngineHarness engine(wants(FakeTokens::kEnd), harness_context());
  const auto client = engine.complete(constrained(regex("[a-z]{3,}"), 50));
  EXPECT_EQ(client->text().size(), 3u);
  EXPECT_EQ(finished(*client).reason, FinishReason::kEndOfTurn);
  EXPECT_GT(engine.loop->snapshot().constraints.misses, 0u);
}

TEST(EngineConstraint, SaysWhetherAnAnswerIsWholeOrWasBroughtToItsEnd) {
  struct Case {
    const char* pattern;
    std::uint32_t max_tokens;
    const char* text;
    FinishReason reason;
    bool closed_early = false;
  };
  for (const Case& one : {
           Case{"x{4}", 4, "xxxx", FinishReason::kEndOfTurn},         // whole, with the last token
           Case{"x{2,4}", 4, "xxxx", FinishReason::kEndOfTurn},       // likewise
           Case{"x{2,9}", 4, "xxxx", FinishReason::kMaxTokens},       // could have gone on
           Case{"<x*>", 5, "<xxx>", FinishReason::kMaxTokens, true},  // had to close
           Case{"<x{3}>", 5, "<xxx>", FinishReason::kEndOfTurn},      // closed by itself
           Case{"<(x{9}|y)>", 5, "<y>", FinishReason::kMaxTokens, true},  // had to be the short one
           // Had to close, and could have gone on behind the end.
           Case{"<x*>y*", 5, "<xxx>", FinishReason::kMaxTokens, true},
       }) {
    EngineHarness engine(wants('x'), harness_context());
    const auto client = engine.complete(constrained(regex(one.pattern), one.max_tokens));
    EXPECT_EQ(client->text(), one.text) << one.pattern;
    EXPECT_EQ(finished(*client).reason, one.reason) << one.pattern;
    EXPECT_EQ(engine.loop->snapshot().constraints.closed_early, one.closed_early ? 1u : 0u)
        << one.pattern;
  }
}

// A stage that knows by itself where a call is whole: the constraint ends there as well, or could
// go on.
TEST(EngineConstraint, SaysThatAnAnswerWasBroughtToItsEndWhereItsStageEndsIt) {
  for (const char* pattern : {"<x*>", "<x*>y*"}) {
    for (const std::uint32_t max_tokens : {5u, 50u}) {
      for (const bool cut : {false, true}) {
        SCOPED_TRACE(testing::Message() << pattern << " " << max_tokens << " " << cut);
        EngineHarness engine(wants(cut ? 'x' : '>'), harness_context());
        HarnessRequest request = constrained(regex(pattern), max_tokens);
        request.stage = std::make_unique<EndingStage>();
        const auto client = engine.complete(std::move(request));
        EXPECT_EQ(finished(*client).reason,
                  cut ? FinishReason::kMaxTokens : FinishReason::kToolUse);
        EXPECT_EQ(finished(*client).usage.output_tokens, cut ? max_tokens : 2u);
        EXPECT_EQ(engine.loop->snapshot().constraints.closed_early, cut ? 1u : 0u);
      }
    }
  }
}

// A stop sequence is what the client asked for, however many tokens were left.
TEST(EngineConstraint, SaysThatAStopSequenceMatchedInATextThatHadToEnd) {
  EngineHarness engine(wants('x'), harness_context());
  HarnessRequest request = constrained(regex("<x*>"), 5);
  request.stops = {">"};
  const auto client = engine.complete(std::move(request));
  EXPECT_EQ(finished(*client).reason, FinishReason::kStopSequence);
  EXPECT_EQ(engine.loop->snapshot().constraints.closed_early, 1u);
}

// One that says beforehand where it will cut, or does not.
class Budget final : public TokenMeter {
 public:
  enum class Foresight : std::uint8_t { kNone, kFull };
  Budget(std::uint64_t tokens, Foresight foresight) : left_(tokens), foresight_(foresight) {}
  bool spend_output_token() override {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  std::optional<std::uint64_t> remaining() const override {
    return foresight_ == Foresight::kFull ? std::optional(left_) : std::nullopt;
  }

 private:
  std::uint64_t left_;
  const Foresight foresight_;
};

TEST(EngineConstraint, ClosesTheTextWithinABudgetThatIsKnown) {
  for (std::uint64_t tokens = 2; tokens < 12; ++tokens) {
    EngineHarness engine(wants('x'), harness_context());
    HarnessRequest request = constrained(regex("<x*>"), 50);
    request.meter = std::make_unique<Budget>(tokens, Budget::Foresight::kFull);
    const auto client = engine.complete(std::move(request));
    EXPECT_EQ(client->text(), "<" + std::string(tokens - 2, 'x') + ">");
    EXPECT_EQ(finished(*client).reason, FinishReason::kMaxTokens);
  }
}

// Of what binds the least wins; where several do, what the client can change.
TEST(EngineConstraint, SaysWhatLeavesNoRoom) {
  const std::string shortest =
      "the shortest answer that the asked for structure allows takes 20 tokens, but ";
  struct Case {
    std::uint64_t budget;
    std::uint32_t max_tokens;
    std::size_t prompt;
    const char* field;
    std::string message;
  };
  for (const Case& one : {
           Case{19, 50, 3, "", "the token budget of this request leaves 19"},
           Case{17, 19, 238, "", "the token budget of this request leaves 17"},
           Case{19, 19, 3, "max_tokens", "only 19 may be generated"},
           Case{30, 17, 237, "max_tokens", "only 17 may be generated"},
           Case{18, 50, 238, "", "a prompt of 238 tokens leaves 18 in the context window of 256"},
       }) {
    EngineHarness engine(wants('x'), harness_context());
    HarnessRequest request =
        constrained(regex("x{20}"), one.max_tokens, 0, std::string(one.prompt, 'p'));
    request.meter = std::make_unique<Budget>(one.budget, Budget::Foresight::kFull);
    const auto client = engine.complete(std::move(request));
    ASSERT_NE(refusal(*client), nullptr);
    EXPECT_EQ(refusal(*client)->field, one.field);
    EXPECT_EQ(refusal(*client)->message, shortest + one.message);
  }
}

TEST(EngineConstraint, CutsOnTheExactTokenOfABudgetThatSaysNothing) {
  EngineHarness engine(wants('x'), harness_context());
  HarnessRequest request = constrained(regex("<x*>"), 50);
  request.meter = std::make_unique<Budget>(9, Budget::Foresight::kNone);
  const auto client = engine.complete(std::move(request));
  EXPECT_EQ(client->text(), "<xxxxxxxx");
  EXPECT_EQ(finished(*client).reason, FinishReason::kMaxTokens);
}

// The table of a model with other tokens than the context has; the engine looks only at the table.
TEST(EngineConstraint, RefusesConstraintsWhereTheVocabularyCannotWriteEverything) {
  EngineHarness engine(endless_model(), harness_context());
  const TokenTable& whole = engine.model->tokenizer().table();
  TokenTable table;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto token = static_cast<Token>(i);
    table.add(token == 'q' ? "qu" : whole.bytes(token), whole.is_control(token),
              whole.is_end_of_generation(token));
  }
  EngineParts parts;
  parts.context = std::move(engine.model->make_context(harness_context())).value();
  parts.tokens = &table;
  parts.clock = &engine.clock;
  parts.waker = &engine.waker;
  EngineOptions options;
  options.window = 256;
  EngineLoop loop(std::move(parts), options);
  EngineRequest request;
  request.prompt = {'a'};
  request.max_tokens = 10;
  request.constraint = regex("[a-z]+").compiled();
  request.stage = std::make_unique<PlainStage>();
  request.stream = loop.make_stream();
  const Result<void> refused = loop.submit(std::move(request));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(refused.error().message.find("cannot be constrained"), std::string::npos);
  EXPECT_FALSE(loop.prepare_constraints().ok());
}

TEST(EngineConstraint, AsksForControlTokensByTheTextsThatTheyStandFor) {
  EngineHarness engine(wants(FakeTokens::kBegin), harness_context());
  engine.loop->set_marker_texts({{FakeTokens::kBegin, "<call>"}, {FakeTokens::kEnd, "</call>"}});
  const auto client = engine.complete(constrained(regex("<call>[0-9]{2}</call>"), 50));
  // The table has no bytes for the mark; an end token is never one.
  EXPECT_EQ(client->text().substr(2), "</call>");
  EXPECT_EQ(finished(*client).usage.output_tokens, 1 + 2 + 7u);
}

TEST(EngineConstraint, WritesForcedMarksAsTheControlTokensThatTheyAre) {
  EngineHarness engine(wants('x'), harness_context());
  engine.loop->set_marker_texts({{FakeTokens::kBegin, "<call>"}});
  const auto client = engine.complete(constrained(regex("x{2}-<call>y<call>"), 50));
  EXPECT_EQ(client->text(), "xx-y");
  EXPECT_EQ(finished(*client).usage.output_tokens, 6u);
}

TEST(EngineConstraint, ComputesForcedTextInFewerSteps) {
  EngineOptions each;
  each.speculation.mode = Speculation::kOff;
  EngineHarness fast(endless_model(), harness_context(), each);
  each.forced_tokens = 0;
  EngineHarness slow(endless_model(), harness_context(), each);
  const TestConstraint constraint = keyed_values(8);
  for (EngineHarness* engine : {&slow, &fast}) {
    const auto client = engine->complete(constrained(constraint, 200, 1));
    EXPECT_TRUE(constraint.allows(client->text())) << client->text();
    const EngineSnapshot end = engine->loop->snapshot();
    const Usage& usage = finished(*client).usage;
    EXPECT_EQ(end.output_tokens, usage.output_tokens);
    std::uint32_t sampled = 0;
    for (const StepReport& step : engine->steps) sampled += step.sampled;
    EXPECT_EQ(sampled + end.constraints.forced_tokens, usage.output_tokens);
    // Each token is computed once and paid for once, but for those behind the last sampled one.
    std::uint64_t rows = 0;
    for (const StepReport& step : engine->steps) rows += step.rows;
    EXPECT_EQ(end.tokens_charged, rows);
    EXPECT_LT(rows, usage.prompt_tokens + usage.output_tokens);
  }
  EXPECT_EQ(slow.loop->snapshot().constraints.forced_tokens, 0u);
  EXPECT_GT(fast.loop->snapshot().constraints.forced_tokens, 20u);
  EXPECT_LT(2 * fast.steps.size(), slow.steps.size());
}

TEST(EngineConstraint, SamplesEveryTokenWhereLogProbabilitiesAreWanted) {
  EngineHarness engine(endless_model(), harness_context());
  const TestConstraint constraint = record();
  HarnessRequest request = constrained(constraint, 100);
  request.top_logprobs = 2;
  const auto client = engine.complete(std::move(request));
  EXPECT_TRUE(constraint.allows(client->text()));
  EXPECT_EQ(engine.loop->snapshot().constraints.forced_tokens, 0u);
  std::uint32_t chances = 0;
  for (const Event& event : client->events) chances += std::holds_alternative<TokenLogprobs>(event);
  EXPECT_EQ(chances, finished(*client).usage.output_tokens);
}

// A frequency penalty as strong as this forbids a second x, if the forced ones are counted.
TEST(EngineConstraint, CountsForcedTokensForPenalties) {
  EngineHarness engine(wants('x'), harness_context());
  HarnessRequest request = constrained(regex("[ab]xxx[xyz]"), 50);
  request.sampling.frequency_penalty = 10;
  const auto client = engine.complete(std::move(request));
  ASSERT_EQ(client->text().size(), 5u);
  EXPECT_EQ(client->text().substr(1, 3), "xxx");
  EXPECT_NE(client->text().back(), 'x');
}

TEST(EngineConstraint, RequestsWithTheSameConstraintShareItsMachineAndMasks) {
  const TestConstraint constraint = record();
  EngineHarness one(endless_model(), harness_context());
  one.complete(constrained(constraint, 60, 1.2));
  EngineHarness four(endless_model(), harness_context());
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(four.submit(constrained(constraint, 60, 1.2)));
  four.run();
  for (const auto& client : clients) {
    client->read();
    EXPECT_EQ(client->text(), clients.front()->text());
  }
  const ConstraintCounts alone = one.loop->snapshot().constraints;
  const ConstraintCounts shared = four.loop->snapshot().constraints;
  EXPECT_EQ(shared.machines, 1u);
  EXPECT_EQ(shared.masks_built, alone.masks_built);
  EXPECT_EQ(shared.misses, 4 * alone.misses);
  EXPECT_EQ(shared.mask_hits, shared.misses - shared.masks_built);
  EXPECT_GT(shared.mask_bytes, 0u);
  EXPECT_GT(shared.machine_bytes, 0u);
}

TEST(EngineConstraint, KeepsIdleMachinesWithinTheirBytes) {
  EngineOptions options;
  options.constraint_idle_bytes = 0;
  EngineHarness engine(endless_model(), harness_context(), options);
  engine.complete(constrained(record(), 60));
  EXPECT_EQ(engine.loop->snapshot().constraints.machines, 0u);
}

// A stage that takes everything for the arguments of a call.
class CallStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view bytes, std::vector<Event>& events) override {
    if (!begun_) events.push_back(ToolCallStarted{"id", "name"});
    begun_ = true;
    events.push_back(ToolCallDelta{std::string(bytes)});
    return {};
  }
  FinishReason flush(FinishReason reason, std::vector<Event>&) override { return reason; }

 private:
  bool begun_ = false;
};

std::string arguments(const HarnessClient& client) {
  std::string json;
  for (const Event& event : client.events) {
    if (const auto* delta = std::get_if<ToolCallDelta>(&event)) json += delta->json;
  }
  return json;
}

TEST(EngineConstraint, FavoursValuesThatTheConversationHas) {
  for (const std::string value : {"A-17", "B-99", "C-5"}) {
    EngineHarness engine(endless_model(), harness_context());
    HarnessRequest request =
        constrained(regex(R"re(\{"note": "[ABC]", "id": "[ABC]-[0-9]*"\})re"), 60);
    request.stage = std::make_unique<CallStage>();
    request.soft_rules = std::make_shared<const std::vector<SoftRule>>(
        std::vector<SoftRule>{{"name", "id", {"\"" + value + "\""}, 100.0f}});
    const auto client = engine.complete(std::move(request));
    EXPECT_NE(arguments(*client).find("\"id\": \"" + value + "\""), std::string::npos)
        << arguments(*client);
  }
}

}  // namespace
}  // namespace zerohop
