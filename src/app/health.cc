#include "app/health.h"

namespace zerohop {

std::string_view health_name(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kDegraded: return "degraded";
    case Health::kDraining: return "draining";
    case Health::kStuck: return "stuck";
  }
  return "unknown";
}

Health judge_health(const HealthInput& input) {
  const EngineSnapshot& snapshot = input.snapshot;
  if (input.without_progress > kStuckAfter) return Health::kStuck;
  if (input.draining) return Health::kDraining;
  const bool strained = snapshot.circuit_open || snapshot.rung >= PressureRung::kSoftMaxTokens;
  return strained ? Health::kDegraded : Health::kOk;
}

void ProgressWatch::note(const EngineSnapshot& snapshot, TimePoint now) {
  // Paused sequences wait for their readers, not for the engine.
  const std::uint32_t runnable =
      snapshot.running() - snapshot.paused + snapshot.queued + snapshot.embeddings;
  const bool stepped = snapshot.taken_at != taken_at_;
  taken_at_ = snapshot.taken_at;
  if (runnable == 0) {
    waiting_since_.reset();
  } else if (stepped || !waiting_since_) {
    waiting_since_ = now;
  }
}

}  // namespace zerohop
