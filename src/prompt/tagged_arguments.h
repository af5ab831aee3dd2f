// Turns tagged parameters (ToolSyntaxKind::kTagged) into the JSON object of a call's arguments:
//
//   <parameter=city>⏎Oslo⏎</parameter>⏎<parameter=days>⏎3⏎</parameter>⏎</function>
//   {"city":"Oslo","days":3}
//
// A value that is JSON of another kind than a string stays as it is; anything else is a string, and
// so is the value of a parameter that can only be one. It streams as soon as it cannot be JSON any
// more; until then the value is held back, because the first byte of the JSON depends on it.
//
// A string ends with the first mark that ends a value. Of a parameter that cannot be a string, the
// value is read as JSON, so that a mark within a string of it is a part of that string. Where it
// turns out to be no JSON, with the mark behind it, the first mark ended it after all: then what
// was read behind that is read once more, and bytes of earlier pieces may be left over
// (take_unread()).
//
// One object per call; not shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "constrain/json_prefix.h"
#include "prompt/parameter_kinds.h"
#include "prompt/tool_syntax.h"

namespace zerohop {

class TaggedArguments {
 public:
  enum class State : std::uint8_t {
    kReading,
    kDone,    ///< the object is whole
    kNoCall,  ///< something else than a parameter or an end stands at the beginning
  };

  /// `kinds` outlives the object; null: not known.
  explicit TaggedArguments(const ToolSyntax& syntax, const ParameterKinds* kinds = nullptr);

  /// Takes bytes from the front of `bytes` and appends to `json` what may be shown. Leaves bytes
  /// only when done.
  State feed(std::string_view& bytes, std::string& json);

  /// A parameter or the end has been seen: this is a call.
  bool begun() const { return begun_; }

  /// When done: the open mark of another call was taken in place of an end.
  bool ended_by_next_call() const { return next_call_seen_; }

  /// This is a call whatever follows.
  void be_sure() { begun_ = true; }

  /// No more bytes will come: appends what completes the object.
  void close(std::string& json);

  /// When done: bytes behind the end that came in front of those that feed() left.
  std::string take_unread() { return std::move(unread_); }

 private:
  enum class Step : std::uint8_t { kBetween, kKey, kValueBegin, kValue, kDone, kNoCall };

  bool step(std::string& json);  // false: more bytes are needed, or it has ended
  bool step_between(std::string& json);
  bool step_key();
  void begin_value();
  bool step_value(std::string& json);
  bool step_json_value(std::string& json);
  void take_for_open();
  void stream_value(std::size_t safe, std::string& json);
  bool is_string(std::string_view value);
  void finish_value(std::string_view value, std::string& json);
  void begin_member(std::string& json);
  void finish_object(std::string& json);

  std::string_view open_, middle_, middle_rest_, close_;  // the cores of a parameter's marks
  std::array<std::string_view, 2> ends_;                  // of the arguments
  std::string_view next_call_;
  const ParameterKinds* kinds_;
  bool line_begin_ = false;  // a line feed in front of a value belongs to the mark
  bool line_end_ = false;    // and one behind it

  std::string buffer_;  // not taken yet
  std::string unread_;
  std::size_t at_ = 0;
  Step step_ = Step::kBetween;
  bool begun_ = false;
  bool next_call_seen_ = false;
  bool any_ = false;  // the object has been opened in the JSON
  std::string key_;

  // Of the current value, which begins at at_.
  JsonPrefix probe_;
  std::size_t probed_ = 0;  // bytes of the value that the probe has seen
  std::size_t shown_ = 0;   // bytes of the value given out
  bool string_ = false;     // it cannot be JSON of another kind
  bool json_ = false;       // it is read as JSON
  bool streaming_ = false;  // its quote has been given out
};

}  // namespace zerohop
