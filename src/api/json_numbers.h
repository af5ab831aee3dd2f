// Numbers whose digits a double does not give back: `12345678901234567890123`, `0.1000000000000001`
// read with a parser that is off by one.
//
// Boost.JSON keeps a number that is no 64-bit integer as a double, and the release in use rounds
// some of them wrongly. A schema's `const` of 20 digits, or a price in the arguments of a call,
// would come out as another number. So the reader (json_reader.h) compares what it got with what
// was written, and where they differ it keeps the client's own spelling:
//
//   1.5, 0.10, 1e3              →  a double, as always
//   1e400                       →  infinity: refused where a number is read
//   0.12345678901234567890      →  exact: a string in the tree that begins with a byte which no
//                                  UTF-8 text has, followed by the spelling
//
// Whoever looks at strings of a tree therefore asks if_text(); json_place.h and
// json_value_writer.h, through which everybody else goes, do. Internal to api/; pure; any thread.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string_view>

namespace zerohop {

/// In front of an exact number's spelling.
inline constexpr std::string_view kExactNumberMark = "\xff";

/// True: `written` (a JSON number) and `number` have the same value, so that the shortest digits of
/// `number` say what was written.
bool is_same_number(double number, std::string_view written);

/// The spelling of an exact number; nothing for every other value.
std::optional<std::string_view> if_exact_number(const boost::json::value& value);

/// The text of a string; null for every other value, exact numbers among them.
const boost::json::string* if_text(const boost::json::value& value);

}  // namespace zerohop
