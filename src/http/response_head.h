// Response heads as bytes (RFC 9112, section 4). Internal to http; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace zerohop {

/// How the end of a body is marked, and whether the connection goes on after it.
struct ResponseFraming {
  enum class Body : std::uint8_t { kLength, kChunked, kUntilClose, kNone };
  Body body = Body::kNone;
  std::uint64_t content_length = 0;  ///< with kLength
  std::string_view connection;       ///< value of the `connection` field; empty: no field
  std::string_view date;
};

/// Standard phrase of a status; `Status` for codes without one.
std::string_view reason_phrase(int status);

/// Whether a status has no body and no length by definition (1xx, 204, 304).
bool status_forbids_body(int status);

/// Status line, fields, framing, empty line. Fields that would break the message are made harmless:
/// control bytes in a value become spaces (a value may echo what a client sent), a field whose name
/// is no token is dropped, and so are the names that belong to the framing.
std::string write_response_head(const ResponseHead& head, const ResponseFraming& framing);

}  // namespace zerohop
