// The two passes over all logits that sampling cannot avoid, as vector code.
//
// Explicit vectors (a GCC and Clang extension), because the compilers do not turn the plain loops
// into vector code without -ffast-math: at 49,152 logits the maximum takes 30 µs plain, the weights
// 160 µs with std::exp. Here they take 5 and 20 µs with AVX2, chosen at run time, and about twice
// that without. engine/sampler_bench.cc measures both.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace zerohop {

/// The largest logit; NaN is ignored. −∞ when there is nothing else.
float largest_logit(std::span<const float> logits);

struct WeightScale {
  float top = 0;    ///< weight 1 for this logit
  float scale = 1;  ///< 1 / temperature
};

/// weights[i] = exp((logits[i] − top) · scale), relative error below 1e-6; exactly 0 for −∞, NaN
/// and anything below e^-80. Returns the sum. Sizes are equal and at most a few thousand (the sum
/// is kept in floats: callers work in blocks).
float weigh_logits(std::span<const float> logits, WeightScale scale, std::span<float> weights);

/// Makes 0 of the weights without a bit: weight i has bit i % 64 of word i / 64, and none behind
/// the last word. Returns the sum of the others. At most a few thousand, as above.
float keep_weights(std::span<float> weights, std::span<const std::uint64_t> bits);

}  // namespace zerohop
