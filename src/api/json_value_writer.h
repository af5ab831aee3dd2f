// A JSON tree → compact JSON text, members in the order in which the client wrote them.
//
// Schemas and tool inputs are handed on to the prompt as text, where the order of keys is part of
// what the model reads and of the cached prefix. Internal to api/; pure functions; any thread.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace zerohop {

/// Appends `value` without white space. Strings must be valid UTF-8, as those of parse_json() are.
/// Numbers keep their value exactly (json_numbers.h), except that one too large for a double, an
/// infinity in the tree, becomes the largest one that is not: other readers of the text refuse
/// what they can not hold. Recursive: depth as parse_json() bounds it.
void append_json_value(const boost::json::value& value, std::string& out);

/// As append_json_value(), into a new string.
std::string json_text(const boost::json::value& value);

}  // namespace zerohop
