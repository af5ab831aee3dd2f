#include "api/openai_generation.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "api/shared_fields.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Positions, and so counts of tokens, are 32-bit signed in the model library; token ids too.
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

constexpr double kHostedTemperatureMax = 2;
constexpr double kHostedPenaltyMax = 2;
// Logits stay within a few hundred: a penalty of 100 already bans what occurred.
constexpr double kPenaltyMax = 100;
constexpr std::size_t kHostedStopsMax = 4;

struct NumberField {
  std::string_view key;
  NumberRange range;
  float absent = 0;
};

Result<float> parse_number(const JsonPlace& body, const NumberField& field) {
  const auto place = body.find(field.key);
  if (!place) return field.absent;
  ZH_ASSIGN_OR_RETURN(const double number, place->number(field.range));
  return static_cast<float>(number);
}

Result<float> parse_repetition_penalty(const JsonPlace& body) {
  auto place = body.find("repetition_penalty");
  if (!place) place = body.find("repeat_penalty");
  if (!place) return 1.0f;
  ZH_ASSIGN_OR_RETURN(const double penalty, place->number({0, limits::kRepetitionPenaltyMax}));
  if (!(static_cast<float>(penalty) > 0)) return place->expected("a number above 0");
  return static_cast<float>(penalty);
}

Result<void> parse_penalties(const JsonPlace& body, const ParseOptions& options,
                             SamplingParameters& sampling) {
  const double most = options.strict() ? kHostedPenaltyMax : kPenaltyMax;
  const NumberRange range{-most, most};
  ZH_ASSIGN_OR_RETURN(sampling.presence_penalty,
                      parse_number(body, {"presence_penalty", range, 0}));
  ZH_ASSIGN_OR_RETURN(sampling.frequency_penalty,
                      parse_number(body, {"frequency_penalty", range, 0}));
  ZH_ASSIGN_OR_RETURN(sampling.repetition_penalty, parse_repetition_penalty(body));
  return {};
}

// Nothing: an empty string, which stops nothing.
Result<std::optional<std::string>> parse_stop_text(const JsonPlace& place,
                                                   const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) {
    if (options.strict()) return place.error("must not be empty");
    return std::optional<std::string>();
  }
  if (text.size() > limits::kStopSequenceBytesMax) {
    return place.error("must be at most " + std::to_string(limits::kStopSequenceBytesMax) +
                       " bytes long, got " + std::to_string(text.size()));
  }
  return std::optional<std::string>(text);
}

}  // namespace

Result<std::uint32_t> parse_openai_max_tokens(const JsonPlace& body,
                                              std::initializer_list<std::string_view> fields,
                                              const ParseOptions& options) {
  for (const std::string_view field : fields) {
    const auto place = body.find(field);
    if (!place) continue;
    const auto* integer = place->value().if_int64();
    if (integer != nullptr && *integer == -1 && !options.strict()) break;
    ZH_ASSIGN_OR_RETURN(const std::int64_t tokens, place->integer({0, kInt32Max}));
    return static_cast<std::uint32_t>(tokens);
  }
  return options.default_max_tokens;
}

Result<SamplingParameters> parse_openai_sampling(const JsonPlace& body,
                                                 const ParseOptions& options) {
  SamplingParameters sampling;
  const double hottest = options.strict() ? kHostedTemperatureMax : limits::kTemperatureMax;
  ZH_ASSIGN_OR_RETURN(sampling.temperature, parse_number(body, {"temperature", {0, hottest}, 1}));
  ZH_ASSIGN_OR_RETURN(const float top_p, parse_number(body, {"top_p", {0, 1}, 1}));
  sampling.top_p = std::max(top_p, std::numeric_limits<float>::min());
  ZH_ASSIGN_OR_RETURN(sampling.min_p, parse_number(body, {"min_p", {0, 1}, 0}));
  if (const auto place = body.find("top_k")) {
    ZH_ASSIGN_OR_RETURN(const std::int64_t top_k, place->integer({-1, kInt32Max}));
    sampling.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(top_k, 0));
  }
  ZH_ASSIGN_OR_RETURN(sampling.seed, parse_seed(body));
  // -1, as llama-server and vLLM write "whichever".
  const auto seed = body.find("seed");
  if (seed && seed->integer({-1, -1}).ok()) sampling.seed.reset();
  ZH_ASSIGN_OR_RETURN(sampling.logit_bias, parse_logit_bias(body));
  ZH_RETURN_IF_ERROR(parse_penalties(body, options, sampling));
  return sampling;
}

Result<std::vector<std::string>> parse_openai_stop(const JsonPlace& body,
                                                   const ParseOptions& options) {
  std::vector<std::string> stops;
  const auto place = body.find("stop");
  if (!place) return stops;
  if (place->is_string()) {
    ZH_ASSIGN_OR_RETURN(auto stop, parse_stop_text(*place, options));
    if (stop) stops.push_back(*std::move(stop));
    return stops;
  }
  if (!place->is_array()) return place->expected("a string or an array of strings");
  const std::size_t most = options.strict() ? kHostedStopsMax : limits::kStopSequencesMax;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place->array_size(most));
  stops.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(auto stop, parse_stop_text(place->element(i), options));
    if (stop) stops.push_back(*std::move(stop));
  }
  return stops;
}

Result<std::uint32_t> parse_openai_choices(const JsonPlace& body) {
  const auto place = body.find("n");
  if (!place) return std::uint32_t{1};
  ZH_ASSIGN_OR_RETURN(const std::int64_t choices, place->integer({1, kOpenAiChoicesMax}));
  return static_cast<std::uint32_t>(choices);
}

}  // namespace zerohop
