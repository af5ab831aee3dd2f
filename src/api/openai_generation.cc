#include "api/openai_generation.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

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

Result<float> parse_bias(const JsonPlace& place) {
  constexpr double kMost = limits::kLogitBiasMagnitudeMax;
  // llama-server: [id, false] bans a token.
  if (const bool* allowed = place.value().if_bool(); allowed != nullptr && !*allowed) {
    return static_cast<float>(-kMost);
  }
  ZH_ASSIGN_OR_RETURN(const double bias, place.number({-kMost, kMost}));
  return static_cast<float>(bias);
}

// Decimal digits and nothing else.
std::optional<Token> parse_token_key(std::string_view key) {
  Token token = -1;
  const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), token);
  if (fault != std::errc() || end != key.data() + key.size() || token < 0) return std::nullopt;
  return token;
}

Result<LogitBias> parse_bias_pair(const JsonPlace& pair) {
  ZH_ASSIGN_OR_RETURN(const std::size_t size, pair.array_size(2));
  if (size != 2) return pair.error("must be a pair of token id and bias");
  const JsonPlace id = pair.element(0);
  ZH_ASSIGN_OR_RETURN(const std::int64_t token, id.integer({0, kInt32Max}));
  const JsonPlace number = pair.element(1);
  ZH_ASSIGN_OR_RETURN(const float bias, parse_bias(number));
  return LogitBias{static_cast<Token>(token), bias};
}

Result<std::vector<LogitBias>> parse_bias_pairs(const JsonPlace& place) {
  std::vector<LogitBias> biases;
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place.array_size(limits::kLogitBiasMax));
  biases.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(const LogitBias bias, parse_bias_pair(place.element(i)));
    biases.push_back(bias);
  }
  return biases;
}

Result<std::vector<LogitBias>> parse_logit_bias(const JsonPlace& body) {
  std::vector<LogitBias> biases;
  const auto place = body.find("logit_bias");
  if (!place) return biases;
  if (place->is_array()) return parse_bias_pairs(*place);
  const auto* object = place->value().if_object();
  if (object == nullptr) return place->expected("an object or an array of pairs");
  if (object->size() > limits::kLogitBiasMax) {
    return place->error("must have at most " + std::to_string(limits::kLogitBiasMax) +
                        " entries, got " + std::to_string(object->size()));
  }
  biases.reserve(object->size());
  for (const auto& entry : *object) {
    const std::string_view key(entry.key().data(), entry.key().size());
    const auto token = parse_token_key(key);
    if (!token) return place->error("must have token ids as keys");
    ZH_ASSIGN_OR_RETURN(const float bias, parse_bias(place->member(key, entry.value())));
    biases.push_back({*token, bias});
  }
  return biases;
}

Result<std::optional<std::uint64_t>> parse_seed(const JsonPlace& body) {
  using Seed = std::optional<std::uint64_t>;
  const auto place = body.find("seed");
  if (!place) return Seed();
  if (const auto* natural = place->value().if_uint64()) return Seed(*natural);
  using Limits = std::numeric_limits<std::int64_t>;
  ZH_ASSIGN_OR_RETURN(const std::int64_t seed, place->integer({Limits::min(), Limits::max()}));
  if (seed == -1) return Seed();
  return Seed(static_cast<std::uint64_t>(seed));
}

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
