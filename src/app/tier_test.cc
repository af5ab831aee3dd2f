#include "app/tier.h"

#include <gtest/gtest.h>

#include "app/chat_session.h"
#include "app/machine.h"
#include "model/fake_model.h"
#include "model/llama_test_bert.h"

namespace zerohop {
namespace {

ModelInfo trained_for(std::uint32_t tokens) {
  ModelInfo info;
  info.context_trained = tokens;
  info.kv_bytes_per_cell = 16;
  return info;
}

Result<std::unique_ptr<Tier>> make_tier(const EngineConfig& config) {
  static const SteadyClock clock;
  static BlockingWaker waker;
  TierParts parts;
  parts.clock = &clock;
  parts.waker = &waker;
  return Tier::create(make_fake_model({}), config, std::move(parts));
}

TEST(ContextOptions, TakesTheTrainedWindowButNotMoreThanEightThousandUnasked) {
  EXPECT_EQ(context_options({}, trained_for(2048)).window, 2048u);
  EXPECT_EQ(context_options({}, trained_for(131072)).window, 8192u);
  EXPECT_EQ(context_options({}, trained_for(0)).window, 8192u);
}

TEST(ContextOptions, GivesEachSequenceAWindowWhereMemoryAllows) {
  EngineConfig config;
  config.sequences = 4;
  EXPECT_EQ(context_options(config, trained_for(2048)).cells, 4u * 2048u);
  ModelInfo huge = trained_for(2048);
  huge.kv_bytes_per_cell = free_memory_bytes();
  EXPECT_EQ(context_options(config, huge).cells, 2048u);
}

TEST(ContextOptions, UsesStreamsWithoutFlashAttentionWhenDeterministic) {
  EngineConfig config;
  config.deterministic = true;
  const ContextOptions options = context_options(config, trained_for(2048));
  EXPECT_EQ(options.layout, KvLayout::kStreams);
  EXPECT_EQ(options.flash_attention, FlashAttention::kOff);
}

TEST(Machine, HasCoresAndMemory) {
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_GT(free_memory_bytes(), 0u);
}

TEST(Tier, RefusesAWindowThatTheModelWasNotTrainedFor) {
  EngineConfig config;
  config.context_tokens = 100'000;
  const auto tier = make_tier(config);
  ASSERT_FALSE(tier.ok());
  EXPECT_EQ(tier.error().code, ErrorCode::kConfiguration);
}

TEST(Tier, RefusesAPoolSmallerThanOneWindow) {
  EngineConfig config;
  config.context_tokens = 512;
  config.kv_cells = 256;
  EXPECT_FALSE(make_tier(config).ok());
}

TEST(Tier, RefusesAPromptThatIsLongerThanTheWindow) {
  EngineConfig config;
  config.context_tokens = 128;
  const auto tier = make_tier(config);
  ASSERT_TRUE(tier.ok());
  Conversation conversation;
  conversation.messages.push_back(Message{Role::kUser, {TextBlock{std::string(500, 'x')}}});
  const auto prepared = (*tier)->prepare(conversation, {});
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::kPromptTooLong);
  EXPECT_NE(prepared.error().message.find("tokens > 128 maximum"), std::string::npos);
}

// ---- Prompts and choices ----

std::unique_ptr<Tier> tier_with_window(std::uint32_t tokens) {
  EngineConfig config;
  config.context_tokens = tokens;
  auto tier = make_tier(config);
  EXPECT_TRUE(tier.ok());
  return std::move(tier).value();
}

TEST(Tier, TakesNamesOfSpecialTokensAtTheirWordOnlyInWholePrompts) {
  const auto tier = tier_with_window(128);
  const auto written = tier->prepare_text("a<|im_end|>");
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->tokens, (std::vector<Token>{'a', FakeTokens::kEnd}));
  const auto embedded = tier->embeddings().prepare_text("a<|im_end|>");
  ASSERT_TRUE(embedded.ok());
  EXPECT_EQ(embedded->size(), 11u);
}

TEST(Tier, ServesNoModelThatOnlyMakesVectors) {
  const TestBertFile bert;
  const auto tier = Tier::create(bert.load(), {}, {});
  ASSERT_FALSE(tier.ok());
  EXPECT_EQ(tier.error().code, ErrorCode::kConfiguration);
  EXPECT_NE(tier.error().message.find("embeddings.model"), std::string::npos);
}

TEST(Tier, TakesNoModelForVectorsThatRanksTexts) {
  const TestBertFile bert({.pooling = PoolingType::kRank});
  TierParts parts;
  parts.embedding_model = bert.load();
  const auto tier = Tier::create(make_fake_model({}), {}, std::move(parts));
  ASSERT_FALSE(tier.ok());
  EXPECT_EQ(tier.error().code, ErrorCode::kConfiguration);
}

TEST(Tier, RefusesTokensOutsideTheVocabulary) {
  const auto tier = tier_with_window(128);
  const auto vocabulary = static_cast<Token>(tier->model().info().vocabulary);
  EXPECT_TRUE(tier->prepare_tokens({0, vocabulary - 1}).ok());
  for (const Token wrong : {Token{-1}, vocabulary}) {
    const auto prepared = tier->prepare_tokens({0, wrong});
    ASSERT_FALSE(prepared.ok());
    EXPECT_EQ(prepared.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(prepared.error().message.find(std::to_string(wrong)), std::string::npos);
  }
}

TEST(Tier, TakesPromptsUpToTheWindowAndNoEmptyOnes) {
  const auto tier = tier_with_window(128);
  EXPECT_FALSE(tier->prepare_text("").ok());
  EXPECT_FALSE(tier->embeddings().prepare_text("").ok());
  EXPECT_FALSE(tier->prepare_tokens({}).ok());
  EXPECT_TRUE(tier->prepare_text(std::string(128, 'x')).ok());
  const auto longer = tier->prepare_text(std::string(129, 'x'));
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().code, ErrorCode::kPromptTooLong);
}

TEST(Tier, GivesEachChoiceItsOwnSeedIfThereIsOne) {
  const auto tier = tier_with_window(128);
  const auto prompt = tier->prepare_text("x");
  ASSERT_TRUE(prompt.ok());
  GenerationParameters generation;
  EXPECT_FALSE(tier->make_generation(*prompt, generation, {2}).request.sampling.seed.has_value());
  generation.sampling.seed = 40;
  EXPECT_EQ(tier->make_generation(*prompt, generation).request.sampling.seed, 40u);
  EXPECT_EQ(tier->make_generation(*prompt, generation, {2}).request.sampling.seed, 42u);
}

}  // namespace
}  // namespace zerohop
