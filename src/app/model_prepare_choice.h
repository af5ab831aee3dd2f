// The rules of preparing a model: which files are worth a try, which types, and which one wins.
// Pure; any thread.
//
// The objective. A server reads prompts and decodes several answers together, so the gain of a type
// is the geometric mean of two ratios to the original: prefill, and eight sequences that decode
// together. A type has to gain a tenth, for less is within what a measurement is off by. Nobody who
// is alone may pay for it: one sequence must keep 0.8 of its speed. Two AVX-512 cores, default
// model (Q4_1):
//
//   type     prefill  8 streams  1 stream    gain   divergence (KL)
//   Q8_0        1.89       1.35      0.85    1.60       0.006          safe, taken
//   Q4_0        2.64       2.06      1.36    2.33       0.40           fast only
//
// Types of four bits were never under the limit of 0.02 nats when the source had been more exact,
// so `safe` tries them only where its limit is set much higher.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"
#include "model/prepare_convert.h"
#include "model/prepare_score.h"

namespace zerohop {

struct PrepareRule {
  PreparePolicy policy = PreparePolicy::kSafe;
  double kl_max = 0.02;  ///< nats a token, for kSafe
};

/// What bounds the size of a conversion, in bytes.
struct PrepareRoom {
  std::uint64_t bytes_max = 0;    ///< of a converted file, as configured
  std::uint64_t free_memory = 0;  ///< a quarter of it bounds a converted file
};

/// A type that was tried.
struct PrepareCandidate {
  WeightType type = WeightType::kOriginal;
  std::string fault;  ///< why there are no figures; empty: there are
  ModelComparison figures;
};

struct PrepareChoice {
  WeightType type = WeightType::kOriginal;
  std::string reason;  ///< one line for people
};

/// Why a file is served as it is without a try; nothing when it is worth one.
std::optional<std::string> why_left_alone(const WeightFile& file, const PrepareRule& rule,
                                          const PrepareRoom& room);

/// The types to try, those that fit `room`; none when the file has the best one already.
std::vector<WeightType> candidate_types(const WeightFile& file, const PrepareRule& rule,
                                        const PrepareRoom& room);

/// How much faster than the original, as above; 0 when something was not measured.
double preparation_gain(const ModelComparison& figures);
/// Of one sequence that decodes alone; 0 when it was not measured.
double single_gain(const ModelComparison& figures);

PrepareChoice choose_weights(std::span<const PrepareCandidate> candidates, const PrepareRule& rule);

/// "Q8_0: prefill 1.89x, 8 streams 1.35x, one 0.85x, divergence 0.006 nats" or its fault.
std::string candidate_text(const PrepareCandidate& candidate);

/// "off", "safe", "fast".
std::string_view prepare_policy_name(PreparePolicy policy);

}  // namespace zerohop
