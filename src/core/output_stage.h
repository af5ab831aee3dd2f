// The output stage: what happens to an accepted token before a client sees it.
//
//   segment into text, thinking, tool call → stop sequences → policy hold-back → whole UTF-8 →
//   event
//
// The engine calls it once per accepted token and does not know what is inside; app/ composes it.
// One stage per request, used by the engine thread only, in the step loop: no locks, no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/token.h"

namespace zerohop {

/// Whether generation goes on after a token.
struct StageVerdict {
  bool stop = false;          ///< true: a stop sequence matched with this token
  std::string stop_sequence;  ///< the one that matched
};

class OutputStage {
 public:
  virtual ~OutputStage() = default;

  /// Takes one accepted token and its raw bytes (perhaps half a character) and appends the events
  /// that can be shown now, if any, to `events`. After a verdict of stop it is not called again.
  virtual StageVerdict accept(Token token, std::string_view bytes, std::vector<Event>& events) = 0;

  /// Generation ended for another reason than a stop: text that was held back because it could
  /// still have become a match is shown now. Not called after a verdict of stop, nor after a
  /// failure.
  virtual void flush(std::vector<Event>& events) = 0;
};

}  // namespace zerohop
