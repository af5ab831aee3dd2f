#include "api/error_body.h"

#include <algorithm>
#include <chrono>

#include "api/json_writer.h"

namespace zerohop {
namespace {

// Clients pick a typed exception by it.
std::string_view detail_code(const Error& error) {
  if (!error.detail.empty()) return error.detail;
  if (error.code == ErrorCode::kUnsupportedEncoding) return "request_body_encoding_unsupported";
  return {};
}

}  // namespace

std::string_view anthropic_error_type(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kUnsupportedEncoding:
    case ErrorCode::kPromptTooLong:
    case ErrorCode::kMethodNotAllowed:
    case ErrorCode::kHeadTooLarge:
    case ErrorCode::kWrongInstance: return "invalid_request_error";
    case ErrorCode::kAuthentication: return "authentication_error";
    case ErrorCode::kPermission: return "permission_error";
    case ErrorCode::kNotFound: return "not_found_error";
    case ErrorCode::kConflict: return "conflict_error";
    case ErrorCode::kRequestTooLarge: return "request_too_large";
    case ErrorCode::kRateLimited: return "rate_limit_error";
    case ErrorCode::kOverloaded:
    case ErrorCode::kShed: return "overloaded_error";
    case ErrorCode::kRequestTimeout:
    case ErrorCode::kTimeout: return "timeout_error";
    case ErrorCode::kShuttingDown:
    case ErrorCode::kInternal:
    case ErrorCode::kModelFailure:
    case ErrorCode::kCancelled:
    case ErrorCode::kConfiguration:
    case ErrorCode::kModelUnavailable:
    case ErrorCode::kAddressInUse: return "api_error";
  }
  return "api_error";
}

std::string error_text(const Error& error) {
  if (error.message.empty() && error.field.empty()) {
    return std::string(error_traits(error.code).name);
  }
  if (error.field.empty()) return error.message;
  const std::string prefix = error.field + ": ";
  if (error.message.starts_with(prefix)) return error.message;
  return prefix + (error.message.empty() ? "is not valid" : error.message);
}

std::string anthropic_error_body(const Error& error, std::string_view request_id) {
  std::string body = R"({"type":"error","error":{"type":")";
  body.append(anthropic_error_type(error.code)).append(R"(","message":)");
  append_json_untrusted(error_text(error), body);
  const std::string_view detail = detail_code(error);
  if (!detail.empty()) {
    body.append(R"(,"details":{"error_code":)");
    append_json_untrusted(detail, body);
    body.push_back('}');
  }
  body.append(R"(},"request_id":)");
  if (request_id.empty()) {
    body.append("null");
  } else {
    append_json_untrusted(request_id, body);
  }
  body.push_back('}');
  return body;
}

std::vector<std::pair<std::string_view, std::string>> error_headers(const Error& error) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongestAdvice{60'000};

  std::vector<std::pair<std::string_view, std::string>> headers;
  const bool in_vain = error.retry_after > kLongestAdvice;
  const bool retryable = error_traits(error.code).retryable && !in_vain;
  headers.emplace_back("x-should-retry", retryable ? "true" : "false");
  if (error.retry_after <= milliseconds{0}) return headers;
  const milliseconds wait = std::min(error.retry_after, kLongestAdvice);
  headers.emplace_back("retry-after",
                       std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
  headers.emplace_back("retry-after-ms", std::to_string(wait.count()));
  return headers;
}

}  // namespace zerohop
