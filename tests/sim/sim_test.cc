// The whole server on virtual time, many small worlds at once. See world.h.
//
//   ZEROHOP_SIM_SEED=N     only the world of that seed
//   ZEROHOP_SIM_WORLDS=N   so many worlds (sanitizers run fewer)
#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "world.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kWorlds = 400;

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A check inside the server aborts: the trace must come out all the same.
const World* running_world = nullptr;

void print_trace(int) {
  if (running_world != nullptr) std::fputs(running_world->trace().report().c_str(), stderr);
}

class Simulation : public testing::Test {
 protected:
  Simulation() {
    log_configure({LogLevel::kWarning, LogFormat::kText});
    previous_ = std::signal(SIGABRT, print_trace);
  }
  ~Simulation() override {
    std::signal(SIGABRT, previous_);
    log_configure({});
  }

  /// The world's trace hash.
  static std::uint64_t run_world(std::uint64_t seed, WorldCounts* counts = nullptr) {
    World world(make_world_options(seed));
    running_world = &world;
    world.run();
    running_world = nullptr;
    EXPECT_FALSE(world.trace().failed()) << world.trace().report();
    if (counts != nullptr) {
      for (const auto& [name, count] : world.counts()) (*counts)[name] += count;
    }
    return world.trace().hash();
  }

 private:
  void (*previous_)(int) = SIG_DFL;
};

TEST_F(Simulation, KeepsEveryRuleInEveryWorld) {
  if (const auto seed = number_in("ZEROHOP_SIM_SEED")) {
    run_world(*seed);
    return;
  }
  const std::uint64_t worlds = number_in("ZEROHOP_SIM_WORLDS").value_or(kWorlds);
  for (std::uint64_t seed = 1; seed <= worlds && !HasFailure(); ++seed) run_world(seed);
}

TEST_F(Simulation, RepeatsAWorldExactly) {
  const std::uint64_t first = number_in("ZEROHOP_SIM_SEED").value_or(1);
  for (std::uint64_t seed = first; seed < first + 5; ++seed) {
    EXPECT_EQ(run_world(seed), run_world(seed)) << "seed " << seed;
  }
  EXPECT_NE(run_world(first), run_world(first + 1));
}

TEST_F(Simulation, VisitsWhatItIsMeantToVisit) {
  if (number_in("ZEROHOP_SIM_SEED")) return;  // one world need not show everything
  WorldCounts counts;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) run_world(seed, &counts);
  for (const char* name : {"aborted step",
                           "all left inside a decode",
                           "answered: end_turn",
                           "answered: max_tokens",
                           "answered: model_context_window_exceeded",
                           "answered: stop_sequence",
                           "cancelled in decode",
                           "cancelled in prefill",
                           "cancelled in the queue",
                           "cancelled inside a decode",
                           "draft accepted",
                           "draft rejected",
                           "failed: model_failure",
                           "failed: shutting_down",
                           "fatal step",
                           "mended UTF-8",
                           "parked for a reader",
                           "parked for cells",
                           "parked for fairness",
                           "paused",
                           "refused: invalid_request",
                           "refused: overloaded",
                           "refused: prompt_too_long",
                           "refused: shutting_down",
                           "restored from host memory",
                           "reused a prefix",
                           "saved to host memory",
                           "step without room",
                           "stopped",
                           "stopped inside a decode",
                           "waited for cells",
                           "went on"}) {
    EXPECT_GT(counts[name], 0u) << name;
  }
}

}  // namespace
}  // namespace zerohop
