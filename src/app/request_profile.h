// Requests that a deployment repeats: named shapes whose parts are prepared at start.
//
//   prompt:
//     profiles:
//       support:
//         system: You are the support desk of …
//         temperature: 0.2
//         stop_sequences: ["\n\nCustomer:"]
//         tools:
//           - name: open_ticket
//             description: Opens a ticket.
//             input_schema: {type: object, properties: {subject: {type: string}}}
//
// A request that has the same values (system prompt, tools and how they may be used, thinking, the
// format of the answer, sampling, stop sequences, and max_tokens where the profile names it) takes
// what was compiled for the profile, and what stands in front of its first turn is a warm prefix.
// Nothing about the answer changes.
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
  /// What the model reads, as a request's after the server's habits (prompt_habits.h); in place of
  /// the turns one user turn.
  Conversation conversation;
  std::string system;  ///< as the model is shown it; may be empty
  SamplingParameters sampling;
  std::vector<std::string> stop_sequences;
  std::optional<std::uint32_t> max_tokens;  ///< nothing: any
  CompiledStops stops;

  /// Whether anything of it stands in front of the first turn.
  bool has_prefix() const;
};

class RequestProfiles {
 public:
  /// Errors: kConfiguration (a profile that no request could be, or a member that is none).
  static Result<RequestProfiles> from_config(const Config& config);

  /// The first one by name that `request` matches; null: none. The server's habits have been
  /// applied to its conversation.
  const RequestProfile* match(const ChatRequest& request) const;

  const std::vector<RequestProfile>& all() const { return profiles_; }

 private:
  std::vector<RequestProfile> profiles_;  // by name
};

}  // namespace zerohop
