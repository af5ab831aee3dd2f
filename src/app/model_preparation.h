// What became of a model before it was loaded, for logs and /v1/system_info. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/model_prepare_choice.h"
#include "model/prepare_convert.h"

namespace zerohop {

struct ModelPreparation {
  PreparePolicy policy = PreparePolicy::kOff;
  WeightType type = WeightType::kOriginal;   ///< what is served
  std::string source_type;                   ///< of the file that was given, such as "Q4_1"
  std::string reason;                        ///< why this type, one line for people
  std::vector<PrepareCandidate> candidates;  ///< what was measured, today or earlier
  bool measured_now = false;                 ///< in this start
  double spent_ms = 0;                       ///< on measuring in this start

  bool prepared() const { return type != WeightType::kOriginal; }
};

}  // namespace zerohop
