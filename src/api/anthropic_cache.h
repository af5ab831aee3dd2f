// `cache_control`: marks behind which a client ends the part of its prompt that it will send again.
// Internal to api/; pure functions; any thread. Source: Messages API, prompt caching.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "api/json_place.h"
#include "api/parse_options.h"
#include "core/error.h"
#include "core/request.h"

namespace zerohop {

/// The lifetime of the mark that `place` (a block, a tool, the whole body) carries; nothing without
/// one, and null is none. A lifetime that the protocol does not have is its default. Errors: a mark
/// that is no object, a lifetime that is no text; in strict mode also another type or lifetime than
/// the protocol has.
Result<std::optional<std::chrono::seconds>> cache_mark_of(const JsonPlace& place,
                                                          const ParseOptions& options);

/// Gathers the marks of one request in the order tools, system, messages. Only the last one counts
/// for the prompt, with the longest lifetime of all; their number is bounded in strict mode.
class CacheMarks {
 public:
  explicit CacheMarks(const ParseOptions& options) : options_(options) {}

  /// Something that could carry a mark has been read, and ends at `end`.
  void pass(CacheMark end) { end_ = end; }
  /// Takes the mark of `place`, if there is one, at the end of what was passed last. With nothing
  /// in front of it there is nothing to mark.
  Result<void> take(const JsonPlace& place);

  /// The blocks of message `message` have changed places: block i is now at places[i].
  void reorder(std::size_t message, std::span<const std::size_t> places);

  const std::optional<CacheMark>& last() const { return last_; }

 private:
  ParseOptions options_;
  std::optional<CacheMark> end_;
  std::optional<CacheMark> last_;
  std::size_t count_ = 0;
};

}  // namespace zerohop
