// The texts of `zerohop --help` and `zerohop COMMAND --help`. Pure; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/command_line.h"

namespace zerohop {

/// The subcommands, as typed.
inline constexpr std::array<std::string_view, 12> kCommandNames{
    "serve",        "chat",      "keys",  "pull",    "check-config", "tokenize",
    "explain-miss", "constrain", "usage", "explain", "top",          "doctor"};

/// The help of `command`; of the whole program for kHelp and kVersion.
std::string command_help(Command command);

}  // namespace zerohop
