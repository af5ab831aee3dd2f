// The soft cap of an answer: once a share of its tokens is used up, further texts end it, or the
// end of a sentence does, so that a long answer ends cleanly and not in the middle of a word.
//
//   max_tokens 100, at 0.85, sentence     tokens 1 … 84    stop sequences of the request only
//                                         tokens 85 …      and the next end of a sentence
//
// Compiled into one automaton together with the request's own stop sequences, which keep their
// meaning and come first; the matcher changes over to it when the cap is reached
// (stop_automaton.h). What began in text that was shown before is no match any more, because it
// cannot be taken back.
//
// A sentence ends with . ! ? … and their kin, quotes and brackets behind them, and white space;
// with full-width marks alone; or with an empty line. The marks are shown, the white space is not.
// Some abbreviations ("e.g. ") do not end one.
//
// Immutable, may be shared by any threads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/stop_automaton.h"
#include "core/request.h"

namespace zerohop {

class SoftCapStops {
 public:
  /// `hard`: the request's stop sequences, which the automaton keeps under the same indices.
  static std::shared_ptr<const SoftCapStops> compile(std::span<const std::string> hard,
                                                     const SoftCap& cap);

  const std::shared_ptr<const StopAutomaton>& automaton() const { return automaton_; }

  /// Whether a match of text `index` ends the answer; otherwise it only looks like the end of a
  /// sentence.
  bool ends(std::size_t index) const { return index < abbreviations_ || index >= sentences_; }
  /// How many of the first bytes of the match are shown.
  std::size_t bytes_shown(std::size_t index) const {
    return index < sentences_ ? 0 : marks_[index - sentences_];
  }
  /// What ended the answer, for the reply: a stop sequence, or the marks that ended the sentence.
  std::string_view reported(std::size_t index) const;

 private:
  SoftCapStops() = default;

  // Texts of the automaton: stops of both kinds, then abbreviations, then ends of sentences.
  std::shared_ptr<const StopAutomaton> automaton_;
  std::size_t abbreviations_ = 0;   // index of the first
  std::size_t sentences_ = 0;       // likewise
  std::vector<std::size_t> marks_;  // bytes of each end of a sentence that are shown
};

}  // namespace zerohop
