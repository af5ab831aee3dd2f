// Carries out a plan (chain/plan.h) over loopback from one thread.
//
// Open loop: each request leaves when it is due, whatever becomes of the earlier ones, on an idle
// connection or else on a new one, so that nothing waits for the generator. Its latency counts from
// when it was due (correction for coordinated omission). Closed loop: a fixed number of clients,
// each of which sends the next request of the plan when it has its answer.
//
// Connections are kept alive, and those that a load begins with are opened before it. One that the
// server closed while it was idle is replaced; a request on which a connection ends without a byte
// of an answer is sent once more on a fresh one, as client libraries do.
//
// One thread; one load at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chain/plan.h"

namespace zerohop::bench {

/// How a request ended.
enum class PlanEnd : std::uint8_t {
  kWhole,
  kRefused,  ///< another status than 200
  kBroken,   ///< an error in the answer, or no whole answer
  kGivenUp,  ///< by us: its time was over, or the load's
};

/// "whole", "refused", "broken", "given_up".
const char* name_of(PlanEnd end);

/// Times in seconds from the begin of the load.
struct PlanResult {
  std::size_t index = 0;  ///< in the plan
  double due = 0;         ///< in a closed loop: when it was sent
  double sent = 0;
  double ended = 0;
  std::vector<double> text_times;
  std::string text;
  std::string finish_reason;
  std::string trouble;
  int status = 0;
  int prompt_tokens = 0;
  int cached_tokens = 0;
  int output_tokens = 0;
  PlanEnd end = PlanEnd::kGivenUp;
};

struct PlanLoad {
  std::uint16_t port = 0;
  std::string path = "/v1/chat/completions";
  std::string headers;      ///< whole lines
  std::size_t clients = 0;  ///< of a closed loop; 0: open loop
  /// Open connections that an open loop begins with.
  std::size_t warm_connections = 8;
  /// Behind the last sending; what is not answered then is given up.
  double drain_seconds = 60;
};

struct PlanFigures {
  std::vector<PlanResult> results;  ///< in the order of the plan
  double seconds = 0;               ///< until the last answer
  std::size_t connections = 0;      ///< opened, those replaced included
};

PlanFigures run_plan(const PlanLoad& load, const std::vector<PlannedRequest>& plan);

}  // namespace zerohop::bench
