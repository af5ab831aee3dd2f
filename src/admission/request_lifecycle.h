// The life of a request, drawn and asserted.
//
//   kIdle ──▶ kReceiving ──▶ kValidating ──▶ kInferring ──▶ kStreaming ──▶ kDone
//     │           │               │               │              │
//     └───────────┴───────────────┴───────┬───────┴──────────────┘
//                                         ├──▶ kFailed      (a typed error was the answer)
//                                         └──▶ kCancelled   (the client went away)
//
//   kIdle        the head has been read, nothing decided
//   kReceiving   permit held; the body is read
//   kValidating  a worker parses, renders, tokenises
//   kInferring   the engine has it; no byte of the answer is out
//   kStreaming   bytes of the answer are out; only here an error is an event instead of a status
//   kDone, kFailed, kCancelled   final
//
// kValidating may go to kDone directly: count_tokens answers without the engine. While one request
// is in kInferring others receive and validate; the states overlap across requests.
//
// Each state has a time stamp. Owned by the session's coroutine (I/O thread).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace zerohop {

enum class RequestState : std::uint8_t {
  kIdle,
  kReceiving,
  kValidating,
  kInferring,
  kStreaming,
  kDone,
  kFailed,
  kCancelled,
};
inline constexpr std::size_t kRequestStates = 8;

std::string_view request_state_name(RequestState state);

bool is_final(RequestState state);

/// Whether the drawing above has an edge from `from` to `to`.
bool can_advance(RequestState from, RequestState to);

class RequestLifecycle {
 public:
  explicit RequestLifecycle(TimePoint now);

  RequestState state() const { return state_; }

  /// Takes the edge to `to`. An edge that is not in the drawing is a bug and crashes.
  void advance(RequestState to, TimePoint now);

  /// Time spent in `state`; until `now` for the current one, zero for one never entered.
  Duration time_in(RequestState state, TimePoint now) const;
  /// When `state` was entered; nothing: it never was.
  std::optional<TimePoint> entered_at(RequestState state) const;
  /// When it was left; nothing: it never was, or the request is in it now.
  std::optional<TimePoint> left_at(RequestState state) const;
  /// Time since the request began.
  Duration age(TimePoint now) const { return now - entered_[0]; }

 private:
  static constexpr TimePoint kNever = TimePoint::min();

  RequestState state_ = RequestState::kIdle;
  std::array<TimePoint, kRequestStates> entered_;
  std::array<TimePoint, kRequestStates> left_;
};

}  // namespace zerohop
