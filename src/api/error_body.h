// Errors as the Anthropic dialect writes them, and the headers that steer a client's retries.
// Pure functions; any thread. Source: Messages API, errors; retry rules of the official SDKs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace zerohop {

/// `error.type` on the wire, such as `invalid_request_error`.
std::string_view anthropic_error_type(ErrorCode code);

/// The text a client shows: `field: message`, or the message alone when there is no field or it
/// begins with the field already. Never empty.
std::string error_text(const Error& error);

/// `{"type":"error","error":{"type":…,"message":…},"request_id":…}`; an empty id becomes null.
/// `error` has `details` with an `error_code` where the protocol has one. On one line, and valid
/// JSON whatever bytes the message holds. Also the data of an SSE `error` event.
std::string anthropic_error_body(const Error& error, std::string_view request_id);

/// `x-should-retry`, by which the SDKs decide before they look at the status: not where they would
/// have to wait for longer than they do, such as until a budget begins anew. With advice to wait
/// also `retry-after` (whole seconds, rounded up) and `retry-after-ms`. Never more than 60 s: older
/// SDKs ignore longer waits and come back within 8 s.
std::vector<std::pair<std::string_view, std::string>> error_headers(const Error& error);

}  // namespace zerohop
