#include "model/state_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "model/state_layout.h"

namespace zerohop {
namespace {

// Compressed bytes:  Head | StateRun × runs | for each run: plain bytes, blocks
//                    block: u16 scale (F16), up to 32 signed bytes
struct Head {
  std::uint32_t magic = 0x317a687a;  // "zhz1"
  std::uint32_t runs = 0;
  std::uint64_t state_bytes = 0;
};
static_assert(sizeof(Head) == 16 && sizeof(StateRun) == 16);

constexpr std::size_t kBlock = 32;
constexpr std::size_t kScaleBytes = 2;
constexpr std::size_t kF16Bytes = 2;
constexpr float kSteps = 127.0f;
constexpr std::int32_t kF16Magnitude = 0x7fff;
constexpr std::uint16_t kF16Infinity = 0x7c00;

// Explicit vectors of four (a GCC and Clang extension): the compilers leave the plain loops scalar
// at
// -O2, and a token of the default model then takes 100 µs. Vectors of 16 bytes need no choice of an
// instruction set. The conversions have no branches (method: github.com/Maratyszcza/FP16).

constexpr std::size_t kLanes = 4;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));
using Halves = std::uint16_t __attribute__((vector_size(kLanes * sizeof(std::uint16_t))));
using Bytes = std::int8_t __attribute__((vector_size(kLanes)));

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

constexpr Ints all(std::int32_t value) { return Ints{value, value, value, value}; }
constexpr Floats all(float value) { return Floats{value, value, value, value}; }

// `magnitudes`: F16 bits without the sign. Normal numbers: the exponent moved by 2^112 by a
// multiplication; subnormal ones: their bits behind the point of 0.5, less 0.5.
Floats magnitudes_from_f16(Ints magnitudes) {
  const Floats normal = bits_as<Floats>((magnitudes << 13) + all(0x70000000)) * all(0x1.0p-112f);
  const Floats small = bits_as<Floats>(magnitudes | all(0x3f000000)) - all(0.5f);
  const Ints is_small = magnitudes < all(0x0400);
  return bits_as<Floats>((is_small & bits_as<Ints>(small)) | (~is_small & bits_as<Ints>(normal)));
}

Floats from_f16(Halves halves) {
  const Ints words = __builtin_convertvector(halves, Ints);
  const Ints sign = (words & all(0x8000)) << 16;
  return bits_as<Floats>(bits_as<Ints>(magnitudes_from_f16(words & all(0x7fff))) | sign);
}

// Values below 65,520 (what rounds to a finite F16). Adding a power of two lets the addition round
// to the bits that an F16 of this exponent has.
Halves to_f16(Floats values) {
  const Ints words = bits_as<Ints>(values);
  const Ints magnitude = words & all(0x7fffffff);
  const Floats base = (bits_as<Floats>(magnitude) * all(0x1.0p+112f)) * all(0x1.0p-110f);
  const Ints exponent = magnitude & all(0x7f800000);
  const Ints is_low = exponent < all(0x38800000);
  const Ints clamped = (is_low & all(0x38800000)) | (~is_low & exponent);
  const Ints bits = bits_as<Ints>(bits_as<Floats>(clamped + all(0x07800000)) + base);
  const Ints half = ((bits >> 13) & all(0x7c00)) + (bits & all(0x0fff));
  const Ints sign = (words >> 16) & all(0x8000);
  return __builtin_convertvector(half | sign, Halves);
}

float from_f16(std::uint16_t half) { return from_f16(Halves{half, half, half, half})[0]; }
std::uint16_t to_f16(float value) { return to_f16(all(value))[0]; }

// The smallest F16 scale with which `largest` is at most 127 steps.
std::uint16_t scale_for(float largest) {
  std::uint16_t scale = to_f16(largest / kSteps);
  if (from_f16(scale) * kSteps < largest) ++scale;
  return scale;
}

std::uint64_t blocks_bytes(std::uint64_t numbers) {
  return numbers + (numbers + kBlock - 1) / kBlock * kScaleBytes;
}

// What a step may be: below 512, so that everything that such blocks give is finite.
bool is_usable(std::uint16_t scale) { return scale < 0x6000; }

// False when a number is not finite, or too large. `block` has 32 numbers; `count` of them matter.
bool encode_block(const std::uint16_t* block, std::size_t count, std::byte* out) {
  std::array<Halves, kBlock / kLanes> halves;
  std::memcpy(halves.data(), block, sizeof halves);
  Ints largest_bits = all(0);  // the order of the bits is that of the magnitudes
  for (const Halves four : halves) {
    const Ints magnitudes = __builtin_convertvector(four, Ints) & all(kF16Magnitude);
    const Ints more = magnitudes > largest_bits;
    largest_bits = (more & magnitudes) | (~more & largest_bits);
  }
  std::int32_t largest = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) largest = std::max(largest, largest_bits[lane]);
  if (largest >= kF16Infinity) return false;
  const std::uint16_t scale = scale_for(from_f16(static_cast<std::uint16_t>(largest)));
  if (!is_usable(scale)) return false;
  const Floats inverse = all(scale == 0 ? 0.0f : 1.0f / from_f16(scale));
  std::array<Bytes, kBlock / kLanes> steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Floats round = all(12582912.0f);  // 1.5 · 2^23: adding it rounds to an integer
    const Floats step = (from_f16(halves[i]) * inverse + round) - round;
    steps[i] = __builtin_convertvector(__builtin_convertvector(step, Ints), Bytes);
  }
  std::memcpy(out, &scale, kScaleBytes);
  std::memcpy(out + kScaleBytes, steps.data(), count);
  return true;
}

