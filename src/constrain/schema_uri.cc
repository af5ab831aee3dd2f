#include "constrain/schema_uri.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/hex.h"

namespace zerohop {
namespace {

struct UriParts {
  std::string_view scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

bool is_scheme(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

UriParts parse_uri(std::string_view text) {
  UriParts parts;
  if (const auto hash = text.find('#'); hash != std::string_view::npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    parts.scheme = text.substr(0, colon);
    text = text.substr(colon + 1);
  }
  if (const auto mark = text.find('?'); mark != std::string_view::npos) {
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const auto slash = text.find('/');
    parts.authority = text.substr(0, slash);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash);
  }
  parts.path = text;
  return parts;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool rooted = path.starts_with('/');
  bool ends_open = false;
  std::size_t at = rooted ? 1 : 0;
  while (at <= path.size()) {
    const auto slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    ends_open = part == "." || part == "..";
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (part != ".") {
      kept.push_back(part);
    }
    at = slash + 1;
  }
  std::string text = rooted ? "/" : "";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) text += '/';
    text += kept[i];
  }
  if (ends_open && !kept.empty()) text += '/';
  return text;
}

std::string merged_path(const UriParts& base, std::string_view reference) {
  if (base.authority && base.path.empty()) return "/" + std::string(reference);
  const auto slash = base.path.rfind('/');
  if (slash == std::string_view::npos) return std::string(reference);
  return std::string(base.path.substr(0, slash + 1)) + std::string(reference);
}

std::string assemble(const UriParts& parts, std::string_view path) {
  std::string text;
  if (!parts.scheme.empty()) text.append(parts.scheme).append(":");
  if (parts.authority) text.append("//").append(*parts.authority);
  text.append(path);
  if (parts.query) text.append("?").append(*parts.query);
  if (parts.fragment) text.append("#").append(*parts.fragment);
  return text;
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  UriParts to = parse_uri(reference);
  if (!to.scheme.empty()) return std::string(reference);
  const UriParts from = parse_uri(base);
  to.scheme = from.scheme;
  if (to.authority) return assemble(to, without_dots(to.path));
  to.authority = from.authority;
  if (to.path.empty()) {
    if (!to.query) to.query = from.query;
    return assemble(to, from.path);
  }
  const bool rooted = to.path.starts_with('/');
  return assemble(to, without_dots(rooted ? std::string(to.path) : merged_path(from, to.path)));
}

std::pair<std::string, std::string> split_fragment(std::string_view uri) {
  const auto hash = uri.find('#');
  if (hash == std::string_view::npos) return {std::string(uri), std::string()};
  return {std::string(uri.substr(0, hash)), std::string(uri.substr(hash + 1))};
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? hex_digit_value(text[i + 1]) : -1;
    const int low = escape ? hex_digit_value(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace zerohop
