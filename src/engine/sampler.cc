#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "engine/softmax_kernel.h"

namespace zerohop {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::size_t kBlock = 256;

Token first_index_of(std::span<const float> logits, float value) {
  return static_cast<Token>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

bool keeps_all(const SamplingParameters& parameters, std::size_t vocabulary) {
  const bool all_k =
      parameters.top_k <= 0 || static_cast<std::size_t>(parameters.top_k) >= vocabulary;
  return all_k && parameters.top_p >= 1.0f && parameters.min_p <= 0.0f;
}

void add_biases(std::span<float> logits, std::span<const LogitBias> biases) {
  for (const LogitBias& entry : biases) {
    if (entry.token >= 0 && static_cast<std::size_t>(entry.token) < logits.size()) {
      logits[static_cast<std::size_t>(entry.token)] += entry.bias;
    }
  }
}

// Leaves only the tokens of a dense mask.
void keep_only(std::span<float> logits, const TokenMask& mask) {
  for (std::size_t begin = 0; begin < logits.size(); begin += 64) {
    const std::size_t word = begin / 64;
    const std::uint64_t bits = word < mask.bits.size() ? mask.bits[word] : 0;
    if (~bits == 0) continue;
    const std::size_t count = std::min<std::size_t>(64, logits.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      if ((bits >> i & 1) == 0) logits[begin + i] = kMinusInfinity;
    }
  }
}

// Draws until a token is allowed; `drop` keeps one that is not from coming again. Nothing: what can
// be drawn leaves too few tokens to finish.
template <class Draw, class Drop>
std::optional<Token> draw_allowed(ConstraintSession& constraint, Draw draw, Drop drop) {
  for (int draws = 0; draws <= Sampler::kRedrawsMax; ++draws) {
    const std::optional<Token> token = draw();
    if (!token || constraint.allows(*token)) return token;
    ++constraint.statistics().redraws;
    drop(*token);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Token> Sampler::sample(std::span<float> logits, const SampleInput& input,
                                     Random& random) {
  if (!input.seen.empty()) apply_penalties(logits, input.parameters, input.seen);
  add_biases(logits, input.parameters.logit_bias);
  add_biases(logits, input.soft_bias);
  const std::optional<Token> token = draw(logits, input.parameters, random);
  if (!token || !input.constraint) return token;
  ConstraintStatistics& statistics = input.constraint->statistics();
  ++statistics.checks;
  if (input.constraint->allows(*token)) return token;
  ++statistics.misses;
  return draw_legal(logits, input, random);
}

std::optional<Token> Sampler::draw(std::span<const float> logits,
                                   const SamplingParameters& parameters, Random& random) {
  const float top = largest_logit(logits);
  if (top == kMinusInfinity) return std::nullopt;
  block_sums_.clear();
  if (parameters.temperature <= 0.0f || top == std::numeric_limits<float>::infinity()) {
    return first_index_of(logits, top);
  }
  const double uniform = random.uniform();
  if (keeps_all(parameters, logits.size())) {
    return draw_from_all(logits, 1.0f / parameters.temperature, top, uniform);
  }
  return draw_from_head(logits, parameters, top, uniform);
}

// The drawn token was not allowed. Of a dense mask, where nothing truncates the distribution, the
// weights of that draw, without those of other tokens, are what is drawn from: no second pass of
// exponentials.
Token Sampler::draw_legal(std::span<float> logits, const SampleInput& input, Random& random) {
  // Below that share of the whole, too many of the legal weights may have become 0.
  constexpr double kLegalMassMin = 1e-12;
  ConstraintSession& constraint = *input.constraint;
  const TokenMask& mask = constraint.mask();
  const bool weighed = !block_sums_.empty() && keeps_all(input.parameters, logits.size());
  const double mass = note_legal_mass(logits, mask, constraint.statistics());
  std::optional<Token> token;
  if (mask.sparse()) {
    legal_ = mask.ids;
    token = draw_of_few(logits, input, random);
  } else if (weighed && mass > kLegalMassMin) {
    token = draw_of_weights(constraint, random);
  } else {
    keep_only(logits, mask);
    token = draw_of_logits(logits, input, random);
  }
  if (token) return *token;
  ++constraint.statistics().closings;
  legal_ = constraint.closing_tokens();
  ZH_CHECK(!legal_.empty());
  return legal_[draw_among(logits, legal_, input, random).value_or(0)];
}

// Of legal_.
std::optional<Token> Sampler::draw_of_few(std::span<const float> logits, const SampleInput& input,
                                          Random& random) {
  const auto draw_one = [&]() -> std::optional<Token> {
    const std::optional<std::size_t> place = draw_among(logits, legal_, input, random);
    if (!place) return std::nullopt;
    return legal_[*place];
  };
  return draw_allowed(*input.constraint, draw_one,
                      [this](Token token) { std::erase(legal_, token); });
}

std::optional<Token> Sampler::draw_of_weights(ConstraintSession& constraint, Random& random) {
  return draw_allowed(
      constraint, [&] { return draw_weighed(random.uniform()); },
      [this](Token token) { drop_weight(token); });
}

std::optional<Token> Sampler::draw_of_logits(std::span<float> logits, const SampleInput& input,
                                             Random& random) {
  return draw_allowed(
      *input.constraint, [&] { return draw(logits, input.parameters, random); },
      [&](Token token) { logits[static_cast<std::size_t>(token)] = kMinusInfinity; });
}

// Draws an index of `ids`; nothing when none of them is possible.
std::optional<std::size_t> Sampler::draw_among(std::span<const float> logits,
                                               std::span<const Token> ids, const SampleInput& input,
                                               Random& random) {
  legal_logits_.clear();
  for (const Token id : ids) {
    const auto index = static_cast<std::size_t>(id);
    legal_logits_.push_back(index < logits.size() ? logits[index] : kMinusInfinity);
  }
  const std::optional<Token> drawn = draw(legal_logits_, input.parameters, random);
  return drawn ? std::optional(static_cast<std::size_t>(*drawn)) : std::nullopt;
}

// How likely the model found a legal token, in the distribution that was drawn from. Between that
// draw and this call there is no other one, and the logits are as they were, so its weights still
// stand; a greedy draw made none. Of a dense mask only the legal tokens' weights are left.
double Sampler::note_legal_mass(std::span<const float> logits, const TokenMask& mask,
                                ConstraintStatistics& statistics) {
  if (block_sums_.empty()) {
    const float top = largest_logit(logits);
    if (!std::isfinite(top)) return 0;
    weigh_all(logits, 1.0f, top);
  }
  const double total = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  double legal = 0;
  if (mask.sparse()) {
    for (const Token token : mask.ids) {
      const auto index = static_cast<std::size_t>(token);
      if (index < weights_.size()) legal += static_cast<double>(weights_[index]);
    }
  } else {
    keep_legal_weights(mask);
    legal = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  }
  statistics.legal_mass += legal / total;
  return legal / total;
}

void Sampler::keep_legal_weights(const TokenMask& mask) {
  static_assert(kBlock % 64 == 0);
  const std::span<const std::uint64_t> bits = mask.bits;
  for (std::size_t block = 0; block < block_sums_.size(); ++block) {
    const std::size_t begin = block * kBlock;
    const std::size_t word = std::min(begin / 64, bits.size());
    block_sums_[block] = static_cast<double>(
        keep_weights(std::span(weights_).subspan(begin, std::min(kBlock, weights_.size() - begin)),
                     bits.subspan(word, std::min(kBlock / 64, bits.size() - word))));
  }
}

void Sampler::drop_weight(Token token) {
  const auto index = static_cast<std::size_t>(token);
  weights_[index] = 0;
  const std::size_t begin = index / kBlock * kBlock;
  const std::size_t end = std::min(begin + kBlock, weights_.size());
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(weights_[i]);
  block_sums_[index / kBlock] = sum;
}

// Fills weights_ with exp((logit − top) · scale) and block_sums_ with their sums by block.
double Sampler::weigh_all(std::span<const float> logits, float scale, float top) {
  weights_.resize(logits.size());
  block_sums_.clear();
  double total = 0;
  for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, logits.size() - begin);
    const float sum = weigh_logits(logits.subspan(begin, count), {top, scale},
                                   std::span(weights_).subspan(begin, count));
    block_sums_.push_back(static_cast<double>(sum));
    total += static_cast<double>(sum);
  }
  return total;
}

Token Sampler::draw_from_all(std::span<const float> logits, float scale, float top,
                             double uniform) {
  weigh_all(logits, scale, top);
  if (const auto drawn = draw_weighed(uniform)) return *drawn;
  return first_index_of(logits, top);
}

// A token with its share of weights_; nothing when none weighs anything.
std::optional<Token> Sampler::draw_weighed(double uniform) const {
  double left = uniform * std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
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
  if (!chosen) {
    // Rounding can carry the draw past the last block that weighs anything.
    const auto likeliest = std::max_element(weights_.begin(), weights_.end());
    if (likeliest == weights_.end() || *likeliest <= 0.0f) return std::nullopt;
    chosen = static_cast<std::size_t>(likeliest - weights_.begin());
  }
  return static_cast<Token>(*chosen);
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

// Length of the shortest head that one of the three limits asks for; candidates_.size() + 1 when
// the collected candidates do not reach that far.
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
