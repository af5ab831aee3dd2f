#include "core/pressure.h"

namespace zerohop {

std::string_view pressure_rung_name(PressureRung rung) {
  switch (rung) {
    case PressureRung::kNormal: return "normal";
    case PressureRung::kParkIdle: return "park_idle";
    case PressureRung::kCompress: return "compress";
    case PressureRung::kCompact: return "compact";
    case PressureRung::kSoftMaxTokens: return "soft_max_tokens";
    case PressureRung::kShed: return "shed";
  }
  return "unknown";
}

std::string_view pressure_cause_name(PressureCause cause) {
  switch (cause) {
    case PressureCause::kNone: return "none";
    case PressureCause::kKvCells: return "kv_cells";
    case PressureCause::kHostBytes: return "host_bytes";
    case PressureCause::kFragmentation: return "fragmentation";
    case PressureCause::kQueue: return "queue";
  }
  return "unknown";
}

}  // namespace zerohop
