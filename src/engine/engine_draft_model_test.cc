// Drafts on the real default model. Without its file they fail. Logits there depend on the rows of
// a step in their last digits, so greedy text may part where two tokens are nearly equally likely;
// up to there it is the same, and the log-probabilities are.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine_draft_kit.h"
#include "engine/engine_model_kit.h"

namespace zerohop {
namespace {

// Of a text to be repeated: greedy answers copy it for a while.
constexpr const char* kPrompt =
    "<|im_start|>user\nRepeat this text word for word:\n\nA river is a natural stream of fresh "
    "water that flows towards an ocean, a lake or another river. Small rivers are called creeks or "
    "brooks. Rivers are part of the water cycle: water collects from rain in a drainage basin, "
    "from springs, and from melting snow and glaciers.<|im_end|>\n<|im_start|>assistant\n";

// Chosen, not measured, as in engine_model_test.cc.
constexpr float kLogprobTolerance = 0.7f;

class DraftsOnTheDefaultModel : public WithEngineOnTheDefaultModel {
 protected:
  struct Said {
    std::vector<TokenLogprobs> tokens;
    std::string text;
    DraftCounts drafts;
    std::uint64_t steps = 0;
  };

  Said ask(Speculation mode, KvLayout layout) {
    ContextOptions context;
    context.sequences = 1;
    context.layout = layout;
    if (layout == KvLayout::kUnified) context.cells = 512;
    EngineOptions options;
    options.speculation.mode = mode;
    open(context, options);
    HarnessClient client;
    client.stream = loop->make_stream();
    EngineRequest request;
    request.prompt = tokens(kPrompt);
    request.max_tokens = 100;
    request.sampling.temperature = 0;
    request.top_logprobs = 2;
    request.stage = std::make_unique<PlainStage>();
    request.stream = client.stream;
    EXPECT_TRUE(loop->submit(std::move(request)).ok());
    run();
    client.read();
    Said said{{}, client.text(), loop->snapshot().drafts, loop->snapshot().steps};
    for (const Event& event : client.events) {
      if (const auto* token = std::get_if<TokenLogprobs>(&event)) said.tokens.push_back(*token);
    }
    EXPECT_NE(client.find<Finished>(), nullptr);
    return said;
  }
};

TEST_F(DraftsOnTheDefaultModel, SayWhatIsSaidWithoutThemInFewerSteps) {
  for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
    const Said plain = ask(Speculation::kOff, layout);
    const Said drafted = ask(Speculation::kNgram, layout);
    EXPECT_EQ(plain.drafts.drafted, 0u);
    EXPECT_GT(drafted.drafts.accepted, 10u);
    EXPECT_LT(drafted.steps, plain.steps);
    std::size_t same = 0;
    const std::size_t both = std::min(plain.tokens.size(), drafted.tokens.size());
    for (; same < both; ++same) {
      const TokenLogprobs& left = plain.tokens[same];
      const TokenLogprobs& right = drafted.tokens[same];
      if (left.chosen.token != right.chosen.token) {
        EXPECT_LT(left.likeliest[0].logprob - left.likeliest[1].logprob, kLogprobTolerance) << same;
        break;
      }
      EXPECT_NEAR(left.chosen.logprob, right.chosen.logprob, kLogprobTolerance) << same;
    }
    EXPECT_GT(same, 10u);
    std::printf(
        "  %zu of %zu tokens the same, %llu of %llu drafted ones accepted, %llu steps for "
        "%llu\n",
        same, both, static_cast<unsigned long long>(drafted.drafts.accepted),
        static_cast<unsigned long long>(drafted.drafts.drafted),
        static_cast<unsigned long long>(drafted.steps),
        static_cast<unsigned long long>(plain.steps));
  }
}

}  // namespace
}  // namespace zerohop
