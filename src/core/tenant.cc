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

std::optional<PriorityClass> priority_class_named(std::string_view name) {
  for (std::size_t i = 0; i < kPriorityClasses; ++i) {
    const auto priority = static_cast<PriorityClass>(i);
    if (priority_class_name(priority) == name) return priority;
  }
  return std::nullopt;
}

}  // namespace zerohop
