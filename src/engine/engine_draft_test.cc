// Drafts change when tokens are computed and nothing else: every answer is held against the one
// that the same request gets without them.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "engine/engine_constraint_kit.h"
#include "engine/engine_draft_kit.h"
#include "engine/engine_harness.h"
#include "engine/engine_layouts.h"

namespace zerohop {
namespace {

EngineOptions with(Speculation mode, std::uint32_t draft_tokens_max = 8) {
  EngineOptions options;
  options.speculation.mode = mode;
  options.speculation.draft_tokens_max = draft_tokens_max;
  return options;
}

FakeModelOptions copying_model(double chance = 0.9) {
  FakeModelOptions options = endless_model();
  options.script = copying(7, chance);
  options.script_logit = 30;
  return options;
}

const std::string kText = "a piece of text that is long enough to be copied, and more of it. ";

DraftCounts drafts(const EngineHarness& engine) { return engine.loop->snapshot().drafts; }

// ---- what it gains ----

TEST(EngineDraft, TakesFewerStepsForAnAnswerThatCopiesItsPrompt) {
  std::size_t steps[2];
  std::string texts[2];
  for (const Speculation mode : {Speculation::kOff, Speculation::kNgram}) {
    EngineHarness engine(copying_model(), harness_context(), with(mode));
    const auto client = engine.complete({.prompt = kText, .max_tokens = 80});
    steps[mode == Speculation::kNgram] = engine.steps.size();
    texts[mode == Speculation::kNgram] = client->text();
    EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 80u);
    EXPECT_EQ(drafts(engine).accepted > 40, mode == Speculation::kNgram);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_LT(steps[1] * 3, steps[0] * 2);
}

TEST(EngineDraft, CountsWhatWasDraftedAndWhatCameOfIt) {
  EngineHarness engine(copying_model(0.6), harness_context(), with(Speculation::kNgram));
  const auto client = engine.complete({.prompt = kText, .max_tokens = 150});
  const DraftCounts counts = drafts(engine);
  EXPECT_GT(counts.accepted, 0u);
  EXPECT_GT(counts.rejected(), 0u);
  EXPECT_GT(counts.steps, 0u);
  EXPECT_LE(counts.drafted, counts.steps * 8);
  // A step brings what it accepted and one token more.
  EXPECT_EQ(engine.loop->snapshot().output_tokens, 150u);
  std::uint64_t sampled = 0;
  std::uint64_t rows = 0;
  for (const StepReport& step : engine.steps) {
    sampled += step.sampled;
    rows += step.rows;
  }
  EXPECT_EQ(sampled, 150u);
  const std::uint64_t prompt = client->find<Finished>()->usage.prompt_tokens;
  EXPECT_EQ(rows, prompt + 149 + counts.rejected());
}

TEST(EngineDraft, IsTriedWhereStepsPayOnlyUnlessAlways) {
  // Rows as expensive as steps: nothing can be gained.
  FakeModelOptions dear = copying_model();
  dear.cost.base = Duration(1);
  for (const Speculation mode : {Speculation::kAuto, Speculation::kNgram}) {
    EngineHarness engine(dear, harness_context(), with(mode));
    for (int i = 0; i < 4; ++i) engine.complete({.prompt = kText, .max_tokens = 150});
    const std::uint64_t drafted = drafts(engine).drafted;
    if (mode == Speculation::kNgram) {
      EXPECT_GT(drafted, 200u);
    } else {
      EXPECT_LT(drafted, 40u);  // until the cost of a row is known
    }
  }
  FakeModelOptions cheap = copying_model();
  cheap.cost.per_row = Duration(1000);
  EngineHarness engine(cheap, harness_context(), with(Speculation::kAuto));
  engine.complete({.prompt = kText, .max_tokens = 150});
  EXPECT_GT(drafts(engine).accepted, 75u);
}

// ---- where there is none ----

struct Case {
  std::string name;
  ContextOptions context = harness_context();
  EngineOptions options = with(Speculation::kNgram);
  std::uint32_t answers = 1;
  bool can_cut_tail = true;
  bool drafts = false;
};

TEST(EngineDraft, IsLeftOutWhereItCannotBeDoneOrDoesNotPay) {
  std::vector<Case> cases;
  cases.push_back({.name = "as a control", .drafts = true});
  cases.push_back({.name = "off", .options = with(Speculation::kOff)});
  cases.push_back({.name = "no tail can be cut", .can_cut_tail = false});
  cases.push_back({.name = "exact", .context = harness_context(KvLayout::kStreams)});
  cases.back().options.exactness = Exactness::kExact;
  cases.push_back({.name = "one stream", .context = harness_context(KvLayout::kStreams)});
  cases.back().drafts = true;
  cases.push_back({.name = "streams", .context = harness_context(KvLayout::kStreams)});
  cases.back().answers = 2;
  cases.push_back({.name = "no logits for it"});
  cases.back().context.logit_rows = 1;
  for (const std::uint32_t answers : {7u, 8u}) {
    cases.push_back({.name = std::to_string(answers) + " answers"});
    Case& full = cases.back();
    full.context.sequences = full.answers = answers;
    full.context.logit_rows = 40;
    full.options = with(Speculation::kAuto);
    full.drafts = answers < limits::kDraftAnswersMax;
  }
  for (const Case& one : cases) {
    FakeModelOptions model = copying_model();
    model.can_cut_tail = one.can_cut_tail;
    model.cost.per_row = Duration(1000);
    EngineHarness engine(model, one.context, one.options);
    for (std::uint32_t i = 0; i < one.answers; ++i) {
      engine.submit({.prompt = static_cast<char>('A' + i) + kText, .max_tokens = 60});
    }
    while (engine.loop->snapshot().requests_finished == 0) ASSERT_TRUE(engine.step());
    EXPECT_EQ(drafts(engine).drafted > 0, one.drafts) << one.name;
  }
}

TEST(EngineDraft, LeavesStepsWithAPromptToThePrompt) {
  EngineHarness engine(copying_model(), harness_context(), with(Speculation::kNgram));
  const auto first = engine.submit({.prompt = kText, .max_tokens = 150});
  for (int i = 0; i < 6; ++i) engine.step();
  EXPECT_GT(drafts(engine).drafted, 0u);
  engine.submit({.prompt = prompt_of(180, 3), .max_tokens = 1});
  const std::size_t before = engine.steps.size();
  int with_prompt = 0;
  while (engine.step() && engine.loop->snapshot().prefilling > 0) {
    ++with_prompt;
    EXPECT_EQ(engine.steps.back().sampled, 1u);
  }
  EXPECT_GT(with_prompt, 1);
  EXPECT_GT(engine.steps.size(), before);
  engine.run();
}

// ---- exactness ----

// A request that can be made again.
struct Ask {
  std::string prompt = kText;
  std::uint32_t max_tokens = 60;
  SamplingParameters sampling{.temperature = 0, .seed = 3};
  std::vector<std::string> stops;
  std::optional<std::uint32_t> top_logprobs;
  std::shared_ptr<const CompiledConstraint> constraint;
  std::optional<std::uint64_t> budget;

