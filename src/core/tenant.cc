#include "core/tenant.h"

namespace zerohop {

std::string_view priority_class_name(PriorityClass priority) {
  switch (priority) {
    case PriorityClass::kPriority: return "priority";
    case PriorityClass::kStandard: return "standard";
    case PriorityClass::kBatch: return "batch";
  }
  return "unknown";
}

}  // namespace zerohop
