// The class in which a request was served, as each dialect's replies call it (`service_tier`). It
// may be another than the request asked for: nobody gets a better one than the operator gave its
// tenant.
// Static text; any thread.
#pragma once

#include <string_view>

#include "core/tenant.h"

namespace zerohop {

constexpr std::string_view anthropic_service_tier_name(PriorityClass served) {
  switch (served) {
    case PriorityClass::kPriority: return "priority";
    case PriorityClass::kBatch: return "batch";
    case PriorityClass::kStandard: break;
  }
  return "standard";
}

constexpr std::string_view openai_service_tier_name(PriorityClass served) {
  switch (served) {
    case PriorityClass::kPriority: return "priority";
    case PriorityClass::kBatch: return "flex";
    case PriorityClass::kStandard: break;
  }
  return "default";
}

}  // namespace zerohop
