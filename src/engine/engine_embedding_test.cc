// Vectors beside running streams, on the fake model.

#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "engine/engine_harness.h"
#include "engine/engine_thread.h"

namespace zerohop {
namespace {

using Vector = std::vector<float>;

// A job and what its callback was told.
struct Vectors {
  std::shared_ptr<EmbeddingJob> job;
  std::optional<Result<Embeddings>> result;
  int calls = 0;
};

std::vector<Token> text_of(const Model& model, const std::string& text) {
  return model.tokenizer().tokenize(text, SpecialTokens::kInert);
}

std::shared_ptr<Vectors> submit(EngineHarness& engine, const std::vector<std::string>& texts) {
  auto vectors = std::make_shared<Vectors>();
  EmbeddingRequest request;
  for (const std::string& text : texts) request.inputs.push_back(text_of(*engine.model, text));
  request.on_done = [vectors](Result<Embeddings> result) {
    vectors->result = std::move(result);
    ++vectors->calls;
  };
  auto submitted = engine.loop->submit_embedding(std::move(request));
  if (submitted.ok()) {
    vectors->job = std::move(submitted).value();
  } else {
    vectors->result = std::move(submitted).error();
  }
  return vectors;
}

std::string filler(std::size_t bytes, char first = 'a') {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(first + i * 7 % 23));
  return text;
}

// One row at a time on a context of its own, pooled by the definition.
Vector plain_vector(const Model& model, TokenSpan tokens, PoolingType pooling) {
  ContextOptions options;
  options.sequences = 1;
  options.window = static_cast<std::uint32_t>(tokens.size());
  options.embeddings = true;
  const auto context = model.make_context(options).value();
  std::vector<double> sum(8, 0.0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const BatchRow row{tokens[i], static_cast<std::int32_t>(i), SlotId(0), false};
    ZH_CHECK(context->decode({&row, 1}) == DecodeStatus::kOk);
    const bool taken = pooling == PoolingType::kMean ||
                       (pooling == PoolingType::kFirst && i == 0) ||
                       (pooling == PoolingType::kLast && i + 1 == tokens.size());
    if (!taken) continue;
    for (std::size_t d = 0; d < 8; ++d) sum[d] += static_cast<double>(context->embedding(0)[d]);
  }
  double squares = 0;
  for (const double value : sum) squares += value * value;
  Vector vector;
  for (const double value : sum) vector.push_back(static_cast<float>(value / std::sqrt(squares)));
  return vector;
}

void expect_near(const Vector& left, const Vector& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], 1e-6);
}

void expect_vectors(EngineHarness& engine, const std::vector<std::string>& texts,
                    PoolingType pooling) {
  const auto vectors = submit(engine, texts);
  engine.run();
  ASSERT_EQ(vectors->calls, 1);
  ASSERT_TRUE(vectors->result->ok());
  const Embeddings& embeddings = vectors->result->value();
  ASSERT_EQ(embeddings.vectors.size(), texts.size());
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<Token> input = text_of(*engine.model, texts[i]);
    expect_near(embeddings.vectors[i], plain_vector(*engine.model, input, pooling));
    tokens += input.size();
  }
  EXPECT_EQ(embeddings.tokens, tokens);
}

TEST(EngineEmbedding, PoolsEveryKindOfModelLikeAPlainLoop) {
  for (const PoolingType pooling : {PoolingType::kMean, PoolingType::kFirst, PoolingType::kLast}) {
    FakeModelOptions options = endless_model();
    options.pooling = pooling;
    EngineHarness engine(options, harness_context());
    expect_vectors(
        engine, {filler(1), filler(63), filler(64), filler(65), filler(200), filler(256)}, pooling);
    std::vector<std::string> many;
    for (std::size_t i = 0; i < 70; ++i) many.push_back(filler(1 + i * 13 % 90, 'b'));
    expect_vectors(engine, many, pooling);
  }
}

TEST(EngineEmbedding, PoolsByTheMeanWhereTheModelNamesNothing) {
  EngineHarness engine(endless_model(), harness_context());
  expect_vectors(engine, {filler(150)}, PoolingType::kMean);
}

TEST(EngineEmbedding, GivesTheSameVectorsInExactMode) {
  EngineOptions options;
  options.exactness = Exactness::kExact;
  EngineHarness engine(endless_model(), harness_context(KvLayout::kStreams), options);
  expect_vectors(engine, {filler(100), filler(3), filler(16)}, PoolingType::kMean);
}

