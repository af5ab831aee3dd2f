#include "api/anthropic_generation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/anthropic_foreign_fields.h"
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

Result<float> parse_bias(const JsonPlace& place) {
  constexpr double kMost = limits::kLogitBiasMagnitudeMax;
  ZH_ASSIGN_OR_RETURN(const double bias, place.number({-kMost, kMost}));
  return static_cast<float>(bias);
}

// The key of an OpenAI logit_bias: decimal digits and nothing else.
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
  return Seed(static_cast<std::uint64_t>(seed));
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
  return generation;
}

}  // namespace zerohop
