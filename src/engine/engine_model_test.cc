// Parking, host memory and warm prefixes on the real default model. Without its file they fail.
//
// In the exact mode (streams, flash attention off) a parked request says to the letter what it
// says without interruption, whether its cells stayed, came back from host memory or were
// computed again. Elsewhere what is computed again is computed in other pieces, and greedy text may
// part where two tokens are nearly equally likely; there the log-probabilities are compared.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine_harness.h"
#include "engine/engine_model_kit.h"

namespace zerohop {
namespace {

constexpr const char* kPrompt =
    "<|im_start|>user\nWrite about rivers. A river is a natural stream of fresh water that flows "
    "towards an ocean, a lake or another river. Small rivers are called creeks or brooks. Rivers "
    "are part of the water cycle: water collects from rain in a drainage basin, from springs, and "
    "from melting snow and glaciers.<|im_end|>\n<|im_start|>assistant\n";

// Chosen, not measured: greedy text may part only where two tokens are about this close.
constexpr float kLogprobTolerance = 0.7f;

class EngineOnTheDefaultModel : public WithEngineOnTheDefaultModel {
 protected:
  std::shared_ptr<HarnessClient> submit(const std::string& prompt, std::uint32_t max_tokens,
                                        std::size_t stream_bytes = limits::kStreamBytesMax) {
    auto client = std::make_shared<HarnessClient>();
    client->stream = std::make_shared<TokenStream>([this] { loop->ring(); }, stream_bytes);
    EngineRequest request;
    request.prompt = tokens(prompt);
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    request.top_logprobs = 2;
    request.stage = std::make_unique<PlainStage>();
    request.stream = client->stream;
    EXPECT_TRUE(loop->submit(std::move(request)).ok());
    return client;
  }

  /// Alone, without interruption.
  std::shared_ptr<HarnessClient> whole(std::uint32_t max_tokens) {
    auto client = submit(kPrompt, max_tokens);
    run();
    client->read();
    return client;
  }
  /// The same, parked again and again: its reader is slow, and others want the only slot.
  std::shared_ptr<HarnessClient> interrupted(std::uint32_t max_tokens) {
    // A token with two alternatives counts for about 120 bytes.
    auto client = submit(kPrompt, max_tokens, 1'000);
    std::uint32_t others = 0;
    while (!client->done) {
      run();
      submit("Something else, number " + std::to_string(++others), 2);
      run();
      client->read();
    }
    EXPECT_GT(loop->snapshot().parks_for_readers, 1u);
    EXPECT_EQ(loop->snapshot().resumes, loop->snapshot().parks_for_readers);
    return client;
  }
};

ContextOptions one_sequence(KvLayout layout, FlashAttention flash) {
  ContextOptions context;
  context.sequences = 1;
  context.layout = layout;
  context.flash_attention = flash;
  context.parked = layout == KvLayout::kUnified ? 4 : 0;
  context.cells = layout == KvLayout::kUnified ? 512 : 0;
  return context;
}

TEST_F(EngineOnTheDefaultModel, SaysTheSameInTheExactModeParkedOrNot) {
  for (const std::uint64_t host_bytes : {0u, 256u << 20}) {
    EngineOptions exact;
    exact.exactness = Exactness::kExact;
    exact.cache.host_bytes_max = host_bytes;
    const ContextOptions context = one_sequence(KvLayout::kStreams, FlashAttention::kOff);
    open(context, exact);
    const std::string expected = whole(40)->text();
    ASSERT_GT(expected.size(), 60u);
    open(context, exact);
    EXPECT_EQ(interrupted(40)->text(), expected) << "host memory: " << host_bytes;
  }
}

// Of both answers, as long as their tokens are the same; where they part, both choices were close.
void expect_alike(const HarnessClient& left, const HarnessClient& right) {
  std::vector<TokenLogprobs> a;
  std::vector<TokenLogprobs> b;
  for (const Event& event : left.events) {
    if (const auto* token = std::get_if<TokenLogprobs>(&event)) a.push_back(*token);
  }
  for (const Event& event : right.events) {
    if (const auto* token = std::get_if<TokenLogprobs>(&event)) b.push_back(*token);
  }
  ASSERT_FALSE(a.empty());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].chosen.token != b[i].chosen.token) {
      ASSERT_EQ(a[i].likeliest.size(), 2u);
      EXPECT_LT(a[i].likeliest[0].logprob - a[i].likeliest[1].logprob, kLogprobTolerance) << i;
      return;
    }
    EXPECT_NEAR(a[i].chosen.logprob, b[i].chosen.logprob, kLogprobTolerance) << i;
  }
}

TEST_F(EngineOnTheDefaultModel, SaysAboutTheSameInThePoolParkedOrNot) {
  for (const std::uint64_t host_bytes : {0u, 256u << 20}) {
    EngineOptions options;
    options.cache.host_bytes_max = host_bytes;
    const ContextOptions context = one_sequence(KvLayout::kUnified, FlashAttention::kAuto);
    open(context, options);
    const auto expected = whole(40);
    open(context, options);
    expect_alike(*expected, *interrupted(40));
  }
}

TEST_F(EngineOnTheDefaultModel, TakesAWarmPrefixFromTheBytesOfAnEarlierRun) {
  EngineOptions options;
  options.cache.host_bytes_max = 256u << 20;
  const ContextOptions context = one_sequence(KvLayout::kUnified, FlashAttention::kAuto);
  std::vector<std::byte> state;
  open(context, options);
  ASSERT_TRUE(
      loop->submit_warm({tokens(kPrompt),
                         kPublicScope,
                         {},
                         [&state](std::vector<std::byte> bytes) { state = std::move(bytes); }})
          .ok());
  run();
  ASSERT_FALSE(state.empty());
  const auto expected = whole(20);

  open(context, options);
  ASSERT_TRUE(loop->submit_warm({tokens(kPrompt), kPublicScope, state}).ok());
  run();
  EXPECT_EQ(loop->snapshot().prompt_tokens_computed, 1u);
  const auto again = whole(20);
  EXPECT_EQ(again->find<Started>()->usage.prompt_tokens_cached, tokens(kPrompt).size() - 1);
  expect_alike(*expected, *again);
}

}  // namespace
}  // namespace zerohop
