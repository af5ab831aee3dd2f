#include "api/openai_error_body.h"

#include "api/error_body.h"
#include "api/json_writer.h"

namespace zerohop {
namespace {

void append_or_null(std::string_view text, std::string& out) {
  if (text.empty()) {
    out.append("null");
  } else {
    append_json_untrusted(text, out);
  }
}

}  // namespace

std::string_view openai_error_type(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kUnsupportedEncoding:
    case ErrorCode::kPromptTooLong:
    case ErrorCode::kMethodNotAllowed:
    case ErrorCode::kRequestTooLarge:
    case ErrorCode::kHeadTooLarge:
    case ErrorCode::kConflict:
    case ErrorCode::kWrongInstance: return "invalid_request_error";
    case ErrorCode::kAuthentication: return "authentication_error";
    case ErrorCode::kPermission: return "permission_error";
    case ErrorCode::kNotFound: return "not_found_error";
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
    case ErrorCode::kAddressInUse: return "server_error";
  }
  return "server_error";
}

std::string_view openai_error_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::kPromptTooLong: return "context_length_exceeded";
    case ErrorCode::kAuthentication: return "invalid_api_key";
    case ErrorCode::kNotFound: return error.field == "model" ? "model_not_found" : "";
    case ErrorCode::kMethodNotAllowed: return "method_not_supported";
    case ErrorCode::kRateLimited: return "rate_limit_exceeded";
    case ErrorCode::kOverloaded:
    case ErrorCode::kShed: return "server_is_overloaded";
    default: return "";
  }
}

std::string openai_error_body(const Error& error) {
  std::string body = R"({"error":{"message":)";
  append_json_untrusted(error_text(error), body);
  body.append(R"(,"type":")").append(openai_error_type(error.code));
  body.append(R"(","param":)");
  append_or_null(error.field, body);
  body.append(R"(,"code":)");
  append_or_null(openai_error_code(error), body);
  body.append("}}");
  return body;
}

}  // namespace zerohop
