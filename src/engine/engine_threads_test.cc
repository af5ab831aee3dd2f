#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/engine_harness.h"
#include "engine/engine_test_kit.h"

namespace zerohop {
namespace {

// A machine of two cores. While `disturbed`, another process has one of them: two threads wait for
// each other, one does not.
struct SharedMachine {
  std::shared_ptr<bool> disturbed = std::make_shared<bool>(false);

  FakeModelOptions model() const {
    FakeModelOptions options;
    options.cost.slowness = [disturbed = disturbed](std::uint32_t threads) {
      if (threads == 1) return 2.0;
      return *disturbed ? 40.0 : 1.0;
    };
    return options;
  }
  static ContextOptions context() {
    ContextOptions options = harness_context();
    options.threads = 2;
    return options;
  }
};

std::vector<std::string> texts_of(EngineHarness& engine) {
  std::vector<std::shared_ptr<HarnessClient>> clients;
  for (std::uint64_t i = 0; i < 3; ++i) {
    HarnessRequest request;
    request.prompt = prompt_of(40, i);
    request.max_tokens = 60;
    request.sampling.seed = i;
    clients.push_back(engine.submit(std::move(request)));
  }
  engine.run();
  std::vector<std::string> texts;
  for (const auto& client : clients) {
    client->read();
    texts.push_back(client->text());
  }
  return texts;
}

TEST(EngineThreads, StepsThatANeighbourHoldsUpAreComputedAgainWithFewer) {
  const SharedMachine machine;
  EngineHarness quiet(machine.model(), SharedMachine::context());
  const std::vector<std::string> expected = texts_of(quiet);
  EXPECT_EQ(quiet.loop->snapshot().steps_outrun, 0u);
  EXPECT_EQ(quiet.loop->snapshot().threads, 2u);

  EngineHarness shared(machine.model(), SharedMachine::context());
  texts_of(shared);  // it knows what is usual
  *machine.disturbed = true;
  EXPECT_EQ(texts_of(shared), expected);
  const EngineSnapshot snapshot = shared.loop->snapshot();
  EXPECT_GT(snapshot.steps_outrun, 0u);
  EXPECT_EQ(snapshot.threads, 1u);

  *machine.disturbed = false;
  texts_of(shared);
  EXPECT_EQ(shared.loop->snapshot().threads, 2u);
}

TEST(EngineThreads, TheirNumberIsFixedWhereThatIsAskedForOrExactnessCounts) {
  const SharedMachine machine;
  for (const bool exact : {false, true}) {
    EngineOptions options;
    options.adaptive_threads = exact;
    if (exact) options.exactness = Exactness::kExact;
    *machine.disturbed = false;
    EngineHarness engine(machine.model(), SharedMachine::context(), options);
    texts_of(engine);
    *machine.disturbed = true;
    texts_of(engine);
    EXPECT_EQ(engine.loop->snapshot().thread_changes, 0u);
    EXPECT_EQ(engine.loop->snapshot().threads, 2u);
  }
}

}  // namespace
}  // namespace zerohop
