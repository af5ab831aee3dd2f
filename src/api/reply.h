// What handlers see of a dialect, outward: typed events of one request (one or several choices) in,
// bytes out. The dialects implement it; app/ drives it and knows no dialect beyond its choice.
//
// One object per request, used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/event.h"

namespace zerohop {

/// A streamed answer: events → complete SSE frames.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;

  /// Appends the frames for `event` of choice `choice` (from 0) to `out`. The events of one choice
  /// come in the order of core/event.h; those of several choices in any interleaving. Anything
  /// after the end of a choice is a bug and crashes. A Failed of any choice ends the whole answer.
  virtual void append(std::uint32_t choice, const Event& event, std::string& out) = 0;

  /// What keeps the connection alive during silence, also before the first event.
  virtual void append_keep_alive(std::string& out) = 0;

  /// What ends the answer at this point for one reader who stays no longer, while it goes on for
  /// others: as a Failed would, and nothing of it changes. Not once it has ended.
  virtual void append_failure(const Error& error, std::string& out) const = 0;

  /// The last frame has been written: every choice has finished, or one has failed.
  virtual bool ended() const = 0;
};

/// A whole answer: events → one JSON body.
class WholeReply {
 public:
  virtual ~WholeReply() = default;

  virtual void add(std::uint32_t choice, const Event& event) = 0;
  /// Every choice has finished, or one has failed.
  virtual bool complete() const = 0;
  /// The error to answer with in place of body(); null when there is none. An unfinished answer is
  /// never passed off as a whole one.
  virtual const Error* failure() const = 0;
  /// complete(), and no failure().
  virtual std::string body() const = 0;
};

}  // namespace zerohop
