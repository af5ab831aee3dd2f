// Cuts an answer that must be JSON out of what a model writes: words and code fences in front of
// the value are dropped, faults in it are repaired (json_repair.h), behind it the answer is over. A
// value that was cut off, or is broken beyond repair, is completed; where none ever begins the
// answer is {}.
//
// The value begins with a bracket behind which JSON can go on. Of an answer that need not be an
// object it may also be a string, a number or a literal, but only at the very beginning or behind a
// code fence, because words in front of an object begin with such bytes too.
//
// One object per answer; not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "constrain/json_prefix.h"
#include "prompt/json_repair.h"

namespace zerohop {

class JsonAnswer {
 public:
  /// `prefill`: the beginning of the answer, which has been shown as it is.
  JsonAnswer(JsonRoot root, std::string_view prefill);

  /// Takes bytes and appends to `json` what may be shown. Bytes behind the value are dropped.
  void feed(std::string_view bytes, std::string& json);

  bool begun() const { return value_.begun(); }
  bool done() const { return done_; }

  /// No more bytes will come: appends what makes the answer one whole value. Then done.
  void close(std::string& json);

 private:
  std::size_t look_for_value(std::string_view bytes, std::string& json);
  bool may_begin(char byte) const;
  bool candidate_is_sure() const;
  void begin_with_candidate(std::string& json);
  void add_word(char byte);

  JsonRoot root_;
  JsonRepair value_;
  bool done_ = false;
  std::string candidate_;            // what may be the beginning of the value
  std::size_t candidate_shown_ = 0;  // bytes of it that stand in the prefill
  JsonPrefix probe_;                 // has read the candidate
  std::string words_;  // in front of it, as far as they tell whether a scalar may begin
};

}  // namespace zerohop
