#include "api/anthropic_generation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/anthropic_foreign_fields.h"
#include "api/service_fields.h"
#include "api/shared_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Positions, and so counts of tokens, are 32-bit signed in the model library; token ids too.
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

Result<std::uint32_t> parse_max_tokens(const JsonPlace& body, const ParseOptions& options) {
  const auto place = find_field(body, "max_tokens");
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(body.require("max_tokens"));
    return options.default_max_tokens;
  }
  ZH_ASSIGN_OR_RETURN(const std::int64_t tokens, place->integer({0, kInt32Max}));
  return static_cast<std::uint32_t>(tokens);
}

Result<std::string> parse_stop_sequence(const JsonPlace& place, const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  if (options.strict() && text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    return place.error("must contain a character that is not white space");
  }
  if (text.size() > limits::kStopSequenceBytesMax) {
    return place.error("must be at most " + std::to_string(limits::kStopSequenceBytesMax) +
                       " bytes long, got " + std::to_string(text.size()));
  }
  return std::string(text);
}

Result<std::vector<std::string>> parse_stop_sequences(const JsonPlace& body,
                                                      const ParseOptions& options) {
  std::vector<std::string> sequences;
  const auto place = find_field(body, "stop_sequences");
  if (!place) return sequences;
  if (place->is_string() && !options.strict()) {
    ZH_ASSIGN_OR_RETURN(std::string sequence, parse_stop_sequence(*place, options));
    sequences.push_back(std::move(sequence));
    return sequences;
  }
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place->array_size(limits::kStopSequencesMax));
  sequences.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(std::string sequence, parse_stop_sequence(place->element(i), options));
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

// Of both penalties of the other dialect.
Result<float> parse_penalty(const JsonPlace& body, std::string_view field) {
  const auto place = body.find(field);
  if (!place) return 0.0f;
  ZH_ASSIGN_OR_RETURN(const double penalty, place->number({-2, 2}));
  return static_cast<float>(penalty);
}

Result<float> parse_repetition_penalty(const JsonPlace& body) {
  const auto place = find_field(body, "repetition_penalty");
  if (!place) return 1.0f;
  ZH_ASSIGN_OR_RETURN(const double penalty, place->number({0, limits::kRepetitionPenaltyMax}));
  const auto factor = static_cast<float>(penalty);
  if (factor <= 0) return place->expected("a number above 0");  // it divides
  return factor;
}

Result<void> parse_penalties(const JsonPlace& body, SamplingParameters& sampling) {
  ZH_ASSIGN_OR_RETURN(sampling.presence_penalty, parse_penalty(body, "presence_penalty"));
  ZH_ASSIGN_OR_RETURN(sampling.frequency_penalty, parse_penalty(body, "frequency_penalty"));
  ZH_ASSIGN_OR_RETURN(sampling.repetition_penalty, parse_repetition_penalty(body));
  return {};
}

Result<SamplingParameters> parse_sampling(const JsonPlace& body, const ParseOptions& options) {
  SamplingParameters sampling;
  if (const auto place = body.find("temperature")) {
    const double most = options.strict() ? 1 : limits::kTemperatureMax;
    ZH_ASSIGN_OR_RETURN(const double temperature, place->number({0, most}));
    sampling.temperature = static_cast<float>(temperature);
  }
  if (const auto place = body.find("top_p")) {
    ZH_ASSIGN_OR_RETURN(const double top_p, place->number({0, 1}));
    sampling.top_p = std::max(static_cast<float>(top_p), std::numeric_limits<float>::min());
  }
  if (const auto place = body.find("top_k")) {
    ZH_ASSIGN_OR_RETURN(const std::int64_t top_k, place->integer({0, kInt32Max}));
    sampling.top_k = static_cast<std::int32_t>(top_k);
  }
  if (const auto place = body.find("min_p")) {
    ZH_ASSIGN_OR_RETURN(const double min_p, place->number({0, 1}));
    sampling.min_p = static_cast<float>(min_p);
  }
  ZH_RETURN_IF_ERROR(parse_penalties(body, sampling));
  ZH_ASSIGN_OR_RETURN(sampling.seed, parse_seed(body));
  ZH_ASSIGN_OR_RETURN(sampling.logit_bias, parse_logit_bias(body));
  return sampling;
}

}  // namespace

Result<GenerationParameters> parse_anthropic_generation(const JsonPlace& body,
                                                        const ParseOptions& options) {
  if (options.strict()) ZH_RETURN_IF_ERROR(refuse_foreign_fields(body));
  GenerationParameters generation;
  ZH_ASSIGN_OR_RETURN(generation.max_tokens, parse_max_tokens(body, options));
  ZH_ASSIGN_OR_RETURN(generation.sampling, parse_sampling(body, options));
  ZH_ASSIGN_OR_RETURN(generation.stop_sequences, parse_stop_sequences(body, options));
  ZH_RETURN_IF_ERROR(parse_answer_limits(body, generation));
  return generation;
}

}  // namespace zerohop
