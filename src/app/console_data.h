// What the console and `zerohop top` show, as one JSON object: the state of the engine, live and
// ended requests. I/O thread.
#pragma once

#include <string>

#include "admission/key_records.h"
#include "app/service.h"
#include "core/tenant.h"

namespace zerohop {

/// Whose requests are shown: this tenant's; null: everybody's. By its number: a tenant that is made
/// anew under an old name sees nothing of the old one.
using ConsoleView = const TenantRecord*;

bool shows(ConsoleView view, TenantId tenant);

/// The numbers of the engine belong to the instance and are the same in every view. Of the requests
/// that are over there are the last answered and the last refused ones, so that a flood of either
/// does not hide the other.
std::string console_data(const Service& service, ConsoleView view);

/// The last requests that are over, the latest first, `{"data":[…]}`.
std::string requests_body(const Service& service, ConsoleView view);

}  // namespace zerohop
