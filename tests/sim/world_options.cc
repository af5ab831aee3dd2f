#include "world_options.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/random.h"

namespace zerohop {
namespace {

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& choices) {
  return choices[random.below(N)];
}

std::uint32_t between(Random& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random.below(high - low + 1));
}

EngineConfig make_engine(Random& random) {
  EngineConfig engine;
  engine.sequences = between(random, 1, 6);
  engine.context_tokens = between(random, 120, 360);
  engine.threads = 1;
  engine.batch_rows = std::max(engine.sequences, pick(random, std::array{12u, 32u, 64u, 192u}));
  engine.itl_objective_ms = pick(random, std::array{40u, 100u, 200u});
  engine.kv_layout = pick(random, std::array{KvLayoutChoice::kUnified, KvLayoutChoice::kStreams});
  // Half of the pools are too small for a full window in every slot, so that admission waits.
  const std::uint32_t full = engine.sequences * engine.context_tokens;
  engine.kv_cells = random.chance(0.5) ? full : between(random, engine.context_tokens, full);
  engine.parked_sequences = pick(random, std::array{0u, 2u, 16u});
  engine.host_cache_bytes = pick(random, std::array<std::uint64_t, 3>{0, 20'000, 1'000'000});
  return engine;
}

FakeStepCost make_cost(Random& random) {
  using std::chrono::microseconds;
  FakeStepCost cost;
  cost.base = microseconds(1'000 + random.below(9'000));
  cost.per_row = microseconds(pick(random, std::array{150u, 700u, 3'000u, 5'000u}));
  cost.per_cell = std::chrono::nanoseconds(random.below(1'500));
  return cost;
}

}  // namespace

WorldOptions make_world_options(std::uint64_t seed) {
  Random random(mix64(seed));
  WorldOptions options;
  options.seed = seed;
  options.engine = make_engine(random);
  options.cost = make_cost(random);
  options.end_of_turn_chance = pick(random, std::array{0.0, 0.01, 0.04});
  options.requests_max = pick(random, std::array<std::size_t, 4>{3, 6, 12, 64});
  options.default_max_tokens = between(random, 8, 60);

  options.speakers = between(random, 4, 16);
  options.turns_max = between(random, 1, 3);
  options.tenants = between(random, 1, 3);
  options.private_scopes = random.chance(0.3);
  options.other_priority_chance = pick(random, std::array{0.0, 0.4});
  options.malformed_chance = 0.06;
  options.too_long_chance = 0.03;
  options.cancel_chance = pick(random, std::array{0.0, 0.15, 0.5});
  options.slow_chance = pick(random, std::array{0.0, 0.2, 0.6});
  options.sleeper_chance = pick(random, std::array{0.0, 0.1});

  options.fault_chance = pick(random, std::array{0.0, 0.005, 0.05});
  options.fault_again_chance = pick(random, std::array{0.1, 0.5});
  options.cancel_inside_chance = pick(random, std::array{0.0, 0.01, 0.06});
  options.end = pick(random, std::array{WorldEnd::kDrain, WorldEnd::kDrain, WorldEnd::kDrainEarly,
                                        WorldEnd::kStop, WorldEnd::kStopInsideDecode});
  options.end_tick = between(random, 5, 250);
  options.copy_chance = pick(random, std::array{0.0, 0.4, 0.9});
  SpeculationOptions& speculation = options.engine.speculation;
  speculation.mode =
      pick(random, std::array{Speculation::kOff, Speculation::kNgram, Speculation::kAuto});
  speculation.draft_tokens_max = between(random, 1, WorldOptions::kDraftTokensMax);
  return options;
}

}  // namespace zerohop
