#include "trace_sim/engine_replay.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zerohop::trace_sim {
namespace {

LengthRequest request(double seconds, std::string client, std::uint32_t prompt,
                      std::uint32_t output) {
  return {seconds, std::move(client), prompt, output};
}

// One client sends much at once, another one a short prompt now and then.
LengthTrace uneven() {
  LengthTrace trace;
  for (int i = 0; i < 40; ++i) trace.push_back(request(0, "heavy", 200, 60));
  for (int i = 0; i < 5; ++i) trace.push_back(request(1.0 + i, "light", 20, 10));
  return trace;
}

double longest_wait(const EngineReplay& replayed, const std::string& client) {
  double longest = 0;
  for (const ServedRequest& served : replayed.served) {
    if (replayed.clients[served.client] != client) continue;
    longest = std::max(longest, served.first_token - served.arrived);
  }
  return longest;
}

TEST(EngineReplay, ServesEveryRequestWithItsRecordedLengths) {
  const EngineReplay replayed = replay(uneven(), {});
  EXPECT_EQ(replayed.refused, 0u);
  ASSERT_EQ(replayed.served.size(), 45u);
  EXPECT_EQ(replayed.tokens(), 40u * 260 + 5u * 30);
  for (const ServedRequest& served : replayed.served) {
    EXPECT_GT(served.first_token, served.arrived);
    EXPECT_GE(served.finished, served.first_token);
  }
}

TEST(EngineReplay, IsDeterministic) {
  const EngineReplay once = replay(uneven(), {});
  const EngineReplay again = replay(uneven(), {});
  EXPECT_EQ(once.seconds, again.seconds);
  EXPECT_EQ(once.busy, again.busy);
}

TEST(EngineReplay, TimePassesByTheCostOfTheSteps) {
  EngineReplayOptions options;
  options.cost = {std::chrono::milliseconds(10), std::chrono::milliseconds(1), Duration{}};
  // One step for the prompt, which brings the first token, and four more.
  const EngineReplay replayed = replay({request(3, "", 20, 5)}, options);
  ASSERT_EQ(replayed.served.size(), 1u);
  EXPECT_NEAR(replayed.served[0].first_token - 3, 0.030, 1e-6);
  EXPECT_NEAR(replayed.served[0].finished - 3, 0.030 + 4 * 0.011, 1e-6);
  EXPECT_NEAR(replayed.served[0].gap_max, 0.011, 1e-6);
  EXPECT_NEAR(replayed.busy, 0.074, 1e-6);
}

TEST(EngineReplay, FairOrderServesALightClientBeforeAHeavyOnesBacklog) {
  EngineReplayOptions options;
  options.sequences = 4;
  options.order = ServiceOrder::kArrival;
  const EngineReplay arrival = replay(uneven(), options);
  options.order = ServiceOrder::kFair;
  const EngineReplay fair = replay(uneven(), options);
  EXPECT_LT(longest_wait(fair, "light"), 0.5 * longest_wait(arrival, "light"));
  EXPECT_LT(fair.seconds, 1.05 * arrival.seconds);
}

TEST(EngineReplay, MeasuresTheLoad) {
  const EngineReplayOptions options;
  LengthTrace trace = uneven();
  const double load = offered_load(trace, options);
  for (LengthRequest& each : trace) each.seconds *= 2;
  EXPECT_NEAR(offered_load(trace, options), load / 2, 1e-9);
}

TEST(EngineReplay, CutsWhatDoesNotFitTheWindow) {
  EngineReplayOptions options;
  options.window = 64;
  const EngineReplay replayed = replay({request(0, "", 500, 500), request(1, "", 10, 0)}, options);
  ASSERT_EQ(replayed.served.size(), 2u);
  EXPECT_EQ(replayed.served[0].prompt_tokens, 63u);
  EXPECT_EQ(replayed.served[0].output_tokens, 1u);
  EXPECT_EQ(replayed.served[1].output_tokens, 1u);
}

}  // namespace
}  // namespace zerohop::trace_sim
