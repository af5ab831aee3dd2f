#include "app/config_rules.h"

#include <algorithm>
#include <system_error>

#include "app/config_load.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

// Instance ids, pools and label names become header values, metric labels and parts of file names.
std::optional<std::string> name_rule(std::string_view text) {
  constexpr std::size_t kNameBytesMax = 64;
  if (!text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, is_name_byte)) {
    return std::nullopt;
  }
  return "must be 1 to 64 letters, digits, '-', '_' or '.'";
}

// The id may be left empty: one is then made up.
std::optional<std::string> instance_id_rule(std::string_view text) {
  return text.empty() ? std::nullopt : name_rule(text);
}

// Label values and model patterns are sent in headers and printed.
std::optional<std::string> printable_rule(std::string_view text) {
  constexpr std::size_t kTextBytesMax = 256;
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (!text.empty() && text.size() <= kTextBytesMax && std::ranges::all_of(text, printable)) {
    return std::nullopt;
  }
  return "must be 1 to 256 printable ASCII characters";
}

std::optional<HostAndPort> split_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = whole_number<decltype(HostAndPort::port)>(text.substr(colon + 1));
  if (!port || host.empty()) return std::nullopt;
  return HostAndPort{std::string(host), *port};
}

std::optional<std::string> host_rule(std::string_view text) {
  const auto graphic = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!text.empty() && std::ranges::all_of(text, graphic)) return std::nullopt;
  return "is not an address or host name";
}

// sockaddr_un holds 108 bytes, the closing zero included.
std::optional<std::string> socket_path_rule(std::string_view text) {
  constexpr std::size_t kSocketPathBytesMax = 107;
  if (text.size() <= kSocketPathBytesMax && text.find('\0') == text.npos) return std::nullopt;
  return "is longer than the 107 bytes that a Unix socket's path may have";
}

// Its token is all that stands between a stranger and every key, so it is for this machine alone.
std::optional<std::string> admin_listen_rule(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.starts_with('/')) return socket_path_rule(text);
  const std::optional<HostAndPort> place = split_host_and_port(text);
  if (place && is_loopback_host(place->host)) return std::nullopt;
  return "must be the absolute path of a Unix socket, or 127.0.0.1:PORT or [::1]:PORT";
}

std::optional<std::string> not_empty_rule(std::string_view text) {
  if (!text.empty() && text.find('\0') == text.npos) return std::nullopt;
  return "must not be empty";
}

}  // namespace zerohop
