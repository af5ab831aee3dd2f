// Requests that were refused for overload a moment ago, and when they were told to come back. One
// that comes earlier is refused at its head, with what is left of that time: nothing is predicted
// anew, its body is not read, and nobody else waits for it. Unless a place is free by now.
//
// A repetition is known by the headers that say so (x-anthropic-request-id, or an SDK's
// x-stainless-retry-count above 0), the key, the path and the length of the body. A request that
// shows neither header, no length or a count of 0 is always looked at as a new one.
//
// A fixed number of places: whoever is displaced is looked at as a new one as well. I/O thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "admission/caller.h"
#include "base/clock.h"
#include "http/message.h"

namespace zerohop {

/// What a request and its repetitions have in common.
struct RepeatIdentity {
  std::uint64_t hash = 0;
  bool repeats = false;  ///< it may be a repetition itself
};

/// Nothing: repetitions of it cannot be known.
std::optional<RepeatIdentity> repeat_identity(const Caller& caller, const RequestHead& head);

class RefusedRepeats {
 public:
  static constexpr std::size_t kPlaces = 4'096;

  RefusedRepeats() : places_(kPlaces) {}

  void refused(const RepeatIdentity& identity, TimePoint come_back_at);
  /// How much too early it comes; zero: it does not, or is no repetition.
  Duration too_early(const RepeatIdentity& identity, TimePoint now) const;

 private:
  struct Place {
    std::uint64_t hash = 0;
    TimePoint come_back_at{};
  };
  std::vector<Place> places_;  // by hash
};

}  // namespace zerohop
