#include "engine/softmax_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/check.h"

#define ZH_ALWAYS_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define ZH_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace zerohop {
namespace {

constexpr std::size_t kLanes = 8;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

ZH_ALWAYS_INLINE Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

ZH_ALWAYS_INLINE Floats fill(float value) {
  return Floats{value, value, value, value, value, value, value, value};
}

// exp(x) for −80 ≤ x ≤ 0. x = n·ln2 + r with |r| ≤ ln2/2; e^r by the polynomial of the Cephes
// library's expf; 2^n through the exponent bits.
ZH_ALWAYS_INLINE Floats exp_of(Floats x) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
  const Floats n = (x * 1.44269504f + kRound) - kRound;
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Floats p = r * 1.9875692e-4f + 1.3981999e-3f;
  p = p * r + 8.3334519e-3f;
  p = p * r + 4.1665796e-2f;
  p = p * r + 1.6666666e-1f;
  p = p * r + 5.0000001e-1f;
  p = p * r * r + r + 1.0f;
  const Ints bits = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

ZH_ALWAYS_INLINE Floats weigh_lanes(Floats logits, WeightScale scale) {
  const Floats distance = (logits - scale.top) * scale.scale;
  const Ints counts = distance > -80.0f;  // false for NaN and −∞
  const Floats safe = counts ? distance : fill(-80.0f);
  return counts ? exp_of(safe) : fill(0.0f);
}

ZH_ALWAYS_INLINE float weigh_body(std::span<const float> logits, WeightScale scale,
                                  std::span<float> weights) {
  Floats sum = fill(0.0f);
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    const Floats weight = weigh_lanes(load(logits.data() + i), scale);
    std::memcpy(weights.data() + i, &weight, sizeof weight);
    sum += weight;
  }
  if (i < logits.size()) {
    float rest[kLanes];
    std::fill_n(rest, kLanes, kMinusInfinity);
    const std::size_t count = logits.size() - i;
    std::copy_n(logits.data() + i, count, rest);
    const Floats weight = weigh_lanes(load(rest), scale);
    std::memcpy(weights.data() + i, &weight, count * sizeof(float));
    sum += weight;
  }
  float total = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) total += sum[lane];
  return total;
}

ZH_ALWAYS_INLINE float largest_body(std::span<const float> logits) {
  Floats a = fill(kMinusInfinity);
  Floats b = a;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= logits.size(); i += 2 * kLanes) {
    const Floats x = load(logits.data() + i);
    const Floats y = load(logits.data() + i + kLanes);
    a = x > a ? x : a;
    b = y > b ? y : b;
  }
  float top = kMinusInfinity;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    top = a[lane] > top ? a[lane] : top;
    top = b[lane] > top ? b[lane] : top;
  }
  for (; i < logits.size(); ++i) top = logits[i] > top ? logits[i] : top;
  return top;
}

ZH_ALWAYS_INLINE float keep_body(std::span<float> weights, std::span<const std::uint64_t> bits) {
  static_assert(64 % kLanes == 0);
  constexpr Ints kBits{1, 2, 4, 8, 16, 32, 64, 128};
  Floats sum = fill(0.0f);
  std::size_t i = 0;
  for (; i + kLanes <= weights.size() && i / 64 < bits.size(); i += kLanes) {
    const auto byte = static_cast<std::int32_t>(bits[i / 64] >> (i % 64) & 0xff);
    const Ints kept = (kBits & byte) != 0;
    const Floats weight = kept ? load(weights.data() + i) : fill(0.0f);
    std::memcpy(weights.data() + i, &weight, sizeof weight);
    sum += weight;
  }
  float total = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) total += sum[lane];
  for (; i < weights.size(); ++i) {
    const bool kept = i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1) != 0;
    if (!kept) weights[i] = 0;
    total += weights[i];
  }
  return total;
}

#if defined(ZH_AVX2)

ZH_AVX2 float keep_avx2(std::span<float> weights, std::span<const std::uint64_t> bits) {
  return keep_body(weights, bits);
}

ZH_AVX2 float weigh_avx2(std::span<const float> logits, WeightScale scale,
                         std::span<float> weights) {
  return weigh_body(logits, scale, weights);
}

ZH_AVX2 float largest_avx2(std::span<const float> logits) { return largest_body(logits); }

bool has_avx2() {
  static const bool answer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return answer;
}

#endif

}  // namespace

float largest_logit(std::span<const float> logits) {
#if defined(ZH_AVX2)
  if (has_avx2()) return largest_avx2(logits);
#endif
  return largest_body(logits);
}

float weigh_logits(std::span<const float> logits, WeightScale scale, std::span<float> weights) {
  ZH_DCHECK(logits.size() == weights.size());
#if defined(ZH_AVX2)
  if (has_avx2()) return weigh_avx2(logits, scale, weights);
#endif
  return weigh_body(logits, scale, weights);
}

float keep_weights(std::span<float> weights, std::span<const std::uint64_t> bits) {
#if defined(ZH_AVX2)
  if (has_avx2()) return keep_avx2(weights, bits);
#endif
  return keep_body(weights, bits);
}

}  // namespace zerohop
