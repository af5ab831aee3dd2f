// The rungs of the pressure ladder, by name: what the engine does about scarce cells, from nothing
// to refusing at the door. The engine climbs and descends (engine/pressure_ladder.h); admission,
// health and metrics read the rung from the snapshot. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace zerohop {

enum class PressureRung : std::uint8_t {
  kNormal,
  kParkIdle,       ///< cells that nobody uses right now move to host memory
  kCompress,       ///< states in host memory are stored with 8 bits a number
  kCompact,        ///< scattered cells are moved together
  kSoftMaxTokens,  ///< answers that allow it become shorter
  kShed,           ///< new requests are refused
};

inline constexpr std::uint8_t kPressureRungs = 6;

/// "normal", "park_idle", "compress", "compact", "soft_max_tokens", "shed".
std::string_view pressure_rung_name(PressureRung rung);

/// What pushed the engine up there.
enum class PressureCause : std::uint8_t { kNone, kKvCells, kHostBytes, kFragmentation, kQueue };

/// "none", "kv_cells", "host_bytes", "fragmentation", "queue".
std::string_view pressure_cause_name(PressureCause cause);

}  // namespace zerohop
