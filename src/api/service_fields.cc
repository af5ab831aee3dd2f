#include "api/service_fields.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"

namespace zerohop {
namespace {

struct TierName {
  std::string_view name;
  ServiceTier tier;
};

constexpr std::array kAnthropicTiers{
    TierName{"auto", {PriorityClass::kStandard, "standard"}},
    TierName{"standard_only", {PriorityClass::kStandard, "standard"}},
};
constexpr std::array kOpenAiTiers{
    TierName{"auto", {PriorityClass::kStandard, "default"}},
    TierName{"default", {PriorityClass::kStandard, "default"}},
    TierName{"flex", {PriorityClass::kBatch, "flex"}},
    TierName{"priority", {PriorityClass::kPriority, "priority"}},
};

// The first of `names` stands for unknown ones.
template <std::size_t Count>
Result<ServiceTier> parse_tier(const JsonPlace& body, const ParseOptions& options,
                               const std::array<TierName, Count>& names) {
  const auto place = body.find("service_tier");
  if (!place) return ServiceTier{};
  ZH_ASSIGN_OR_RETURN(const std::string_view name, place->string());
  std::string known;
  for (const TierName& entry : names) {
    if (entry.name == name) return entry.tier;
    known.append(known.empty() ? "\"" : ", \"").append(entry.name).append("\"");
  }
  if (options.strict()) return place->expected("one of " + known);
  return names.front().tier;
}

Result<std::string> parse_stop(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place.string());
  if (text.empty()) return place.error("must not be empty");
  if (text.size() > limits::kStopSequenceBytesMax) {
    return place.error("must be at most " + std::to_string(limits::kStopSequenceBytesMax) +
                       " bytes long, got " + std::to_string(text.size()));
  }
  return std::string(text);
}

Result<std::vector<std::string>> parse_stops(const JsonPlace& cap) {
  std::vector<std::string> stops;
  const auto place = cap.find("stop");
  if (!place) return stops;
  if (place->is_string()) {
    ZH_ASSIGN_OR_RETURN(std::string stop, parse_stop(*place));
    stops.push_back(std::move(stop));
    return stops;
  }
  ZH_ASSIGN_OR_RETURN(const std::size_t count, place->array_size(limits::kStopSequencesMax));
  for (std::size_t i = 0; i < count; ++i) {
    ZH_ASSIGN_OR_RETURN(std::string stop, parse_stop(place->element(i)));
    stops.push_back(std::move(stop));
  }
  return stops;
}

Result<SoftCap> parse_soft_cap(const JsonPlace& place) {
  ZH_RETURN_IF_ERROR(place.expect_object());
  SoftCap cap;
  if (const auto at = place.find("at")) {
    ZH_ASSIGN_OR_RETURN(cap.at, at->number({0, 1}));
    if (cap.at >= 1) return at->expected("a share below 1");
  }
  ZH_ASSIGN_OR_RETURN(cap.stops, parse_stops(place));
  cap.sentence_end = cap.stops.empty();
  if (const auto sentence = place.find("sentence")) {
    ZH_ASSIGN_OR_RETURN(cap.sentence_end, sentence->boolean());
    if (!cap.sentence_end && cap.stops.empty()) {
      return sentence->error("must be true where soft_cap has no stop");
    }
  }
  return cap;
}

}  // namespace

Result<ServiceTier> parse_anthropic_service_tier(const JsonPlace& body,
                                                 const ParseOptions& options) {
  return parse_tier(body, options, kAnthropicTiers);
}

Result<ServiceTier> parse_openai_service_tier(const JsonPlace& body, const ParseOptions& options) {
  return parse_tier(body, options, kOpenAiTiers);
}

Result<void> parse_answer_limits(const JsonPlace& body, GenerationParameters& generation) {
  if (const auto soft = body.find("soft_max_tokens")) {
    ZH_ASSIGN_OR_RETURN(generation.soft_max_tokens, soft->boolean());
  }
  if (const auto cap = body.find("soft_cap")) {
    ZH_ASSIGN_OR_RETURN(generation.soft_cap, parse_soft_cap(*cap));
  }
  return {};
}

}  // namespace zerohop
