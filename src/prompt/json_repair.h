// Makes valid JSON of what a model means to be JSON, as it streams: an acceptor
// (constrain/json_prefix.h) behind a few repairs of faults that models are known for:
//
//   a raw line feed or another control character in a string   escaped
//   a backslash that escapes nothing ("\d", "\'")              escaped; left out in front of '
//   a comma in front of a closing bracket                      left out
//
// So a comma and a backslash are held back until the next byte is known. Any other fault ends the
// value: close() completes what came before.
//
// One object per value; not shared between threads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "constrain/json_prefix.h"

namespace zerohop {

class JsonRepair {
 public:
  explicit JsonRepair(JsonPrefixOptions options = {}) : prefix_(options) {}

  /// Takes bytes up to the end of the value or the first one that cannot be repaired, says how many
  /// and appends to `json` what may be shown. A number at the root ends with a byte that is not
  /// taken.
  std::size_t feed(std::string_view bytes, std::string& json);

  bool begun() const { return !prefix_.empty(); }
  bool complete() const { return complete_; }  ///< the value is whole
  bool broken() const { return broken_; }      ///< a byte was refused

  /// No more bytes will come: appends what completes the value; nothing when it is whole.
  void close(std::string& json) const;

  /// What was taken so far has been shown as it is, not as feed() gave it.
  void assume_shown();

 private:
  bool step(char byte, std::string& json);
  bool step_behind_comma(char byte, std::string& json);
  bool step_behind_backslash(char byte, std::string& json);
  bool accept(std::string_view bytes, std::string& json);

  JsonPrefix prefix_;
  bool complete_ = false;
  bool broken_ = false;
  bool backslash_ = false;  // held back
  std::string comma_;       // held back, with the white space behind it
};

}  // namespace zerohop
