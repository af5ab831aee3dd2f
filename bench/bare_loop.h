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

/// One step of an engine: a row for each of `decode_rows` streams, and a piece of a prompt.
struct ReplayedStep {
  int decode_rows = 0;
  int prompt_rows = 0;
};

struct ReplayedPrefill {
  std::vector<std::vector<Token>> streams;  ///< their tokens when the prompt came
  std::vector<Token> prompt;
  int cached_tokens = 0;  ///< of the prompt; the steps compute the rest
  std::vector<ReplayedStep> steps;
};

class BareLoop {
 public:
  /// Crashes when the model cannot be loaded: this is a benchmark.
  BareLoop(const std::string& model_path, const ContextOptions& options);
  ~BareLoop();

  /// Fills one sequence per prompt, then decodes `steps` greedy tokens for all of them in one batch
  /// a step. Returns decoded tokens per second, the prompts not counted.
  double decode_rate(const std::vector<std::vector<Token>>& prompts, int steps);

  /// Computes `prompt`, then its last `rows` tokens again and again. Returns the seconds of each
  /// repetition: the model time of a one-token answer to a prompt of which the rest is cached.
  std::vector<double> tail_seconds(const std::vector<Token>& prompt, int rows, int repetitions);

  /// Repeats the steps that an engine took for a late prompt beside running streams: each step is
  /// one greedy row of every stream and a chunk of the prompt. Returns the seconds of all steps.
  double replay(const ReplayedPrefill& prefill);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace zerohop::bench
