#include "app/model_prepare_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace zerohop {
namespace {

constexpr double kGainMin = 1.10;
constexpr double kSingleGainMin = 0.80;
// Beyond this a copy is another model; `fast` has its limit too.
constexpr double kFastDivergenceMax = 1.0;
// With a limit below this, four bits are not worth the time to try them.
constexpr double kFourBitsDivergence = 0.1;
constexpr std::uint64_t kMemoryShare = 4;

// Whoever serves these chose exactness over speed, or has what `safe` would make.
constexpr std::array<std::string_view, 4> kExactTypes{"F32", "F16", "BF16", "Q8_0"};

double ratio(double converted, double original) {
  return converted > 0 && original > 0 ? converted / original : 0;
}

double limit_of(const PrepareRule& rule) {
  return rule.policy == PreparePolicy::kFast ? kFastDivergenceMax : rule.kl_max;
}

// The types that a rule would try, whatever their size.
std::vector<WeightType> wanted_types(const WeightFile& file, const PrepareRule& rule) {
  std::vector<WeightType> types{WeightType::kQ8_0};
  if (rule.policy == PreparePolicy::kFast || rule.kl_max >= kFourBitsDivergence) {
    types.push_back(WeightType::kQ4_0);
  }
  std::erase_if(types, [&](WeightType type) { return file.main_type == weight_type_name(type); });
  return types;
}

bool fits(const WeightFile& file, WeightType type, const PrepareRoom& room) {
  const std::uint64_t bytes = file.bytes_as(type);
  return bytes <= room.bytes_max && bytes <= room.free_memory / kMemoryShare;
}

template <class... Numbers>
std::string format(const char* form, Numbers... numbers) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, form, numbers...);
  return buffer;
}

// Why a candidate is not taken; nothing when it may be.
std::optional<std::string> objection(const PrepareCandidate& candidate, const PrepareRule& rule) {
  if (!candidate.fault.empty()) return candidate.fault;
  const ModelComparison& figures = candidate.figures;
  if (figures.divergence.tokens == 0) return "nothing was compared";
  if (!(figures.divergence.kl_mean <= limit_of(rule))) {
    return format("its divergence of %.3g nats is over the limit of %.3g",
                  figures.divergence.kl_mean, limit_of(rule));
  }
  if (preparation_gain(figures) < kGainMin) {
    return format("it gains %.2fx, less than %.2fx", preparation_gain(figures), kGainMin);
  }
  if (single_gain(figures) < kSingleGainMin) {
    return format("one stream alone would keep %.2f of its speed, less than %.2f",
                  single_gain(figures), kSingleGainMin);
  }
  return std::nullopt;
}

}  // namespace

std::string_view prepare_policy_name(PreparePolicy policy) {
  switch (policy) {
    case PreparePolicy::kSafe: return "safe";
    case PreparePolicy::kFast: return "fast";
    case PreparePolicy::kOff: break;
  }
  return "off";
}

std::vector<WeightType> candidate_types(const WeightFile& file, const PrepareRule& rule,
                                        const PrepareRoom& room) {
  std::vector<WeightType> types = wanted_types(file, rule);
  std::erase_if(types, [&](WeightType type) { return !fits(file, type, room); });
  return types;
}

std::optional<std::string> why_left_alone(const WeightFile& file, const PrepareRule& rule,
                                          const PrepareRoom& room) {
  if (rule.policy == PreparePolicy::kOff) return "model.prepare is off";
  if (file.in_parts) return "its file is in several parts";
  if (file.experts > 0) return "it is a mixture of experts";
  if (file.main_type.empty()) return "it has no matrices";
  const bool exact = std::ranges::find(kExactTypes, file.main_type) != kExactTypes.end();
  if (exact && rule.policy == PreparePolicy::kSafe) return "its weights are " + file.main_type;
  if (!candidate_types(file, rule, room).empty()) return std::nullopt;
  const std::vector<WeightType> wanted = wanted_types(file, rule);
  if (wanted.empty()) return "it has the best type already";
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const WeightType type : wanted) least = std::min(least, file.bytes_as(type));
  constexpr double kMebibyte = 1 << 20;
  return format(
      "converted it would take %.0f MiB; model.prepare_bytes_max and a quarter of the "
      "free memory allow %.0f",
      static_cast<double>(least) / kMebibyte,
      static_cast<double>(std::min(room.bytes_max, room.free_memory / kMemoryShare)) / kMebibyte);
}

double preparation_gain(const ModelComparison& figures) {
  return std::sqrt(ratio(figures.converted.prefill, figures.original.prefill) *
                   ratio(figures.converted.batch, figures.original.batch));
}

double single_gain(const ModelComparison& figures) {
  return ratio(figures.converted.single, figures.original.single);
}

std::string candidate_text(const PrepareCandidate& candidate) {
  const std::string name(weight_type_name(candidate.type));
  if (!candidate.fault.empty()) return name + ": " + candidate.fault;
  const ModelComparison& figures = candidate.figures;
  return name + format(": prefill %.2fx, 8 streams %.2fx, one %.2fx, divergence %.3g nats",
                       ratio(figures.converted.prefill, figures.original.prefill),
                       ratio(figures.converted.batch, figures.original.batch), single_gain(figures),
                       figures.divergence.kl_mean);
}

PrepareChoice choose_weights(std::span<const PrepareCandidate> candidates,
                             const PrepareRule& rule) {
  const PrepareCandidate* best = nullptr;
  std::string objections;
  for (const PrepareCandidate& candidate : candidates) {
    if (const auto against = objection(candidate, rule)) {
      if (!objections.empty()) objections += "; ";
      objections.append(weight_type_name(candidate.type)).append(": ").append(*against);
      continue;
    }
    if (best == nullptr || preparation_gain(candidate.figures) > preparation_gain(best->figures)) {
      best = &candidate;
    }
  }
  if (best != nullptr) return {best->type, candidate_text(*best)};
  return {WeightType::kOriginal, objections.empty() ? "nothing was tried" : objections};
}

}  // namespace zerohop
