// The built-in console: one page without anything from elsewhere, made from console_page.html when
// the program is built. Any thread.
#pragma once

#include <string_view>

namespace zerohop {

/// All of its HTML. It asks for `console/data` beside itself (console_data.h).
std::string_view console_page();

/// What a browser may do for the page: run its own script and style, and ask this server. (Its icon
/// is an empty data: address, or browsers would ask for /favicon.ico.)
inline constexpr std::string_view kConsolePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action "
    "'none'";

}  // namespace zerohop
