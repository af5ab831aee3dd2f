#include "engine/pooling.h"

#include <cmath>

#include "base/check.h"

namespace zerohop {

Pooler::Pooler(PoolingType pooling) : pooling_(pooling) { ZH_CHECK(pooling != PoolingType::kRank); }

void Pooler::start() {
  sum_.clear();
  rows_ = 0;
}

void Pooler::add(std::span<const float> hidden) {
  const bool first = rows_++ == 0;
  if (pooling_ == PoolingType::kFirst && !first) return;
  if (first || pooling_ == PoolingType::kLast) {
    sum_.assign(hidden.begin(), hidden.end());
    return;
  }
  ZH_CHECK(hidden.size() == sum_.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) sum_[i] += static_cast<double>(hidden[i]);
}

// Scaling to length 1 makes the division by the number of rows needless.
std::optional<std::vector<float>> Pooler::finish() const {
  ZH_CHECK(rows_ > 0);
  double squares = 0;
  for (const double value : sum_) squares += value * value;
  const double length = std::sqrt(squares);
  if (!std::isfinite(length) || length == 0) return std::nullopt;
  std::vector<float> vector;
  vector.reserve(sum_.size());
  for (const double value : sum_) vector.push_back(static_cast<float>(value / length));
  return vector;
}

}  // namespace zerohop
