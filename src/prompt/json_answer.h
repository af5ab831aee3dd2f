// Cuts an answer that must be JSON out of what a model writes: words and code fences in front of
// the value are dropped, faults in it are repaired (json_repair.h), behind it the answer is over. A
// value that was cut off, or is broken beyond repair, is completed; where none ever begins the
// answer is {}.
//
// The value begins with a bracket behind which JSON can go on. Of an answer that need not be an
// object it may also be a string, a number or a literal, but only at the very beginning or behind a
// code fence, because words in front of an object begin with such bytes too.
//
// Of a prefill all is there to look at: the value begins at the first such place from which on the
// whole rest can be its beginning. `See [1]: {` begins with the brace, `See [1]` not at all. Who
// constrains the answer asks the same function (begun_json()); if the two disagreed, the value
// would begin twice, or never.
//
// One object per answer; not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "constrain/json_prefix.h"
#include "prompt/json_repair.h"
#include "prompt/output_plan.h"

namespace zerohop {

/// Whether these rules ask for JSON, and what its value may be.
bool is_json_format(OutputFormat format);
JsonRoot json_root_of(const OutputRules& rules);

/// What of the prefill the answer itself begins with: nothing where the model still thinks or has
/// to call a tool, else what stands behind its thoughts.
std::string_view answer_prefill(const OutputPlan& plan);

/// Where in a prefill of the answer the value begins; nothing: it has not.
std::optional<std::size_t> begun_json(JsonRoot root, std::string_view prefill);

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
  bool candidate_is_sure() const;
  void begin_with_candidate(std::string& json);

  JsonRoot root_;
  JsonRepair value_;
  bool done_ = false;
  std::string candidate_;  // what may be the beginning of the value
  JsonPrefix probe_;       // has read the candidate
  std::string words_;      // in front of it, as far as they tell whether a scalar may begin
};

}  // namespace zerohop
