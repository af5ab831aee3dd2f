// Fuzz target: the prefix cache against its naive twin. The first byte chooses the layout, the
// others are what the twin's operations are drawn from; it ends where they do.
#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/prefix_cache_twin.h"

namespace zerohop {
namespace {

enum class FuzzedLayout : std::uint8_t { kPool, kStreams, kNoCuts, kNoCopies, kPoolOfWholes };

KvCapabilities capabilities_of(FuzzedLayout layout) {
  const bool pooled = layout == FuzzedLayout::kPool || layout == FuzzedLayout::kPoolOfWholes;
  KvCapabilities capabilities;
  capabilities.slots = pooled ? 8 : 4;
  capabilities.sequences = 4;
  capabilities.slot_cells = 160;
  capabilities.cells = pooled ? 400 : 640;
  capabilities.pooled = capabilities.can_share_range = pooled;
  capabilities.can_save_range = layout == FuzzedLayout::kPool;
  capabilities.can_cut_tail = layout != FuzzedLayout::kNoCuts;
  capabilities.can_copy_whole = layout != FuzzedLayout::kNoCopies;
  capabilities.dense_slots_matter = !pooled;
  capabilities.bytes_per_cell = 10;
  return capabilities;
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  if (size < 2) return 0;
  const std::uint8_t kind = data[0];
  TwinOptions options;
  options.name = "fuzz input";
  options.capabilities = capabilities_of(static_cast<FuzzedLayout>(kind % 5));
  options.prompt_max = 100;
  options.scopes = 1 + (kind >> 5) % 2;
  options.surprises = (kind >> 6) % 2 != 0;
  options.pins = (kind >> 7) != 0;
  options.reports_at_once = size % 2 != 0;
  options.cache.host_bytes_max = (kind >> 4) % 2 != 0 ? 3000 : 0;
  options.cache.host_entries_max = options.pins ? 6 : 0;
  std::size_t at = 1;
  const auto choose = [&](std::uint64_t bound) -> std::uint64_t {
    if (at >= size) return 0;
    std::uint64_t value = data[at++];
    if (bound > 256 && at < size) value = (value << 8) | data[at++];
    return value % bound;
  };
  CacheTwin twin(options, choose);
  while (at < size) twin.step();
  twin.finish();
  return 0;
}
