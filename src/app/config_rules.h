// What texts of the configuration must look like: rules for TextType and TextMapType
// (config_table.h). Each says what is wrong as the end of "'X' ..."; nothing when it is fine.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zerohop {

std::optional<std::string> name_rule(std::string_view text);
std::optional<std::string> instance_id_rule(std::string_view text);
std::optional<std::string> printable_rule(std::string_view text);
std::optional<std::string> host_rule(std::string_view text);
std::optional<std::string> socket_path_rule(std::string_view text);
std::optional<std::string> not_empty_rule(std::string_view text);

}  // namespace zerohop
