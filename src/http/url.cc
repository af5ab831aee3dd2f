#include "http/url.h"

#include <algorithm>
#include <cstddef>

#include "base/hex.h"
#include "http/headers.h"

namespace zerohop {
namespace {

std::string decode_form(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced, BadEscapes::kKeep).value_or(std::string());
}

// Reduces the absolute form to what follows the host. False: neither origin nor absolute form.
bool remove_authority(std::string_view& target) {
  if (!target.empty() && target.front() == '/') return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equals_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t host_bytes = std::min(target.find_first_of("/?"), target.size());
    target.remove_prefix(host_bytes);
    return host_bytes > 0;
  }
  return false;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, BadEscapes bad_escapes) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit_value(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else if (bad_escapes == BadEscapes::kRefuse) {
      return std::nullopt;
    } else {
      decoded.push_back('%');
    }
  }
  return decoded;
}

std::optional<std::string> query_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty() && decode_form(pair.substr(0, equals)) == name) {
      return decode_form(pair.substr(std::min(equals + 1, pair.size())));
    }
  }
  return std::nullopt;
}

std::string normalise_path(std::string_view path) {
  std::string normal = "/";
  normal.reserve(path.size() + 1);
  for (const char c : path) {
    if (c != '/' || normal.back() != '/') normal.push_back(c);
  }
  if (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

std::optional<TargetParts> split_target(std::string_view target) {
  if (target == "*") return TargetParts{"*", ""};
  if (!remove_authority(target)) return std::nullopt;
  const std::size_t mark = std::min(target.find('?'), target.size());
  return TargetParts{normalise_path(target.substr(0, mark)),
                     std::string(target.substr(std::min(mark + 1, target.size())))};
}

}  // namespace zerohop
