// What the engine's pressure means for requests: the header that tells of it, and the refusal of
// new work while the engine takes none. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "core/error.h"
#include "core/snapshot.h"

namespace zerohop {

/// `anthropic-kernel-status: RUNG;CAUSE`, on every reply while the engine is not at ease.
inline constexpr const char* kKernelStatusHeader = "anthropic-kernel-status";

/// Nothing on the lowest rung.
std::optional<std::string> kernel_status(const EngineSnapshot& engine);

/// Whether new work is taken: not where the engine sheds for `cause` (EngineLoop::sheds()). Errors:
/// kShed, with the time after which the queue will have room as advice.
Result<void> check_pressure(const EngineSnapshot& engine, PressureCause cause,
                            Duration itl_objective);

}  // namespace zerohop