TEST(EngineEmbedding, ComputesSeveralShortInputsInOnePiece) {
  std::size_t decodes = 0;
  FakeModelOptions options = endless_model();
  options.fault = [&decodes](std::span<const BatchRow>) {
    ++decodes;
    return DecodeStatus::kOk;
  };
  EngineHarness engine(options, harness_context());
  std::vector<std::string> texts(12, filler(2));
  submit(engine, texts);
  engine.run();
  EXPECT_EQ(decodes, 1u);
  EXPECT_EQ(engine.loop->snapshot().embedding_tokens, 12 * text_of(*engine.model, texts[0]).size());
}

TEST(EngineEmbedding, RefusesAnInputThatIsTooLong) {
  EngineHarness engine(endless_model(), harness_context());
  const auto vectors = submit(engine, {"fine", std::string(257, '.')});
  ASSERT_FALSE(vectors->result->ok());
  EXPECT_EQ(vectors->result->error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(vectors->result->error().field, "input[1]");
  EXPECT_EQ(vectors->result->error().message, "input is too long: 257 tokens > 256 maximum");
  EXPECT_FALSE(engine.loop->step());
}

TEST(EngineEmbedding, RefusesForAModelThatRanks) {
  FakeModelOptions options = endless_model();
  options.pooling = PoolingType::kRank;
  EngineHarness engine(options, harness_context());
  EXPECT_EQ(submit(engine, {"x"})->result->error().code, ErrorCode::kInvalidRequest);
}

TEST(EngineEmbedding, RefusesWhenTheQueueIsFull) {
  EngineOptions options;
  options.queue.requests_max = 2;
  EngineHarness engine(endless_model(), harness_context(), options);
  submit(engine, {"1"});
  submit(engine, {"2"});
  EXPECT_EQ(submit(engine, {"3"})->result->error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(engine.loop->snapshot().embeddings, 0u);  // as of the last step
  engine.run();
  const auto later = submit(engine, {"4"});
  engine.run();
  EXPECT_TRUE(later->result->ok());
}

TEST(EngineEmbedding, EndsACancelledJobWithoutHarmToOthers) {
  EngineHarness engine(endless_model(), harness_context());
  const auto running = submit(engine, {filler(250), filler(250)});
  const auto waiting = submit(engine, {filler(250)});
  const auto other = submit(engine, {filler(100)});
  engine.loop->step();
  running->job->cancel();
  waiting->job->cancel();
  engine.loop->step();
  for (const auto& job : {running, waiting}) {
    ASSERT_EQ(job->calls, 1);
    EXPECT_EQ(job->result->error().code, ErrorCode::kCancelled);
  }
  engine.run();
  ASSERT_EQ(other->calls, 1);
  expect_near(other->result->value().vectors[0],
              plain_vector(*engine.model, text_of(*engine.model, filler(100)), PoolingType::kMean));
}

TEST(EngineEmbedding, StopsThePieceThatRunsWhenItsJobIsCancelled) {
  std::shared_ptr<Vectors> victim;
  FakeModelOptions options = endless_model();
  options.fault = [&victim](std::span<const BatchRow>) {
    if (victim) victim->job->cancel();  // while the decode runs
    return DecodeStatus::kOk;
  };
  EngineHarness engine(options, harness_context());
  victim = submit(engine, {filler(60)});
  engine.loop->step();
  EXPECT_EQ(engine.loop->snapshot().embedding_tokens, 0u);
  EXPECT_FALSE(engine.loop->step());
  EXPECT_EQ(victim->result->error().code, ErrorCode::kCancelled);
}

TEST(EngineEmbedding, RepeatsAFailedPieceOnce) {
  for (const int failures : {1, 2}) {
    int left = failures;
    int decodes = 0;
    FakeModelOptions options = endless_model();
    options.fault = [&](std::span<const BatchRow>) {
      const bool fails = ++decodes >= 2 && left-- > 0;
      return fails ? DecodeStatus::kFatal : DecodeStatus::kOk;
    };
    EngineHarness engine(options, harness_context());
    const auto vectors = submit(engine, {filler(200)});
    engine.run();
    ASSERT_EQ(vectors->calls, 1);
    if (failures == 2) {
      EXPECT_EQ(vectors->result->error().code, ErrorCode::kModelFailure);
    } else {
      ASSERT_TRUE(vectors->result->ok());
      left = 0;
      expect_near(
          vectors->result->value().vectors[0],
          plain_vector(*engine.model, text_of(*engine.model, filler(200)), PoolingType::kMean));
    }
  }
}

// A step's time is estimated, from what steps took before.
constexpr Duration kPace = limits::kItlObjective * 21 / 20;

TEST(EngineEmbedding, KeepsRunningStreamsAtTheirPace) {
  EngineHarness engine(endless_model(), harness_context());
  const auto talker = engine.submit({.prompt = "talk", .max_tokens = 200});
  engine.loop->step();
  const auto vectors = submit(engine, {filler(250), filler(250)});
  while (vectors->calls == 0) {
    const TimePoint begin = engine.clock.now();
    const std::size_t steps = engine.steps.size();
    ASSERT_TRUE(engine.loop->step());
    ASSERT_EQ(engine.steps.size(), steps + 1);
    EXPECT_EQ(engine.steps.back().sampled, 1u);
    EXPECT_LE(engine.clock.now() - begin, kPace);
  }
  talker->read();
  EXPECT_FALSE(talker->done);  // the vectors did not wait for its end
  engine.run();
}

TEST(EngineEmbedding, KeepsPaceDuringALongPrefillAsWell) {
  EngineHarness engine(endless_model(), harness_context());
  const auto talker = engine.submit({.prompt = "talk", .max_tokens = 60});
  engine.loop->step();
  submit(engine, {filler(250)});
  engine.submit({.prompt = filler(200, 'c'), .max_tokens = 1});
  while (engine.loop->snapshot().prefilling + engine.loop->snapshot().queued > 0 ||
         engine.loop->snapshot().embeddings > 0) {
    const TimePoint begin = engine.clock.now();
    ASSERT_TRUE(engine.loop->step());
    EXPECT_LE(engine.clock.now() - begin, kPace);
  }
  engine.run();
}

TEST(EngineEmbedding, LetsJobsTakeTurns) {
  EngineHarness engine(endless_model(), harness_context());
  const auto large = submit(engine, std::vector<std::string>(50, filler(60)));
  const auto small = submit(engine, {filler(60)});
  int steps = 0;
  while (small->calls == 0 && ++steps < 20) engine.loop->step();
  EXPECT_EQ(small->calls, 1);
  EXPECT_EQ(large->calls, 0);
  engine.run();
  EXPECT_EQ(large->calls, 1);
}

TEST(EngineEmbedding, EndsJobsWithATypedErrorWhenStopped) {
  EngineHarness engine(endless_model(), harness_context());
  const auto running = submit(engine, {filler(250)});
  const auto waiting = submit(engine, {filler(250)});
  engine.loop->step();
  engine.loop->stop();
  EXPECT_FALSE(engine.loop->step());
  engine.loop->fail_all();
  for (const auto& job : {running, waiting}) {
    ASSERT_EQ(job->calls, 1);
    EXPECT_EQ(job->result->error().code, ErrorCode::kShuttingDown);
  }
  EXPECT_EQ(submit(engine, {"late"})->result->error().code, ErrorCode::kShuttingDown);
}

// An Embedder of its own, for what a harness does not offer.
struct Alone {
  explicit Alone(EmbeddingSupport support)
      : embedder(std::move(support), {8, false, &clock, [] { return false; }}) {}

  ErrorCode failure_of(const Model& model) {
    std::optional<Result<Embeddings>> result;
    EmbeddingRequest request;
    request.inputs = {text_of(model, "text")};
    request.on_done = [&result](Result<Embeddings> done) { result = std::move(done); };
    const auto submitted = embedder.submit(std::move(request), [] {});
    if (!submitted.ok()) return submitted.error().code;
    while (embedder.take_work()) embedder.step(std::chrono::milliseconds(100));
    return result->ok() ? ErrorCode::kCancelled : result->error().code;
  }

  VirtualClock clock;
  Embedder embedder;
};

TEST(Embedder, RefusesWhereThereIsNoSupport) {
  Alone alone({});
  EXPECT_EQ(alone.failure_of(*make_fake_model({})), ErrorCode::kInvalidRequest);
}

TEST(Embedder, SaysThatThereIsNoRoomForItsContextAndTriesAgain) {
  const auto model = make_fake_model({});
  bool room = false;
  EmbeddingSupport support;
  support.window = 64;
  support.batch_rows = 64;
  support.make_context = [&]() -> Result<std::unique_ptr<ModelContext>> {
    if (!room) return Error{ErrorCode::kConfiguration, "too large", "window", {}};
    return model->make_context(embedding_context_options(64, 1));
  };
  Alone alone(support);
  EXPECT_EQ(alone.failure_of(*model), ErrorCode::kInternal);
  room = true;
  EXPECT_EQ(alone.failure_of(*model), ErrorCode::kCancelled);  // that is: none
}

TEST(EngineThread, WakesForEmbeddings) {
  EngineHarness engine(endless_model(), harness_context());
  EngineThread thread(*engine.loop);
  std::promise<Result<Embeddings>> promise;
  EmbeddingRequest request;
  request.inputs = {text_of(*engine.model, filler(100))};
  request.on_done = [&promise](Result<Embeddings> done) { promise.set_value(std::move(done)); };
  ASSERT_TRUE(engine.loop->submit_embedding(std::move(request)).ok());
  EXPECT_TRUE(promise.get_future().get().ok());
  thread.stop();
}

}  // namespace
}  // namespace zerohop
