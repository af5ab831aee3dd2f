// What the console and `zerohop top` show, as one JSON object: the state of the engine, live and
// ended requests. I/O thread.
#pragma once

#include <string>
#include <string_view>

#include "app/service.h"

namespace zerohop {

/// Whose requests are shown.
struct ConsoleView {
  std::string_view tenant;  ///< only this one's; empty: everybody's
};

/// The numbers of the engine belong to the instance and are the same in every view.
std::string console_data(const Service& service, const ConsoleView& view);

/// The last requests that are over, the latest first, `{"data":[…]}`.
std::string requests_body(const Service& service, const ConsoleView& view);

}  // namespace zerohop
