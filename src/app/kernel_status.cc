#include "app/kernel_status.h"

#include <algorithm>
#include <chrono>

#include "core/service_estimate.h"

namespace zerohop {
namespace {

// When nothing is known yet, and the most that is asked of a client.
constexpr std::chrono::milliseconds kRetryUnknown{2'000};
constexpr std::chrono::milliseconds kRetryMin{500};
constexpr std::chrono::milliseconds kRetryMax{60'000};

}  // namespace

std::optional<std::string> kernel_status(const EngineSnapshot& engine) {
  if (engine.rung == PressureRung::kNormal) return std::nullopt;
  std::string status(pressure_rung_name(engine.rung));
  status.append(";").append(pressure_cause_name(engine.rung_cause));
  return status;
}

Result<void> check_pressure(const EngineSnapshot& engine, PressureCause cause,
                            Duration itl_objective) {
  if (cause == PressureCause::kNone) return {};
  ServiceQuestion question;
  question.itl_objective = itl_objective;
  const auto estimate = estimate_service(engine, question);
  Error error{ErrorCode::kShed,
              "the server is under pressure (" + std::string(pressure_cause_name(cause)) +
                  ") and takes no new work",
              "", kRetryUnknown};
  if (estimate) {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(estimate->queue_wait);
    error.retry_after = std::clamp(wait, kRetryMin, kRetryMax);
  }
  return error;
}

}  // namespace zerohop
