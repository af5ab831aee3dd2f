// The output stage: what happens to an accepted token before a client sees it.
//
//   segment into text, thinking, tool call → stop sequences → policy hold-back → whole UTF-8 →
//   event
//
// The engine calls it once per accepted token and does not know what is inside; app/ composes it.
// One stage per request, used by the engine thread only, in the step loop: no locks, no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/token.h"

namespace zerohop {

/// Whether generation goes on after a token.
struct StageVerdict {
  std::optional<FinishReason> end;  ///< set: the answer is complete with this token, and why
  std::string stop_sequence;        ///< of kStopSequence: the one that matched
};

class OutputStage {
 public:
  virtual ~OutputStage() = default;

  /// Takes one accepted token and its raw bytes (perhaps half a character) and appends the events
  /// that can be shown now, if any, to `events`. After a verdict with an end it is not called
  /// again.
  virtual StageVerdict accept(Token token, std::string_view bytes, std::vector<Event>& events) = 0;

  /// Generation ended for `reason`, without a verdict: what was held back is shown now. Returns the
  /// reason to report: a turn that ended with tool calls ended for these. Not called after a
  /// verdict with an end, nor after a failure.
  virtual FinishReason flush(FinishReason reason, std::vector<Event>& events) = 0;

  /// The stop sequence that matched in what flush() released, which then returned kStopSequence;
  /// empty otherwise.
  virtual std::string_view flushed_stop_sequence() const { return {}; }

  /// Tokens accepted so far that were thinking.
  virtual std::uint32_t thinking_tokens() const { return 0; }
};

}  // namespace zerohop
