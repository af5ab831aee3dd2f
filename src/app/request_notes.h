// What is noted about one request on its way, for its log line and its metrics: part of the
// RequestContext. Plain values; written on the I/O thread, or on the worker that reads the body
// while the exchange waits for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/cache_miss.h"
#include "core/error.h"
#include "core/request.h"
#include "core/tenant.h"

namespace zerohop {

/// A client ran a tool and sent what came of it.
struct ToolResultNote {
  std::string tool;
  bool ok = false;  ///< it was no error
};

struct RequestNotes {
  std::string model;              ///< as the client named it; empty: it did not
  std::uint32_t max_tokens = 0;   ///< that it asked for, of all answers together
  std::uint64_t cache_key = 0;    ///< hash of the client's own cache key; 0: none
  std::uint64_t fingerprint = 0;  ///< hash of the body; 0: none was read
  PriorityClass priority = PriorityClass::kStandard;
  bool streamed = false;               ///< it asked for a stream
  std::optional<Duration> queue;       ///< from the engine's acceptance to a place in a batch
  std::optional<Duration> first_text;  ///< from the first byte of the request
  std::optional<Duration> last_text;   ///< likewise
  bool joined = false;                 ///< it read an answer that another request had begun
  MissCause miss = MissCause::kNone;
  /// Of its metadata, those that metrics.labels names; values are redacted.
  RequestLabels labels;
  /// Of its last message, if metrics.labels names `tool`.
  std::vector<ToolResultNote> tool_results;
  std::optional<Error> failure;  ///< what it was answered with, in a status or inside a stream
};

/// What is asked of a body that has been parsed. Null members: the dialect has no such thing.
struct ReadBody {
  std::string_view body;
  std::string_view model;
  const RequestLabels* labels = nullptr;
  const Conversation* conversation = nullptr;
};

/// Notes what only the body tells. `allowed`: metrics.labels. On a worker.
void note_body(RequestNotes& notes, const ReadBody& read, std::span<const std::string> allowed);

}  // namespace zerohop
