// Reads what a model writes, byte by byte as it comes, into text, thinking and tool calls. A piece
// may end anywhere, also within a character or a tag; what comes out, joined, does not depend
// on how the output was cut (the tests cut at every byte).
//
// Everything is given out as soon as it is certain. Held back is
//
//   what may still become a tag                    until it is one, or is not
//   white space at the end of a piece of text      until more text follows; a tag drops it
//   a call whose name is not known                 until it is, or cannot be: then it is text
//   a tagged value that may be JSON                until its end
//
// One object per answer, used by one thread. A token of text or arguments costs 20 to 30 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prompt/json_answer.h"
#include "prompt/mark_scanner.h"
#include "prompt/output_plan.h"
#include "prompt/segment_sink.h"
#include "prompt/tool_call_reader.h"

namespace zerohop {

/// Whether white space at the end of text waits for what follows it.
enum class TrailingSpace : std::uint8_t {
  kHold,
  kShow,  ///< for answers that may have to stop at it
};

class OutputSegmenter {
 public:
  /// `plan` is copied, the tool syntax it points to is not.
  explicit OutputSegmenter(const OutputPlan& plan, TrailingSpace space = TrailingSpace::kHold);

  /// Whether the output of this plan has any parts to tell apart; otherwise all of it is text as it
  /// stands.
  static bool needed_for(const OutputPlan& plan);

  /// Takes the next bytes of the output. After done() they are dropped.
  void feed(std::string_view bytes, SegmentSink& sink);

  /// No more bytes will come: gives out what was held back and completes what is open. Then done.
  void end(SegmentSink& sink);

  /// The answer is complete: its one call has ended, or its JSON value has.
  bool done() const { return done_; }

  /// Calls given out so far, the open one included.
  std::size_t calls() const { return calls_ + (reader_ ? reader_->calls_begun() : 0); }

  /// The last byte taken was thinking, or something that may prove to be.
  bool thinking() const;

 private:
  enum class Mode : std::uint8_t {
    kText,
    kThinking,
    kCall,    // a reader has the bytes; perhaps it proves to be no call
    kRubble,  // the rest of a call that went wrong: dropped up to the next mark
    kJson,    // inside the JSON that the answer must be
    kExact,   // inside a text that is shown as it is
  };

  void begin(SegmentSink& sink);
  bool step(SegmentSink& sink);
  bool step_marks(SegmentSink& sink);
  bool step_bare_call(SegmentSink& sink);
  bool step_exact();
  bool step_call(SegmentSink& sink);
  void take_mark(const Mark& mark);
  void begin_block(Mode mode);
  void begin_call(std::string_view mark, CallOpening opening);
  void begin_forced_call(SegmentSink& sink);
  void end_call(Mode next);
  void give_back_call(SegmentSink& sink);
  void end_open_call(SegmentSink& sink);
  void give(std::string_view bytes, SegmentSink& sink);
  void give_text(std::string_view bytes, SegmentSink& sink);
  void give_json(std::string_view bytes, SegmentSink& sink);
  void show(std::string_view bytes, SegmentSink& sink);
  void end_json(SegmentSink& sink);

  // Constant.
  const ToolSyntax* syntax_;
  bool one_call_;
  bool thinks_;
  OutputStart start_;
  std::string forced_tool_;
  std::shared_ptr<const OfferedTools> offered_;
  bool exact_;           // the answer is a text in which marks mean nothing
  bool continues_text_;  // the answer goes on with a text of the client's
  TrailingSpace space_kept_;
  MarkScanner scanner_;

  Mode mode_ = Mode::kText;
  bool begun_ = false;
  bool final_ = false;
  bool done_ = false;
  bool any_shown_ = false;
  std::size_t calls_ = 0;  // of readers that are gone
  std::optional<JsonAnswer> json_;

  // The bytes not taken yet: a view of feed()'s argument or of joined_. Between two calls they are
  // in held_.
  std::string_view input_;
  std::string joined_;
  std::string held_;

  // Of the current block of text or thinking.
  bool block_shown_ = false;  // some of it has been given out
  bool drop_space_ = false;   // white space at its beginning is dropped
  std::string space_;         // white space held back

  // Of the current call.
  std::optional<ToolCallReader> reader_;
  CallOpening opening_ = CallOpening::kMarked;
  Mode call_in_ = Mode::kText;  // the mode to return to when it is none
  std::string raw_;             // all of it, for as long as it may be none
  std::size_t raw_mark_ = 0;    // of that, the open mark
};

}  // namespace zerohop
