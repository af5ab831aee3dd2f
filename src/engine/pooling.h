// Final hidden states of one text → one vector. Rows come in order, in pieces of any size.
// One owner; no threads.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/model.h"

namespace zerohop {

class Pooler {
 public:
  /// kUnspecified pools like kMean: what is usual for models that were made to write text. kRank is
  /// no pooling; a caller must not ask for it.
  explicit Pooler(PoolingType pooling);

  /// Forgets everything: a new text begins.
  void start();

  /// The hidden state of the next token.
  void add(std::span<const float> hidden);

  /// The vector, scaled to length 1. Nothing when it has no direction: a value is not finite, or
  /// all are 0. At least one row must have been added.
  std::optional<std::vector<float>> finish() const;

 private:
  const PoolingType pooling_;
  std::vector<double> sum_;  // in double: thousands of rows add up
  std::size_t rows_ = 0;
};

}  // namespace zerohop
