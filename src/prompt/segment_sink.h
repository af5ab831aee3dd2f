// Where a reader of the model's output leaves what it finds, in order. The bytes are valid during
// the call only and may end within a character.
#pragma once

#include <string_view>

namespace zerohop {

class SegmentSink {
 public:
  virtual ~SegmentSink() = default;

  virtual void text(std::string_view bytes) = 0;      ///< never empty
  virtual void thinking(std::string_view bytes) = 0;  ///< never empty
  /// Ends what came before. The arguments follow and, at the end of the call, call_end.
  virtual void call_begin(std::string_view name) = 0;
  virtual void call_arguments(std::string_view json) = 0;  ///< never empty; joined: one JSON object
  virtual void call_end() = 0;
};

}  // namespace zerohop