// False when it is not a block of encode_block(). All 32 numbers of `block` are written.
bool decode_block(std::uint16_t scale, const std::int8_t* steps, std::uint16_t* block) {
  if (!is_usable(scale)) return false;
  const Floats step = all(from_f16(scale));
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    Bytes four;
    std::memcpy(&four, steps + i, sizeof four);
    const Floats values = __builtin_convertvector(__builtin_convertvector(four, Ints), Floats);
    const Halves halves = to_f16(values * step);
    std::memcpy(block + i, &halves, sizeof halves);
  }
  return true;
}

bool encode_run(const std::byte* in, std::uint64_t numbers, std::byte* out) {
  std::array<std::uint16_t, kBlock> block{};
  while (numbers > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(numbers, kBlock));
    if (count < kBlock) block.fill(0);
    std::memcpy(block.data(), in, count * kF16Bytes);
    if (!encode_block(block.data(), count, out)) return false;
    in += count * kF16Bytes;
    out += kScaleBytes + count;
    numbers -= count;
  }
  return true;
}

bool decode_run(const std::byte* in, std::uint64_t numbers, std::byte* out) {
  std::array<std::uint16_t, kBlock> block{};
  std::array<std::int8_t, kBlock> steps{};
  while (numbers > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(numbers, kBlock));
    std::uint16_t scale = 0;
    std::memcpy(&scale, in, kScaleBytes);
    std::memcpy(steps.data(), in + kScaleBytes, count);
    if (!decode_block(scale, steps.data(), block.data())) return false;
    std::memcpy(out, block.data(), count * kF16Bytes);
    in += kScaleBytes + count;
    out += count * kF16Bytes;
    numbers -= count;
  }
  return true;
}

// The runs that `compressed` begins with, if they account for all of its bytes and the state's.
std::optional<std::vector<StateRun>> read_runs(std::span<const std::byte> compressed,
                                               std::uint64_t& state_bytes) {
  Head head;
  if (compressed.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, compressed.data(), sizeof head);
  if (head.magic != Head{}.magic) return std::nullopt;
  std::uint64_t room = compressed.size() - sizeof head;
  if (head.runs > room / sizeof(StateRun)) return std::nullopt;
  std::vector<StateRun> runs(head.runs);
  if (!runs.empty()) {
    std::memcpy(runs.data(), compressed.data() + sizeof head, runs.size() * sizeof(StateRun));
  }
  room -= runs.size() * sizeof(StateRun);
  state_bytes = 0;
  for (const StateRun& run : runs) {
    if (run.plain_bytes > room) return std::nullopt;
    room -= run.plain_bytes;
    if (run.f16_numbers > room || blocks_bytes(run.f16_numbers) > room) return std::nullopt;
    room -= blocks_bytes(run.f16_numbers);
    state_bytes += run.plain_bytes + run.f16_numbers * kF16Bytes;
  }
  if (room != 0 || state_bytes != head.state_bytes) return std::nullopt;
  return runs;
}

}  // namespace

std::vector<std::byte> compress_state(std::span<const std::byte> state) {
  const std::optional<StateLayout> layout = parse_state(state);
  if (!layout) return {};
  Head head;
  head.runs = static_cast<std::uint32_t>(layout->runs.size());
  head.state_bytes = state.size();
  std::uint64_t size = sizeof head + layout->runs.size() * sizeof(StateRun);
  for (const StateRun& run : layout->runs) size += run.plain_bytes + blocks_bytes(run.f16_numbers);
  if (size >= state.size()) return {};
  std::vector<std::byte> compressed(static_cast<std::size_t>(size));
  std::byte* out = compressed.data();
  const auto put = [&out](const void* bytes, std::size_t count) {
    std::memcpy(out, bytes, count);
    out += count;
  };
  put(&head, sizeof head);
  put(layout->runs.data(), layout->runs.size() * sizeof(StateRun));
  const std::byte* in = state.data();
  for (const StateRun& run : layout->runs) {
    put(in, static_cast<std::size_t>(run.plain_bytes));
    in += run.plain_bytes;
    if (!encode_run(in, run.f16_numbers, out)) return {};
    in += run.f16_numbers * kF16Bytes;
    out += blocks_bytes(run.f16_numbers);
  }
  ZH_CHECK(out == compressed.data() + compressed.size());
  return compressed;
}

std::optional<std::vector<std::byte>> decompress_state(std::span<const std::byte> compressed) {
  std::uint64_t state_bytes = 0;
  const std::optional<std::vector<StateRun>> runs = read_runs(compressed, state_bytes);
  if (!runs) return std::nullopt;
  std::vector<std::byte> state(static_cast<std::size_t>(state_bytes));
  std::byte* out = state.data();
  const std::byte* in = compressed.data() + sizeof(Head) + runs->size() * sizeof(StateRun);
  for (const StateRun& run : *runs) {
    if (run.plain_bytes > 0) std::memcpy(out, in, static_cast<std::size_t>(run.plain_bytes));
    in += run.plain_bytes;
    out += run.plain_bytes;
    if (!decode_run(in, run.f16_numbers, out)) return std::nullopt;
    in += blocks_bytes(run.f16_numbers);
    out += run.f16_numbers * kF16Bytes;
  }
  return state;
}

}  // namespace zerohop
