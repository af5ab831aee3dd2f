// Parts of a request target (RFC 3986, RFC 9112 section 3.2). Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

enum class BadEscapes {
  kRefuse,  ///< `%` without two hexadecimal digits: no result
  kKeep,    ///< … is taken as it stands
};

/// Replaces each `%xx` by its byte. The result may be any bytes, also not UTF-8 and also NUL.
/// Nothing only with kRefuse.
std::optional<std::string> percent_decode(std::string_view text, BadEscapes bad_escapes);

/// Value of the first parameter of that name in `a=1&b=2`, decoded (`+` is a space, bad escapes
/// stay). A parameter without `=` has the empty value. Nothing when the name does not occur.
std::optional<std::string> query_parameter(std::string_view query, std::string_view name);

/// Collapses doubled slashes and removes a trailing one; the empty path becomes `/`.
std::string normalise_path(std::string_view path);

struct TargetParts {
  std::string path;   ///< normalised; `*` for the asterisk form
  std::string query;  ///< without `?`
};

/// Splits the origin form (`/path?query`), the absolute form (`http://host/path`) and the asterisk
/// form. Nothing for anything else, such as the authority form of CONNECT.
std::optional<TargetParts> split_target(std::string_view target);

}  // namespace zerohop
