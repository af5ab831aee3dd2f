// Files of cases for `zerohop constrain check --cases`: one JSON object a line,
//
//   {"id": "…", "schema": {…}, "accept": […], "reject": […]}
//
//   id       any string or number; where there is none, the number of the line
//   schema   or "regex" or "grammar", with a string; where there is none, the one given beside the
//            file counts
//   accept, reject    texts or values. Where all of a case are strings they are texts as they stand
//                     (`"{\"a\": 1}"`), which may be no JSON at all. As soon as one is not, all are
//                     values, written compactly with the digits they have here.
//   accept_text, reject_text    texts, whatever stands in the other lists
//
// Other members are ignored. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "app/constrain_check.h"
#include "core/error.h"

namespace zerohop {

struct CaseLine {
  std::string_view text;
  std::size_t number = 1;  ///< of the line, from 1
};

/// The id of a line, as far as it can be read: the number of the line otherwise.
std::string case_id(const CaseLine& line);

/// `otherwise`: the constraint of lines that have none. Errors: kInvalidRequest; the message says
/// which member is wrong, `field` is empty.
Result<CheckCase> parse_case(const CaseLine& line, const std::optional<ConstraintText>& otherwise);

}  // namespace zerohop
