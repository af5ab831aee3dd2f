// Fuzz target: any bytes, read as a compressed state, as a state and as a sealed one. Whatever they
// are, nothing is read or written out of bounds, what is refused gives nothing, and what is
// accepted accounts for every byte. Seeds: tests/corpus/state_codec/.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/check.h"
#include "model/saved_state.h"
#include "model/state_codec.h"
#include "model/state_layout.h"

namespace zerohop {
namespace {

void check_layout(std::span<const std::byte> state) {
  const auto layout = parse_state(state);
  if (!layout) {
    ZH_CHECK(compress_state(state).empty());
    return;
  }
  std::uint64_t bytes = 0;
  for (const StateRun& run : layout->runs) bytes += run.plain_bytes + 2 * run.f16_numbers;
  ZH_CHECK(bytes == state.size());
  for (const std::int32_t position : layout->positions) ZH_CHECK(position >= 0);

  const std::vector<std::byte> compressed = compress_state(state);
  if (compressed.empty()) return;
  ZH_CHECK(compressed.size() < state.size());
  const auto restored = decompress_state(compressed);
  ZH_CHECK(restored && restored->size() == state.size());
  std::size_t at = 0;
  for (const StateRun& run : layout->runs) {
    const auto plain = static_cast<std::size_t>(run.plain_bytes);
    ZH_CHECK(plain == 0 || std::memcmp(restored->data() + at, state.data() + at, plain) == 0);
    at += plain + static_cast<std::size_t>(2 * run.f16_numbers);
  }
}

void check(std::span<const std::byte> bytes) {
  check_layout(bytes);
  const auto state = decompress_state(bytes);
  if (state) {
    ZH_CHECK(state->size() <= 2 * bytes.size());
    check_layout(*state);
  }
  // The checksum keeps mutations out of open_state(), so they are sealed first.
  std::vector<std::byte> sealed = make_state(bytes.size());
  if (!bytes.empty()) std::memcpy(state_payload(sealed).data(), bytes.data(), bytes.size());
  seal_state(sealed, {StateForm::kPlain, 1, {0, 1}});
  const auto opened = open_state(sealed, 1);
  ZH_CHECK(opened && opened->payload.size() == bytes.size());
  open_state(bytes, 0);
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zerohop::check(std::as_bytes(std::span(data, size)));
  return 0;
}
