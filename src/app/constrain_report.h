// What `zerohop constrain check` prints, for people and as JSON. Pure; any thread.
#pragma once

#include <string>

#include "app/constrain_check.h"

namespace zerohop {

/// One line: {"id","verdict","pointer","keyword",…}; pointer and keyword are null where nothing is
/// refused. Also, where they say something: kind and reason of a refusal or an error, cost, and of
/// the first text whose finding is wrong the text, what was expected, and how far it was read. Ends
/// in a line end.
std::string case_json(const CheckCase& wanted, const CaseFinding& finding);

/// One line for a case of a file; further ones for texts whose finding is wrong. Ends in a line
/// end.
std::string case_text(const CheckCase& wanted, const CaseFinding& finding);

/// What a single constraint costs, or why it is refused.
std::string constraint_text(const CaseFinding& finding);

/// What was found about one text, which people call `name`.
std::string finding_text(const std::string& name, std::string_view text,
                         const TextFinding& finding);

struct CheckTally {
  std::size_t right = 0;
  std::size_t over = 0;
  std::size_t under = 0;
  std::size_t refused = 0;
  std::size_t error = 0;

  void add(CheckVerdict verdict);
  std::size_t all() const { return right + over + under + refused + error; }
};

/// "64 cases: 60 right, 1 over, …".
std::string tally_text(const CheckTally& tally);

}  // namespace zerohop
