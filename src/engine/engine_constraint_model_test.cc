// Constrained answers of the real default model. Without its file they fail.

#include <gtest/gtest.h>

#include "engine/engine_constraint_kit.h"
#include "engine/engine_model_kit.h"

namespace zerohop {
namespace {

constexpr const char* kPrompt =
    "<|im_start|>user\nDescribe the town of Bergen as JSON.<|im_end|>\n<|im_start|>assistant\n";

class ConstraintsOnTheDefaultModel : public WithEngineOnTheDefaultModel {
 protected:
  std::shared_ptr<HarnessClient> submit(const TestConstraint* constraint, std::uint32_t max_tokens,
                                        float temperature) {
    auto client = std::make_shared<HarnessClient>();
    client->stream = loop->make_stream();
    EngineRequest request;
    request.prompt = tokens(kPrompt);
    request.max_tokens = max_tokens;
    request.sampling.temperature = temperature;
    request.sampling.seed = max_tokens;
    if (constraint != nullptr) request.constraint = constraint->compiled();
    request.stage = std::make_unique<PlainStage>();
    request.stream = client->stream;
    const Result<void> submitted = loop->submit(std::move(request));
    EXPECT_TRUE(submitted.ok()) << submitted.error().message;
    return client;
  }
};

TestConstraint town() {
  return regex(R"re(\{"name": "[^"\\\x00-\x1f]{1,30}", "country": "[A-Z][a-z]+", )re"
               R"re("inhabitants": [1-9][0-9]*, "harbour": (true|false)\})re");
}

TEST_F(ConstraintsOnTheDefaultModel, GetLegalTextsWhateverTheLimitAndTheTemperature) {
  ContextOptions context;
  context.sequences = 8;
  open(context);
  const TestConstraint constraint = town();
  const std::size_t needed = tokens(constraint.shortest()).size();
  std::vector<std::shared_ptr<HarnessClient>> clients;
  const auto limit_of = [needed](std::size_t i) {
    return static_cast<std::uint32_t>(needed - 2 + i);
  };
  for (std::size_t i = 0; i < 24; ++i) {
    clients.push_back(submit(&constraint, limit_of(i), i % 3 == 0 ? 0.0f : 1.5f));
  }
  run();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    SCOPED_TRACE(testing::Message() << limit_of(i) << " tokens");
    clients[i]->read();
    if (i < 2) {
      ASSERT_NE(clients[i]->find<Failed>(), nullptr);
      EXPECT_EQ(clients[i]->find<Failed>()->error.field, "max_tokens");
      continue;
    }
    EXPECT_TRUE(constraint.allows(clients[i]->text())) << clients[i]->text();
    ASSERT_NE(clients[i]->find<Finished>(), nullptr);
    EXPECT_LE(clients[i]->find<Finished>()->usage.output_tokens, limit_of(i));
  }
  const EngineSnapshot end = loop->snapshot();
  EXPECT_GT(end.constraints.forced_tokens, end.output_tokens / 4);
  EXPECT_LT(end.constraints.misses, end.constraints.checks);
  EXPECT_EQ(end.constraints.machines, 1u);
}

TEST_F(ConstraintsOnTheDefaultModel, LeaveTheTextOfANeighbourAsItIs) {
  ContextOptions context;
  context.sequences = 3;
  context.layout = KvLayout::kStreams;
  context.flash_attention = FlashAttention::kOff;
  EngineOptions exact;
  exact.exactness = Exactness::kExact;
  const TestConstraint constraint = town();
  std::vector<std::string> free;
  std::vector<std::string> bound;
  for (const bool together : {false, true}) {
    open(context, exact);
    auto first = submit(nullptr, 40, 0);
    if (!together) run();
    auto second = submit(&constraint, 60, 0);
    run();
    first->read();
    second->read();
    free.push_back(first->text());
    bound.push_back(second->text());
  }
  EXPECT_GT(free[0].size(), 60u);
  EXPECT_EQ(free[0], free[1]);
  EXPECT_EQ(bound[0], bound[1]);
  EXPECT_TRUE(constraint.allows(bound[0])) << bound[0];
}

}  // namespace
}  // namespace zerohop
