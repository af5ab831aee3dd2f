// Fuzz target: the fair queue against its naive twin. The first bytes choose the options, the
// others the operations.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/fair_queue_twin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  std::size_t at = 0;
  const auto pick = [&](std::size_t bound) -> std::size_t {
    std::size_t value = at < size ? data[at++] : 0;
    if (bound > 256 && at < size) value = value << 8 | data[at++];
    return value % bound;
  };
  FairQueueOptions options;
  options.sequences = static_cast<std::uint32_t>(3 + pick(6));
  for (ClassShare& share : options.classes) {
    share.reserved_sequences = static_cast<std::uint32_t>(pick(2));
  }
  options.ageing = std::chrono::milliseconds(1 + pick(8000));
  options.idle_credit = static_cast<std::uint32_t>(pick(2) * 256);
  FairQueuePair pair(options, pick);
  while (at < size) pair.step();
  return 0;
}
