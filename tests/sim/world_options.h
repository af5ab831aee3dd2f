// What one simulated world is like: its server, its clients and its misfortunes, all from one seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/config.h"
#include "model/fake_model.h"

namespace zerohop {

/// How a world comes to its end.
enum class WorldEnd : std::uint8_t {
  kDrain,            ///< everybody is served, then the door closes
  kDrainEarly,       ///< the door closes while clients still arrive; who is in is served
  kStop,             ///< stopped between two steps; who is left gets a typed error
  kStopInsideDecode  ///< likewise, while a decode runs
};

struct WorldOptions {
  static constexpr std::uint32_t kDraftTokensMax = 12;

  std::uint64_t seed = 0;

  // The server
  EngineConfig engine;
  FakeStepCost cost;
  double end_of_turn_chance = 0;
  double copy_chance = 0;  ///< of some ten tokens of an answer: they repeat what was said before
  std::size_t requests_max = 0;
  std::uint32_t default_max_tokens = 0;

  // The clients
  std::uint32_t speakers = 0;
  std::uint32_t turns_max = 0;  ///< requests of one speaker
  std::uint32_t tenants = 1;
  bool private_scopes = false;       ///< tenants share no prefixes
  double other_priority_chance = 0;  ///< of a speaker: all its requests go first, or last
  double malformed_chance = 0;       ///< of each request, as the following ones
  double too_long_chance = 0;
  double cancel_chance = 0;
  double slow_chance = 0;     ///< reads seldom, through a tiny buffer
  double sleeper_chance = 0;  ///< reads nothing for a long time

  // The misfortunes
  double fault_chance = 0;          ///< of each decode
  double fault_again_chance = 0;    ///< of the decode after a fault
  double cancel_inside_chance = 0;  ///< that somebody goes away while a decode runs
  WorldEnd end = WorldEnd::kDrain;
  std::uint32_t end_tick = 0;  ///< of the early ends
};

WorldOptions make_world_options(std::uint64_t seed);

}  // namespace zerohop
