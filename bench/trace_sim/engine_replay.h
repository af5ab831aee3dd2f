// Recorded arrivals through the real EngineLoop (queue, planner, cache) on the fake model, in
// virtual time.
//
// Only lengths are recorded, so each prompt is random bytes of its own (nothing is shared) and each
// answer goes on until its recorded length. A step takes base + rows × per_row + cells × per_cell,
// and so virtual time is what a machine of that speed would need. Deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/fake_model.h"
#include "trace_sim/trace.h"

namespace zerohop::trace_sim {

enum class ServiceOrder : std::uint8_t {
  kFair,     ///< each client of the trace is a tenant
  kArrival,  ///< first come, first served
};

struct EngineReplayOptions {
  ServiceOrder order = ServiceOrder::kFair;
  std::uint32_t sequences = 8;
  std::uint32_t window = 2048;  ///< longer requests are cut to it
  double stretch = 1;           ///< recorded seconds between arrivals × stretch
  FakeStepCost cost = default_model_cost();
  std::uint64_t seed = 1;

  /// The default model (135 M parameters, Q8_0) on two cores, streams: 78 tokens/s alone, 285 with
  /// eight sequences, 554 of a prompt; 64 → 512 cells in each of eight cost 13 ms.
  static FakeStepCost default_model_cost();
};

struct ServedRequest {
  std::uint32_t client = 0;  ///< index in EngineReplay::clients
  double arrived = 0;        ///< virtual seconds, like all others
  double first_token = 0;
  double finished = 0;
  double gap_max = 0;  ///< longest time between two tokens
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
};

struct EngineReplay {
  std::vector<std::string> clients;  ///< in order of appearance
  std::vector<ServedRequest> served;
  std::uint64_t refused = 0;
  double seconds = 0;  ///< until the last token
  double busy = 0;     ///< of these, inside steps

  std::uint64_t tokens() const;  ///< of prompts and answers
};

EngineReplay replay(const LengthTrace& trace, const EngineReplayOptions& options);

/// The virtual seconds of work in `trace` with all sequences busy, ÷ those that its arrivals take:
/// how much more arrives than can be served. Measured by serving it all at once.
double offered_load(const LengthTrace& trace, const EngineReplayOptions& options);

/// Those that `keep` wants, at their times.
LengthTrace filtered(const LengthTrace& trace,
                     const std::function<bool(const LengthRequest&)>& keep);

}  // namespace zerohop::trace_sim
