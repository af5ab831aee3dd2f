#include "admission/admission.h"

namespace zerohop {

Result<Permit> Admission::admit() {
  constexpr std::chrono::seconds kComeBack{1};
  if (closed_) {
    return Error{ErrorCode::kShuttingDown, "the server is shutting down", "", kComeBack};
  }
  std::optional<Permit> permit = permits_.try_acquire();
  if (!permit) {
    return Error{ErrorCode::kOverloaded,
                 "all " + std::to_string(permits_.capacity()) + " request permits are in use", "",
                 kComeBack, "queue;permits"};
  }
  return std::move(*permit);
}

}  // namespace zerohop
