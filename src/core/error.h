// One error enum and one table: what can go wrong for a peer, a user or an operator.
//
// `core` knows the HTTP status, whether a repetition of the same request can succeed, and a hint.
// The names that each wire dialect gives a code live in api/. Any thread; plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace zerohop {

enum class ErrorCode : std::uint8_t {
  kInvalidRequest,       ///< malformed or unsupported input; `field` names the place
  kUnsupportedEncoding,  ///< a Content-Encoding of the body that is not understood
  kPromptTooLong,        ///< the prompt alone exceeds the window
  kAuthentication,
  kPermission,
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,  ///< the client was too slow in sending its request
  kConflict,
  kRequestTooLarge,  ///< body over the limit
  kHeadTooLarge,     ///< request line and headers over the limit
  kWrongInstance,    ///< pinned to another instance
  kRateLimited,
  kOverloaded,    ///< queue full, no permit
  kShed,          ///< the engine is under pressure and takes nothing new (PressureRung::kShed)
  kShuttingDown,  ///< drain has begun
  kTimeout,       ///< processing took longer than its deadline
  kInternal,
  kModelFailure,      ///< the model library reported a fault for this request's batch
  kCancelled,         ///< the client went away; never sent to anybody
  kConfiguration,     ///< start-up: a wrong flag, key or file
  kModelUnavailable,  ///< start-up: no such model, or it does not load
  kAddressInUse,      ///< start-up: the port or socket is taken
};

struct ErrorTraits {
  ErrorCode code;
  std::string_view name;  ///< snake_case, for logs and metric labels
  int status;             ///< HTTP status; 0 for codes that never reach a client
  bool retryable;         ///< the same request may succeed later
};

const ErrorTraits& error_traits(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  ///< for people; says what was wrong and what would be right
  std::string field;    ///< path such as `messages[2].content[0].type`; empty when none applies
  std::chrono::milliseconds retry_after{0};  ///< 0: no advice
  /// A finer name for programs, of the dialect that parsed the request; static text, mostly empty.
  std::string_view detail = {};
};

template <class T>
using Result = BasicResult<T, Error>;

inline Error invalid_request(std::string field, std::string message) {
  return Error{ErrorCode::kInvalidRequest, std::move(message), std::move(field), {}};
}

/// The prompt alone exceeds the window. Agents parse this text to decide on compaction, so its form
/// is fixed (the Messages API's own).
Error prompt_too_long(std::size_t prompt_tokens, std::size_t window_tokens);

/// The prompt fits, but not together with the answer that was asked for. As above: agents read the
/// three numbers and come back with a smaller max_tokens.
struct AnswerDoesNotFit {
  std::size_t prompt_tokens = 0;
  std::size_t max_tokens = 0;
  std::size_t window_tokens = 0;
};
Error prompt_and_output_too_long(const AnswerDoesNotFit& counts);

/// `asked` is more than one answer of `model` may have. As above.
Error max_tokens_too_large(std::size_t asked, std::size_t allowed, std::string_view model);

}  // namespace zerohop
