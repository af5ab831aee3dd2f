// How much a compilation has done, and why it ends early. One compilation, one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "constrain/schema_compiler.h"

namespace zerohop {

class SchemaWork {
 public:
  explicit SchemaWork(std::size_t work_max) : work_max_(work_max), left_(work_max) {}

  /// False once the compilation should end: refused, or too much done. Callers then return as soon
  /// as they can, with whatever they have; nobody looks at it.
  bool charge(std::size_t steps = 1) {
    if (refusal_) return false;
    if (steps > left_) {
      refuse({SchemaRefusal::Kind::kTooLarge, "", "",
              "the alternatives of this schema are too many to work out"});
      return false;
    }
    left_ -= steps;
    return true;
  }

  bool stopped() const { return refusal_.has_value(); }
  std::size_t done() const { return work_max_ - left_; }

  /// The first refusal stays.
  void refuse(SchemaRefusal refusal) {
    if (!refusal_) refusal_ = std::move(refusal);
  }

  const std::optional<SchemaRefusal>& refusal() const { return refusal_; }

 private:
  std::size_t work_max_;
  std::size_t left_;
  std::optional<SchemaRefusal> refusal_;
};

}  // namespace zerohop
