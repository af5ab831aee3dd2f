#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::size_t kBlock = 256;

// exp(x) for x ≤ 0, relative error below 3e-7. The compiler turns the loop around it into vector
// code, which it does not do with std::exp: 49,152 weights take 22 instead of 190 µs.
// Method: x = n·ln2 + r, |r| ≤ ln2/2; a degree-6 polynomial for e^r; 2^n by its exponent bits.
inline float fast_exp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
  x = x < -87.0f ? -87.0f : x;
  const float rounded = x * kLog2E + kRound;
  const float n = rounded - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.9875692e-4f;  // coefficients of the Cephes library's expf
  p = p * r + 1.3981999e-3f;
  p = p * r + 8.3334519e-3f;
  p = p * r + 4.1665796e-2f;
  p = p * r + 1.6666666e-1f;
  p = p * r + 5.0000001e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto exponent = static_cast<std::int32_t>(n) + 127;
  const std::int32_t bits = exponent << 23;
  float power = 0;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

// Largest logit, ignoring NaN.
float largest(std::span<const float> logits) {
  float top = kMinusInfinity;
  for (const float logit : logits) top = logit > top ? logit : top;
  return top;
}

Token first_index_of(std::span<const float> logits, float value) {
  return static_cast<Token>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

bool keeps_all(const SamplingParameters& parameters, std::size_t vocabulary) {
  const bool all_k = parameters.top_k <= 0 ||
                     static_cast<std::size_t>(parameters.top_k) >= vocabulary;
  return all_k && parameters.top_p >= 1.0f && parameters.min_p <= 0.0f;
}

}  // namespace

std::optional<Token> Sampler::sample(std::span<float> logits, const SamplingParameters& parameters,
                                     Random& random) {
  for (const LogitBias& entry : parameters.logit_bias) {
    if (entry.token >= 0 && static_cast<std::size_t>(entry.token) < logits.size()) {
      logits[static_cast<std::size_t>(entry.token)] += entry.bias;
    }
  }
  const float top = largest(logits);
  if (top == kMinusInfinity) return std::nullopt;
  if (parameters.temperature <= 0.0f || top == std::numeric_limits<float>::infinity()) {
    return first_index_of(logits, top);
  }
  const double uniform = random.uniform();
  if (keeps_all(parameters, logits.size())) {
    return draw_from_all(logits, 1.0f / parameters.temperature, top, uniform);
  }
  return draw_from_head(logits, parameters, top, uniform);
}

// Fills weights_ with exp((logit − top) · scale) and block_sums_ with their sums by block.
double Sampler::weigh_all(std::span<const float> logits, float scale, float top) {
  weights_.resize(logits.size());
  block_sums_.clear();
  double total = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, logits.size());
    for (std::size_t i = begin; i < end; ++i) {
      // NaN and −∞ weigh nothing: the comparison is false for both.
      const float distance = (logits[i] - top) * scale;
      weights_[i] = distance > -80.0f ? fast_exp(distance) : 0.0f;
    }
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(weights_[i]);
    block_sums_.push_back(sum);
    total += sum;
  }
  return total;
}

Token Sampler::draw_from_all(std::span<const float> logits, float scale, float top,
                             double uniform) {
  const double total = weigh_all(logits, scale, top);
  double left = uniform * total;
  std::size_t block = 0;
  while (block + 1 < block_sums_.size() && left >= block_sums_[block]) left -= block_sums_[block++];
  const std::size_t end = std::min((block + 1) * kBlock, weights_.size());
  std::optional<std::size_t> chosen;
  for (std::size_t i = block * kBlock; i < end; ++i) {
    if (weights_[i] <= 0.0f) continue;
    chosen = i;
    left -= static_cast<double>(weights_[i]);
    if (left < 0) break;
  }
  // Rounding can carry the draw past the last block that weighs anything.
  return chosen ? static_cast<Token>(*chosen) : first_index_of(logits, top);
}

// Tokens whose weight is at least `weight_floor`, likeliest first.
void Sampler::collect_above(float weight_floor) {
  candidates_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] >= weight_floor && weights_[i] > 0.0f) {
      candidates_.push_back(Candidate{weights_[i], static_cast<Token>(i)});
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
}

// Length of the shortest head that one of the three limits asks for; candidates_.size() + 1 when the
// collected candidates do not reach that far.
std::size_t Sampler::head_length(const SamplingParameters& parameters, double total) const {
  const std::size_t k = parameters.top_k > 0 ? static_cast<std::size_t>(parameters.top_k)
                                             : std::numeric_limits<std::size_t>::max();
  const double mass = static_cast<double>(parameters.top_p) * total;
  double sum = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (i >= k) return i;
    if (i > 0 && candidates_[i].weight < parameters.min_p) return i;
    sum += static_cast<double>(candidates_[i].weight);
    if (parameters.top_p < 1.0f && sum >= mass) return i + 1;
  }
  if (candidates_.size() >= k) return k;
  return candidates_.size() + 1;
}

Token Sampler::draw_from_head(std::span<const float> logits, const SamplingParameters& parameters,
                              float top, double uniform) {
  const double total = weigh_all(logits, 1.0f / parameters.temperature, top);
  // A partial selection: the head is nearly always within a few powers of e of the top. The floor
  // falls until the head is inside, at last to everything.
  std::size_t length = 0;
  for (const float floor : {1e-2f, 1e-4f, 1e-7f, 0.0f}) {
    collect_above(std::max(floor, parameters.min_p));
    length = head_length(parameters, total);
    if (length <= candidates_.size()) break;
    if (floor <= parameters.min_p) break;  // all that min_p allows was collected
  }
  length = std::clamp<std::size_t>(length, 1, candidates_.size());
  double mass = 0;
  for (std::size_t i = 0; i < length; ++i) mass += static_cast<double>(candidates_[i].weight);
  double left = uniform * mass;
  for (std::size_t i = 0; i + 1 < length; ++i) {
    left -= static_cast<double>(candidates_[i].weight);
    if (left < 0) return candidates_[i].token;
  }
  return candidates_[length - 1].token;
}

}  // namespace zerohop
