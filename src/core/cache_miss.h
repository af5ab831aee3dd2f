// Why a prompt was not found in the prefix cache as far as one would have hoped. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace zerohop {

enum class MissCause : std::uint8_t {
  kNone,             ///< as much was found as any earlier prompt had in common
  kCold,             ///< nothing like it was seen lately
  kModelChanged,     ///< the same client asked another model before
  kSystemChanged,    ///< an earlier prompt differs first inside the system prompt
  kToolsChanged,     ///< likewise, inside the tool definitions
  kMessagesChanged,  ///< likewise, inside the conversation
  kEvicted,          ///< it was there and was dropped; see CacheMiss::cap
  kOtherTenant,      ///< only a scope that this request may not see has it
};

inline constexpr std::uint8_t kMissCauses = 8;

/// Which limit made the cache drop what was missed.
enum class CacheCap : std::uint8_t { kNone, kCells, kHolders, kHostBytes, kHostEntries, kNotKept };

struct CacheMiss {
  MissCause cause = MissCause::kNone;
  CacheCap cap = CacheCap::kNone;  ///< with kEvicted
  /// First position (token index) at which the prompt differs from the earlier one it is held
  /// against; for kEvicted, the first that was dropped.
  std::uint32_t position = 0;
  std::uint32_t missed_tokens = 0;  ///< would have been found otherwise
};

/// Where the parts of a rendered prompt end, in tokens. 0: the prompt has no such part.
struct PromptSections {
  std::uint32_t system_end = 0;
  std::uint32_t tools_end = 0;
};

/// "system_changed" and so on; "none" for kNone.
std::string_view miss_cause_name(MissCause cause);
/// "kv_cells", "holders", "host_bytes", "host_entries", "not_kept"; "none" for kNone.
std::string_view cache_cap_name(CacheCap cap);

}  // namespace zerohop
