// Requests that a deployment repeats: named shapes whose parts are prepared at start.
//
//   prompt:
//     profiles:
//       support:
//         system: You are the support desk of …
//         temperature: 0.2
//         stop_sequences: ["\n\nCustomer:"]
//
// A request that has the same values (system prompt, sampling, stop sequences, and max_tokens where
// the profile names it) takes the compiled stop sequences of the profile, and its system prompt is
// a warm prefix. Nothing about the answer changes.
//
// Immutable once made; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/tier.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

struct RequestProfile {
  std::string name;
  std::string system;  ///< its blocks in a row; may be empty
  SamplingParameters sampling;
  std::vector<std::string> stop_sequences;
  std::optional<std::uint32_t> max_tokens;  ///< nothing: any
  CompiledStops stops;
};

class RequestProfiles {
 public:
  /// Errors: kConfiguration (a profile that no request could be, or a member that is none).
  static Result<RequestProfiles> from_config(const Config& config);

  /// The first one by name that `request` matches; null: none.
  const RequestProfile* match(const ChatRequest& request) const;

  const std::vector<RequestProfile>& all() const { return profiles_; }

 private:
  std::vector<RequestProfile> profiles_;  // by name
};

}  // namespace zerohop
