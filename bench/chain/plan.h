// A plan: requests and when each is due, written by tools/dev/chain_bench, one a line. The program
// that carries it out knows nothing of scenarios; that it is the same for every side is the point.
//
//   due TAB give_up TAB kind TAB body
//
//   due      seconds from the begin of the load; a closed loop does not look at it
//   give_up  the client closes the connection so many seconds behind the sending; 0: never
//   kind     a word that comes back with the result
//   body     JSON in one line
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zerohop::bench {

struct PlannedRequest {
  double due = 0;
  double give_up = 0;
  std::string kind;
  std::string body;

  /// Whether the answer comes as server-sent events.
  bool streamed() const;
};

/// Empty when a line is none of a plan; `fault` then says which and why.
std::vector<PlannedRequest> parse_plan(std::string_view text, std::string& fault);

}  // namespace zerohop::bench
