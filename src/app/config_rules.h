// What texts of the configuration must look like: rules for TextType and TextMapType
// (config_table.h). Each says what is wrong as the end of "'X' ..."; nothing when it is fine.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

/// `127.0.0.1:9090`, `[::1]:9090`; nothing for anything else.
struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
};
std::optional<HostAndPort> split_host_and_port(std::string_view text);

std::optional<std::string> name_rule(std::string_view text);
std::optional<std::string> instance_id_rule(std::string_view text);
std::optional<std::string> printable_rule(std::string_view text);
std::optional<std::string> host_rule(std::string_view text);
std::optional<std::string> socket_path_rule(std::string_view text);
std::optional<std::string> admin_listen_rule(std::string_view text);
std::optional<std::string> not_empty_rule(std::string_view text);

}  // namespace zerohop
