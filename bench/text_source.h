// English-like text of a wanted length, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace zerohop::bench {

/// One thread.
class TextSource {
 public:
  explicit TextSource(std::uint64_t seed) : random_(seed) {}

  /// Words of one token each in the default model's vocabulary, a full stop now and then: about
  /// `tokens` of them. Needs no escaping in JSON.
  std::string text(int tokens);

  Random& random() { return random_; }

 private:
  Random random_;
};

}  // namespace zerohop::bench
