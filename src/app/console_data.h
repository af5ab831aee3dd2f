// What the console and `zerohop top` show, as one JSON object: the state of the engine, live and
// ended requests. I/O thread.
#pragma once

#include <optional>
#include <string>

#include "app/service.h"
#include "core/tenant.h"

namespace zerohop {

/// Whose requests are shown: this tenant's; nothing: everybody's. By number: a tenant that is made
/// anew under an old name sees nothing of the old one.
using ConsoleView = std::optional<TenantId>;

bool shows(const ConsoleView& view, TenantId tenant);

/// The numbers of the engine belong to the instance and are the same in every view.
std::string console_data(const Service& service, const ConsoleView& view);

/// The last requests that are over, the latest first, `{"data":[…]}`.
std::string requests_body(const Service& service, const ConsoleView& view);

}  // namespace zerohop