  HarnessRequest request() const {
    HarnessRequest made{.prompt = prompt, .max_tokens = max_tokens, .sampling = sampling};
    made.stops = stops;
    made.top_logprobs = top_logprobs;
    made.constraint = constraint;
    if (budget) made.meter = std::make_unique<CountedBudget>(*budget);
    return made;
  }
};

std::vector<Ask> make_kinds() {
  std::vector<Ask> asks;
  asks.push_back({});
  asks.push_back({.sampling = {.temperature = 1, .seed = 5}});
  asks.push_back({.sampling = {.temperature = 1.4f, .top_p = 0.9f, .top_k = 20, .seed = 6}});
  asks.push_back({.sampling = {.temperature = 0.8f, .min_p = 0.05f, .seed = 7}});
  asks.push_back({.sampling = {.temperature = 1, .seed = 8, .frequency_penalty = 1.5f}});
  asks.push_back(
      {.sampling = {.temperature = 0, .presence_penalty = 4, .repetition_penalty = 1.3f}});
  asks.push_back({.sampling = {.temperature = 1, .seed = 9, .logit_bias = {{'e', 5}, {'t', -9}}}});
  asks.push_back({.sampling = {.temperature = 1, .seed = 10}, .top_logprobs = 3});
  asks.push_back({.stops = {"copied", "enough to", "zz"}});
  asks.push_back({.budget = 23});
  asks.push_back({.constraint = regex("[a-z ,.]*").compiled()});
  asks.push_back(
      {.sampling = {.temperature = 1, .seed = 11}, .constraint = keyed_values(3).compiled()});
  return asks;
}

const std::vector<Ask>& all_kinds() {
  static const std::vector<Ask> kinds = make_kinds();
  return kinds;
}

TEST(EngineDraft, SaysTheSameForEveryKindOfSampling) {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  for (const float logit : {8.0f, 30.0f}) {
    for (const Ask& ask : all_kinds()) {
      FakeModelOptions model = copying_model(0.7);
      model.script_logit = logit;
      EngineHarness plain(model, harness_context(), with(Speculation::kOff));
      const HeardAnswer expected = heard(*plain.complete(ask.request()));
      for (const std::uint32_t most : {1u, 3u, 15u}) {
        EngineHarness engine(model, harness_context(), with(Speculation::kNgram, most));
        EXPECT_EQ(heard(*engine.complete(ask.request())), expected);
        EXPECT_EQ(engine.loop->snapshot().tokens_charged, plain.loop->snapshot().tokens_charged);
        EXPECT_EQ(engine.loop->snapshot().constraints.checks,
                  plain.loop->snapshot().constraints.checks);
        accepted += drafts(engine).accepted;
        rejected += drafts(engine).rejected();
      }
    }
  }
  EXPECT_GT(accepted, 500u);
  EXPECT_GT(rejected, 500u);
}

// What the cache has afterwards is what it had without drafts: a later request that goes on from
// the answer finds as much of it, and the same text.
TEST(EngineDraft, LeavesNothingInTheCacheThatWasNotSaid) {
  for (const std::uint32_t length : {3u, 17u, 40u, 61u}) {
    std::optional<HeardAnswer> expected;
    for (const Speculation mode : {Speculation::kOff, Speculation::kNgram}) {
      EngineHarness engine(copying_model(0.7), harness_context(), with(mode, 12));
      const auto first = engine.complete({.prompt = kText, .max_tokens = length});
      const auto second =
          engine.complete({.prompt = kText + first->text() + " and then?", .max_tokens = 30});
      const HeardAnswer answer = heard(*second);
      EXPECT_GT(answer.usage.prompt_tokens_cached, first->find<Finished>()->usage.prompt_tokens);
      if (!expected) expected = answer;
      EXPECT_EQ(answer, *expected) << length;
    }
  }
}

TEST(EngineDraft, CutsADraftInFrontOfItsFirstIllegalToken) {
  // The text before repeats words with capitals, which the answer may not have.
  const std::string prompt = "one two Three four. one two Three four. one two";
  FakeModelOptions model = copying_model(1.0);
  EngineHarness plain(model, harness_context(), with(Speculation::kOff));
  EngineHarness engine(model, harness_context(), with(Speculation::kNgram, 8));
  Ask ask{.prompt = prompt, .max_tokens = 40};
  ask.constraint = regex("[a-z .]*").compiled();
  EXPECT_EQ(heard(*engine.complete(ask.request())), heard(*plain.complete(ask.request())));
  EXPECT_GT(drafts(engine).accepted, 0u);
}

TEST(EngineDraft, EndsWhereTheAnswerEndsInsideADraft) {
  // The prompt repeats an answer that ends its turn: what stands behind that end is never drafted.
  FakeModelOptions model = endless_model();
  const std::string said = "and so it goes on for a while until it ends";
  const std::string turn = "<|im_start|>assistant\n" + said + "<|im_end|>";
  const auto ends = make_fake_model(model);
  model.script = fake_reply(*ends, said);
  EngineHarness engine(model, harness_context(), with(Speculation::kNgram, 15));
  const auto client =
      engine.complete({.prompt = turn + "more" + "<|im_start|>assistant\n", .max_tokens = 90});
  EXPECT_EQ(client->text(), said);
  EXPECT_EQ(client->find<Finished>()->reason, FinishReason::kEndOfTurn);
  EXPECT_GT(drafts(engine).accepted, 10u);
}

// For every kind of sampling: a row that is computed again must not have taken a number from the
// generator, nor counted for a penalty, a budget or a constraint.
TEST(EngineDraft, SurvivesLogitsThatAreNoNumbersBehindADraft) {
  std::uint64_t accepted = 0;
  for (const Ask& ask : all_kinds()) {
    EngineHarness plain(copying_model(), harness_context(), with(Speculation::kOff));
    const HeardAnswer expected = heard(*plain.complete(ask.request()));
    for (int bad = 1; bad < 60; bad += 3) {
      FakeModelOptions model = copying_model();
      auto rows = std::make_shared<int>(0);
      model.not_finite = [rows, bad](const BatchRow&) { return ++*rows == bad; };
      EngineHarness engine(model, harness_context(), with(Speculation::kNgram));
      EXPECT_EQ(heard(*engine.complete(ask.request())), expected) << bad;
      const DraftCounts counts = drafts(engine);
      EXPECT_LE(counts.accepted, counts.drafted);
      EXPECT_LE(counts.accepted, expected.usage.output_tokens) << "what came stands in the answer";
      accepted += counts.accepted;
    }
  }
  EXPECT_GT(accepted, 500u);
}

// A machine that cannot compute the rows of a draft; every other step succeeds.
TEST(EngineDraft, IsGivenUpWhereItsRowsMakeStepsFail) {
  for (const DecodeStatus status : {DecodeStatus::kNoRoom, DecodeStatus::kFatal}) {
    FakeModelOptions model = copying_model();
    auto failures = std::make_shared<int>(0);
    model.fault = [failures, status](std::span<const BatchRow> rows) {
      if (std::ranges::count(rows, true, &BatchRow::wants_logits) < 2) return DecodeStatus::kOk;
      ++*failures;
      return status;
    };
    EngineHarness engine(model, harness_context(), with(Speculation::kNgram));
    const auto client = engine.complete({.prompt = kText, .max_tokens = 150});
    ASSERT_NE(client->find<Finished>(), nullptr);
    EXPECT_EQ(client->find<Finished>()->usage.output_tokens, 150u);
    EXPECT_GT(*failures, 0);
    EXPECT_LT(*failures, 20);
  }
}

TEST(EngineDraft, FailsTheSameRequestsWhoseLogitsAreNeverNumbers) {
  std::vector<std::string> texts;
  for (const Speculation mode : {Speculation::kOff, Speculation::kNgram}) {
    FakeModelOptions model = copying_model();
    const auto poison = static_cast<std::int32_t>(kText.size()) + 20;
    model.not_finite = [poison](const BatchRow& row) { return row.position == poison; };
    EngineHarness engine(model, harness_context(), with(mode));
    const auto client = engine.complete(Ask{}.request());
    ASSERT_NE(client->find<Failed>(), nullptr);
    EXPECT_EQ(client->find<Failed>()->error.code, ErrorCode::kModelFailure);
    texts.push_back(client->text());
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[1], texts[0]);
}

// ---- whatever happens ----

// One small world of random requests on a random engine, some with misfortunes.
class DraftWorld {
 public:
  explicit DraftWorld(std::uint64_t seed) : random_(mix64(seed)), seed_(seed) {
    model_ = endless_model();
    model_.seed = seed;
    model_.end_of_turn_chance = pick({0.0, 0.02});
    model_.script = copying(seed, pick({0.3, 0.7, 0.95}));
    model_.script_logit = static_cast<float>(pick({8.0, 11.0, 30.0}));
    model_.cost.per_row = std::chrono::microseconds(1 + random_.below(3'000));
    context_ = harness_context(random_.chance(0.3) ? KvLayout::kStreams : KvLayout::kUnified);
    context_.sequences = 1 + static_cast<std::uint32_t>(random_.below(9));
    context_.logit_rows = context_.sequences + static_cast<std::uint32_t>(random_.below(24));
    context_.batch_rows = std::max(context_.logit_rows, 64u);
    if (context_.layout == KvLayout::kUnified) {
      context_.parked = random_.chance(0.5) ? 8 : 0;
      // Few cells: running answers are parked for others.
      if (random_.chance(0.5)) {
        context_.cells = context_.window + static_cast<std::uint32_t>(random_.below(150));
      }
    }
    options_ = with(random_.chance(0.7) ? Speculation::kNgram : Speculation::kAuto,
                    1 + static_cast<std::uint32_t>(random_.below(20)));
    options_.look_ahead_tokens = 1 + static_cast<std::uint32_t>(random_.below(40));
    if (random_.chance(0.5)) options_.cache.host_bytes_max = 1u << 20;
    const auto count = 1 + random_.below(6);
    for (std::uint64_t i = 0; i < count; ++i) asks_.push_back(random_ask());
    faults_ = random_.chance(0.3);
  }

  void run(std::map<std::string, std::uint64_t>& counts) {
    std::vector<HeardAnswer> expected;
    for (const Ask& ask : asks_) expected.push_back(alone(ask));
    FakeModelOptions model = model_;
    if (faults_) model.fault = faults();
    EngineHarness engine(model, context_, options_);
    std::vector<Client> clients;
    std::size_t next = 0;
    while (next < asks_.size() || !all_over(clients)) {
      if (next < asks_.size() && (clients.empty() || random_.chance(0.3))) {
        clients.push_back({engine.submit(asks_[next++].request()), leaves_behind()});
      }
      const bool stepped = engine.step();
      for (Client& client : clients) tick(client);
      if (!stepped && next == asks_.size()) break;
    }
    engine.run();
    for (std::size_t i = 0; i < clients.size(); ++i) {
      clients[i].client->read();
      check(clients[i], expected[i], counts);
    }
    count_up(engine.loop->snapshot(), counts);
  }

 private:
  struct Client {
    std::shared_ptr<HarnessClient> client;
    std::optional<std::size_t> leaves_behind;  // bytes of text
    bool left = false;
  };

  double pick(std::initializer_list<double> choices) {
    return *(choices.begin() + random_.below(choices.size()));
  }
  std::optional<std::size_t> leaves_behind() {
    if (!random_.chance(0.2)) return std::nullopt;
    return random_.below(60);
  }

  Ask random_ask() {
    Ask ask = all_kinds()[random_.below(all_kinds().size())];
    ask.sampling.seed = random_.next();
    ask.prompt = prompt_of(5 + random_.below(60), random_.next());
    if (random_.chance(0.6)) ask.prompt += ask.prompt.substr(0, random_.below(ask.prompt.size()));
    ask.max_tokens = 20 + static_cast<std::uint32_t>(random_.below(80));
    if (random_.chance(0.2))
      ask.stops = {std::string(1, static_cast<char>('a' + random_.below(26)))};
    if (ask.constraint) ask.max_tokens += 60;  // the shortest of these texts is 58 tokens
    if (!ask.constraint && random_.chance(0.1)) ask.budget = 15 + random_.below(50);
    return ask;
  }

  // Now and then a decode fails, never twice in a row.
  FakeFault faults() {
    auto random = std::make_shared<Random>(mix64(seed_ + 1));
    auto since = std::make_shared<int>(0);
    return [random, since](std::span<const BatchRow>) {
      if (++*since < 12 || !random->chance(0.08)) return DecodeStatus::kOk;
      *since = 0;
      return random->chance(0.5) ? DecodeStatus::kFatal : DecodeStatus::kNoRoom;
    };
  }

  HeardAnswer alone(const Ask& ask) const {
    ContextOptions context = harness_context();
    context.sequences = 1;
    EngineOptions options = with(Speculation::kOff);
    options.cache.keep = KeepRule::kNothing;
    EngineHarness engine(model_, context, options);
    return heard(*engine.complete(ask.request()));
  }

  static bool all_over(const std::vector<Client>& clients) {
    return std::ranges::all_of(clients, [](const Client& c) { return c.left || c.client->done; });
  }

  static void tick(Client& client) {
    if (client.left) return;
    client.client->read();
    if (client.leaves_behind && client.client->text().size() >= *client.leaves_behind) {
      client.client->stream->cancel();
      client.left = true;
    }
  }

  void check(const Client& client, const HeardAnswer& expected,
             std::map<std::string, std::uint64_t>& counts) const {
    HeardAnswer answer = heard(*client.client);
    if (answer.failed || (client.left && !answer.reason)) {
      ++counts[client.left ? "left" : "failed"];
      EXPECT_TRUE(expected.text.starts_with(answer.text)) << "seed " << seed_;
      EXPECT_TRUE(!client.left || !answer.failed) << "seed " << seed_;
      EXPECT_TRUE(!answer.failed || faults_) << "seed " << seed_ << ": " << answer.error;
      return;
    }
    answer.usage.prompt_tokens_cached = expected.usage.prompt_tokens_cached;  // others were before
    EXPECT_EQ(answer, expected) << "seed " << seed_;
    ++counts["answered"];
  }

  static void count_up(const EngineSnapshot& state, std::map<std::string, std::uint64_t>& counts) {
    counts["accepted"] += state.drafts.accepted;
    counts["rejected"] += state.drafts.rejected();
    counts["parked"] += state.parks_for_cells + state.parks_for_fairness;
    counts["fatal"] += state.retries_fatal;
    counts["no room"] += state.retries_no_room;
    counts["forced"] += state.constraints.forced_tokens;
  }

  Random random_;
  const std::uint64_t seed_;
  FakeModelOptions model_;
  ContextOptions context_;
  EngineOptions options_;
  std::vector<Ask> asks_;
  bool faults_ = false;
};

TEST(EngineDraft, ChangesNoAnswerWhateverHappens) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= 1'200 && !HasFailure(); ++seed) DraftWorld(seed).run(counts);
  for (const char* name :
       {"answered", "left", "accepted", "rejected", "parked", "fatal", "no room", "forced"}) {
    EXPECT_GT(counts[name], 20u) << name;
  }
  EXPECT_LT(counts["failed"] * 50, counts["answered"]);
}

}  // namespace
}  // namespace zerohop
