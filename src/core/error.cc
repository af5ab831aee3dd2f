#include "core/error.h"

#include <array>
#include <cstddef>

namespace zerohop {
namespace {

constexpr std::array<ErrorTraits, 23> kTable{{
    {ErrorCode::kInvalidRequest, "invalid_request", 400, false},
    {ErrorCode::kUnsupportedEncoding, "unsupported_encoding", 400, false},
    {ErrorCode::kPromptTooLong, "prompt_too_long", 400, false},
    {ErrorCode::kAuthentication, "authentication", 401, false},
    {ErrorCode::kPermission, "permission", 403, false},
    {ErrorCode::kNotFound, "not_found", 404, false},
    {ErrorCode::kMethodNotAllowed, "method_not_allowed", 405, false},
    {ErrorCode::kRequestTimeout, "request_timeout", 408, true},
    {ErrorCode::kConflict, "conflict", 409, true},
    {ErrorCode::kRequestTooLarge, "request_too_large", 413, false},
    {ErrorCode::kHeadTooLarge, "head_too_large", 431, false},
    {ErrorCode::kWrongInstance, "wrong_instance", 421, false},
    {ErrorCode::kRateLimited, "rate_limited", 429, true},
    {ErrorCode::kOverloaded, "overloaded", 529, true},
    {ErrorCode::kShed, "shed", 503, true},
    {ErrorCode::kShuttingDown, "shutting_down", 503, true},
    {ErrorCode::kTimeout, "timeout", 504, true},
    {ErrorCode::kInternal, "internal", 500, true},
    {ErrorCode::kModelFailure, "model_failure", 500, true},
    {ErrorCode::kCancelled, "cancelled", 0, false},
    {ErrorCode::kConfiguration, "configuration", 0, false},
    {ErrorCode::kModelUnavailable, "model_unavailable", 0, false},
    {ErrorCode::kAddressInUse, "address_in_use", 0, false},
}};

// The table is indexed by the enum; this keeps the two in step.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].code) != i) return false;
  }
  return static_cast<std::size_t>(ErrorCode::kAddressInUse) + 1 == kTable.size();
}
static_assert(in_order());

}  // namespace

const ErrorTraits& error_traits(ErrorCode code) { return kTable[static_cast<std::size_t>(code)]; }

Error prompt_too_long(std::size_t prompt_tokens, std::size_t window_tokens) {
  return Error{ErrorCode::kPromptTooLong,
               "prompt is too long: " + std::to_string(prompt_tokens) + " tokens > " +
                   std::to_string(window_tokens) + " maximum",
               "",
               {}};
}

Error prompt_and_output_too_long(const AnswerDoesNotFit& counts) {
  return Error{ErrorCode::kPromptTooLong,
               "input length and `max_tokens` exceed context limit: " +
                   std::to_string(counts.prompt_tokens) + " + " +
                   std::to_string(counts.max_tokens) + " > " +
                   std::to_string(counts.window_tokens) +
                   ", decrease input length or `max_tokens` and try again",
               "",
               {}};
}

Error max_tokens_too_large(std::size_t asked, std::size_t allowed, std::string_view model) {
  return invalid_request("max_tokens",
                         "max_tokens: " + std::to_string(asked) + " > " + std::to_string(allowed) +
                             ", which is the maximum allowed number of output tokens for " +
                             std::string(model));
}

}  // namespace zerohop
