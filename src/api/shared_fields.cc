#include "api/shared_fields.h"

#include <cstddef>
#include <limits>
#include <string_view>

#include "base/whole_number.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// Token ids are 32-bit signed in the model library.
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

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
  const auto token = whole_number<Token>(key);
  return token.value_or(-1) < 0 ? std::nullopt : token;
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

}  // namespace

Result<std::string> parse_model_name(const JsonPlace& body, const ParseOptions& options) {
  const auto place = body.find("model");
  if (!place) {
    if (options.strict()) ZH_RETURN_IF_ERROR(body.require("model"));
    return std::string();
  }
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place->string());
  if (name.size() > limits::kModelNameBytesMax) {
    return place->error("must be at most " + std::to_string(limits::kModelNameBytesMax) +
                        " bytes long, got " + std::to_string(name.size()));
  }
  return std::string(name);
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

}  // namespace zerohop
