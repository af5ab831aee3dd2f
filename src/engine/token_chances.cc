#include "engine/token_chances.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "engine/softmax_kernel.h"

namespace zerohop {
namespace {

constexpr std::size_t kBlock = 256;
// What is reported of tokens that cannot come: JSON has no infinity, and this is the value that the
// OpenAI API documents for "very unlikely".
constexpr double kLogprobMin = -9999.0;

}  // namespace

void TokenChances::read(std::span<const float> logits, std::size_t count) {
  logits_.assign(logits.begin(), logits.end());
  find_likeliest(count);
  sum_weights();
}

// A block whose largest logit does not beat the last of the best has nothing to offer: after the
// first few blocks that is nearly every one.
void TokenChances::find_likeliest(std::size_t count) {
  likeliest_.clear();
  block_tops_.clear();
  const std::span<const float> all(logits_);
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, all.size() - begin);
    const float top = largest_logit(all.subspan(begin, size));
    block_tops_.push_back(top);
    const bool full = likeliest_.size() >= count;
    if (count == 0 || (full && !(top > likeliest_.back().logit))) continue;
    for (std::size_t i = begin; i < begin + size; ++i) {
      if (!std::isnan(all[i])) insert(Ranked{all[i], static_cast<Token>(i)}, count);
    }
  }
  top_ = block_tops_.empty() ? 0.0f : *std::max_element(block_tops_.begin(), block_tops_.end());
}

// Tokens come in ascending ids, so an equal one belongs behind those that are there.
void TokenChances::insert(Ranked candidate, std::size_t count) {
  if (likeliest_.size() >= count) {
    if (!(candidate.logit > likeliest_.back().logit)) return;
    likeliest_.pop_back();
  }
  const auto place =
      std::upper_bound(likeliest_.begin(), likeliest_.end(), candidate.logit,
                       [](float logit, const Ranked& ranked) { return logit > ranked.logit; });
  likeliest_.insert(place, candidate);
}

void TokenChances::sum_weights() {
  weights_.resize(kBlock);
  double total = 0;
  const std::span<const float> all(logits_);
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, all.size() - begin);
    total += static_cast<double>(
        weigh_logits(all.subspan(begin, size), {top_, 1.0f}, std::span(weights_).first(size)));
  }
  log_total_ = std::log(total);
}

TokenChance TokenChances::chance_of(Token token, const TokenTable& table) const {
  const float logit = logits_[static_cast<std::size_t>(token)];
  double logprob = static_cast<double>(logit) - static_cast<double>(top_) - log_total_;
  if (logit == std::numeric_limits<float>::infinity()) logprob = 0;
  logprob = logprob > kLogprobMin ? std::min(logprob, 0.0) : kLogprobMin;  // NaN is unlikely, too
  return TokenChance{token, std::string(table.bytes(token)), static_cast<float>(logprob)};
}

TokenLogprobs TokenChances::describe(Token chosen, const TokenTable& table) {
  ZH_CHECK(chosen >= 0 && static_cast<std::size_t>(chosen) < logits_.size());
  TokenLogprobs event;
  event.chosen = chance_of(chosen, table);
  event.likeliest.reserve(likeliest_.size());
  for (const Ranked& ranked : likeliest_) {
    event.likeliest.push_back(chance_of(ranked.token, table));
  }
  return event;
}

}  // namespace zerohop
