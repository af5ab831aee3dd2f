#include "app/tier.h"

#include <gtest/gtest.h>

#include "app/chat_session.h"
#include "app/machine.h"
#include "model/fake_model.h"

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

}  // namespace
}  // namespace zerohop
