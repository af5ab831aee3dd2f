// Small requests on keep-alive connections from one thread, as many as go (closed loop) or at fixed
// times whatever becomes of the earlier ones (open loop). The generator shares the cores with what
// it measures, so it does little: one request outstanding on a connection, no copies but the read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zerohop::bench {

struct PacedLoad {
  std::uint16_t port = 0;
  /// Bytes of whole requests, sent in turn.
  std::vector<std::string> requests;
  std::size_t connections = 32;
  /// After so many, a connection is replaced by one from another loopback address, so that limits
  /// of addresses see many clients. 0: never.
  std::size_t requests_per_connection = 0;
};

struct LoadAnswer {
  int status = 0;
  std::size_t request = 0;  ///< index into PacedLoad::requests
  double latency = 0;       ///< seconds
  double sent_late = 0;     ///< seconds of the latency that passed before it was sent
  double ended_at = 0;      ///< seconds since the begin of the load
};

/// What came back.
struct LoadFigures {
  std::vector<LoadAnswer> answers;
  double seconds = 0;      ///< from the first request to the last answer
  std::size_t broken = 0;  ///< connections that ended without an answer, and silent ones

  double rate() const { return static_cast<double>(answers.size()) / seconds; }
  /// Of answers with `status`, or of all (0).
  std::vector<double> latencies(int status = 0) const;
  /// "401 ×12, 429 ×30, no answer ×1".
  std::string statuses() const;
};

/// Every connection sends its next request when its answer is there, until `seconds` have passed or
/// `answers_max` answers have come (0: no such end). Latencies from the sending on.
struct ClosedLoop {
  double seconds = 1;
  std::size_t answers_max = 0;
};
LoadFigures run_closed(const PacedLoad& load, const ClosedLoop& loop);

enum class Arrivals : std::uint8_t {
  kEven,
  kRandom,  ///< with exponential gaps (a Poisson process), always the same ones
};

/// `rate` requests a second for `seconds`. Latencies from the time at which a request was due, so
/// that a server that stalls is charged for all that wait behind.
struct OpenLoop {
  double rate = 1000;
  double seconds = 1;
  Arrivals arrivals = Arrivals::kEven;
};
LoadFigures run_open(const PacedLoad& load, const OpenLoop& loop);

}  // namespace zerohop::bench
