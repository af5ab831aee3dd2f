// Reads the calls that stand behind one open mark, in the form that a row of the table of tool
// syntaxes tells (tool_syntax.h), and gives them out while they are written. Models mix forms up;
// so it reads more than the row says: JSON where a bare name belongs, one object or several,
// "parameters" for "arguments", a call wrapped in {"function": …}.
//
// A call is given out as soon as its name is known and its arguments begin; a tagged one, with its
// first parameter. What must be true of it then: the arguments given out, joined, are one JSON
// object, whatever follows. Arguments in front of the name are held back until it is known.
// Arguments that are a string holding an object are unwrapped; arguments of any other kind are {}.
//
// Names. Without quotes a name is what looks like one: letters, digits and a few signs. A tool that
// was offered may have another name ("look up", "files:read"); the longest offered one with which
// the text goes on is it. What no reader could tell apart is not offered (name_problem()). JSON
// without a mark is a call only by the name of an offered tool, where these are known.
//
// One object per open mark; not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prompt/json_repair.h"
#include "prompt/output_plan.h"
#include "prompt/segment_sink.h"
#include "prompt/tagged_arguments.h"
#include "prompt/tool_syntax.h"

namespace zerohop {

enum class CallState : std::uint8_t {
  kReading,
  kDone,    ///< all calls are whole; a close mark may follow
  kNoCall,  ///< this is no call, and none has been given out
  kBroken,  ///< a call that was given out had to be cut short; the rest is rubble
};

enum class CallOpening : std::uint8_t {
  kMarked,
  kBare,  ///< JSON without a mark: it must look like a call in every key
};

enum class CallCount : std::uint8_t { kAny, kOne };

struct ToolCallReaderOptions {
  CallOpening opening = CallOpening::kMarked;
  CallCount count = CallCount::kAny;  ///< kOne: done with the first call
  /// OutputPlan::offered. Outlives the reader.
  const OfferedTools* offered = nullptr;
};

class ToolCallReader {
 public:
  ToolCallReader(const ToolSyntax& syntax, ToolCallReaderOptions options);

  /// Takes bytes from the front of `bytes`; all of them while kReading.
  CallState feed(std::string_view& bytes, SegmentSink& sink);

  /// This is a call whatever follows: gives it out when its name has been read.
  void be_sure(SegmentSink& sink);

  /// No more bytes will come: completes the open call. kDone, or kNoCall.
  CallState end(SegmentSink& sink);

  /// Bytes of earlier pieces that stand behind a call which is over, in front of what feed() left:
  /// they seemed to be part of a value. Behind kDone, or end().
  std::string take_unread() { return std::move(unread_); }

  /// Some call has been given out, if only in part.
  bool begun() const { return calls_begun_ > 0; }
  std::size_t calls_begun() const { return calls_begun_; }

 private:
  enum class Step : std::uint8_t {
    kBody,  // behind the open mark
    kName,
    kAfterName,
    kNamedArguments,  // where the { of the arguments must follow
    kTagged,
    kKeyOrEnd,
    kKey,
    kColon,
    kValue,
    kNameValue,
    kArguments,
    kArgumentsString,
    kSkipped,  // the value of another key
    kCommaOrEnd,
    kBetween,  // behind a call in JSON
  };

  CallState step(std::string_view& bytes, SegmentSink& sink);
  CallState step_punctuation(std::string_view& bytes, SegmentSink& sink);
  CallState begin_body(std::string_view& bytes, SegmentSink& sink);
  CallState read_name(std::string_view& bytes, SegmentSink& sink);
  CallState read_after_name(std::string_view& bytes, SegmentSink& sink);
  CallState begin_named_arguments(std::string_view& bytes, SegmentSink& sink);
  CallState read_tagged(std::string_view& bytes, SegmentSink& sink);
  CallState begin_value(std::string_view& bytes, SegmentSink& sink);
  CallState read_scalar(std::string_view& bytes, SegmentSink& sink);
  CallState read_arguments(std::string_view& bytes, SegmentSink& sink);
  CallState close_object(SegmentSink& sink);

  void begin_object();
  void begin_scalar();
  void take_string_arguments();
  void begin_call(SegmentSink& sink);
  void give_arguments(SegmentSink& sink);
  CallState finish_call(SegmentSink& sink);
  CallState fail(SegmentSink& sink);
  void begin_tagged();
  const OfferedTool* offered(std::string_view name) const;
  bool may_become_offered(std::string_view text) const;
  std::size_t name_size(std::string_view text) const;
  bool is_named() const { return syntax_.kind != ToolSyntaxKind::kJsonCall; }

  const ToolSyntax& syntax_;
  ToolCallReaderOptions options_;
  Step step_ = Step::kBody;
  bool array_ = false;
  std::size_t calls_begun_ = 0;

  // Of the current call.
  bool open_ = false;  // it has been given out and is not whole
  std::string name_;
  bool before_name_ = false;  // BEFORE_NAME has been looked for
  bool named_body_ = false;   // it is in the row's own form, not in JSON
  bool arguments_seen_ = false;
  std::size_t objects_ = 0;  // open around the call: 2 when it is wrapped
  JsonRepair arguments_{{.root = JsonRoot::kObject}};
  std::string json_;  // arguments not given out yet
  std::optional<TaggedArguments> tagged_;
  std::string unread_;

  // Of the current key or value.
  JsonRepair scalar_;
  std::string text_;
  std::string key_;
};

}  // namespace zerohop
