// The peer of the benchmark: libllama called directly, with nothing around it. The same model file,
// context parameters and threads as the server's tier in the same process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/token.h"
#include "model/model.h"

namespace zerohop::bench {

class BareLoop {
 public:
  /// Crashes when the model cannot be loaded: this is a benchmark.
  BareLoop(const std::string& model_path, const ContextOptions& options);
  ~BareLoop();

  /// Fills one sequence per prompt, then decodes `steps` greedy tokens for all of them in one batch
  /// a step. Returns decoded tokens per second, the prompts not counted.
  double decode_rate(const std::vector<std::vector<Token>>& prompts, int steps);

  /// Computes `prompt`, then its last token again and again. Returns the seconds of each
  /// repetition: the model time of a one-token answer to a cached prompt.
  std::vector<double> last_token_seconds(const std::vector<Token>& prompt, int repetitions);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace zerohop::bench
