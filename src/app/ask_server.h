// How commands ask a running server: where it is, and with which key. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

inline constexpr std::string_view kDefaultServerUrl = "http://127.0.0.1:8080";

struct ServerPlace {
  std::string url{kDefaultServerUrl};  ///< of the server, or of its admin listener
  /// For a server that asks for keys: the admin token in this file, or, where it is empty, the key
  /// in the variable ANTHROPIC_API_KEY. Never on the command line, which everybody can read.
  std::string token_file;
};

/// The body of `path` (`/v1/system_info`) there. Errors: those of http_get(), kConfiguration (the
/// file cannot be read).
Result<std::string> ask_server(const ServerPlace& place, std::string_view path);

}  // namespace zerohop
