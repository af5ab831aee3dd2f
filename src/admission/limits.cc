#include "admission/limits.h"

#include <array>

#include "base/check.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

constexpr std::array<LimitField, kLimitKinds + 2> kTable{{
    {"requests_per_minute", "requests per minute", &Limits::requests_per_minute, kRateMax,
     LimitKind::kRequestsPerMinute},
    {"input_tokens_per_minute", "input tokens per minute", &Limits::input_tokens_per_minute,
     kRateMax, LimitKind::kInputTokensPerMinute},
    {"output_tokens_per_minute", "output tokens per minute", &Limits::output_tokens_per_minute,
     kRateMax, LimitKind::kOutputTokensPerMinute},
    {"total_tokens_per_minute", "tokens per minute", &Limits::total_tokens_per_minute, kRateMax,
     LimitKind::kTotalTokensPerMinute},
    {"parallel_requests", "requests at once", &Limits::parallel_requests, kRateMax,
     LimitKind::kParallelRequests},
    {"max_input_tokens", "input tokens in one request", &Limits::max_input_tokens, kRateMax,
     LimitKind::kMaxInputTokens},
    {"max_output_tokens", "output tokens in one request", &Limits::max_output_tokens, kRateMax,
     LimitKind::kMaxOutputTokens},
    {"tokens_per_day", "tokens per day", &Limits::tokens_per_day, kBudgetMax,
     LimitKind::kTokensPerDay},
    {"tokens_per_month", "tokens per month", &Limits::tokens_per_month, kBudgetMax,
     LimitKind::kTokensPerMonth},
    {"money_micros_per_day", "millionths of the currency per day", &Limits::money_micros_per_day,
     kBudgetMax, LimitKind::kMoneyPerDay},
    {"money_micros_per_month", "millionths of the currency per month",
     &Limits::money_micros_per_month, kBudgetMax, LimitKind::kMoneyPerMonth},
    {"cached_input_weight_permille", "thousandths of a token that a cached token counts",
     &Limits::cached_input_weight_permille, kWeightMax, std::nullopt},
    {"lower_output_cap", "1: shorten answers to what is left", &Limits::lower_output_cap, 1,
     std::nullopt},
}};

// The table is indexed by the enum; this keeps the two in step.
constexpr bool in_order() {
  for (std::size_t i = 0; i < kLimitKinds; ++i) {
    if (!kTable[i].kind || static_cast<std::size_t>(*kTable[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order());

struct RateUnit {
  std::string_view name;
  std::uint64_t seconds;
};
constexpr std::array<RateUnit, 15> kRateUnits{{
    {"second", 1},
    {"sec", 1},
    {"s", 1},
    {"minute", 60},
    {"min", 60},
    {"m", 60},
    {"hour", 3'600},
    {"hr", 3'600},
    {"h", 3'600},
    {"day", 86'400},
    {"d", 86'400},
    {"minutes", 60},
    {"seconds", 1},
    {"hours", 3'600},
    {"days", 86'400},
}};

}  // namespace

std::span<const LimitField> limit_fields() { return kTable; }

const LimitField& limit_field(LimitKind kind) { return kTable[static_cast<std::size_t>(kind)]; }

const LimitField* find_limit(std::string_view name) {
  for (const LimitField& field : kTable) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Result<void> check_limits(const Limits& limits, std::string_view path) {
  for (const LimitField& field : kTable) {
    const LimitNumber& number = limits.*field.member;
    if (!number || *number <= field.max) continue;
    return invalid_request(std::string(path) + (path.empty() ? "" : ".") + std::string(field.name),
                           std::string(field.name) + " may be at most " +
                               std::to_string(field.max) + ", not " + std::to_string(*number));
  }
  return {};
}

Limits limits_or(const Limits& limits, const Limits& defaults) {
  Limits merged = limits;
  for (const LimitField& field : kTable) {
    if (!(merged.*field.member)) merged.*field.member = defaults.*field.member;
  }
  return merged;
}

Result<std::uint64_t> tokens_per_minute_of(const RequestRate& rate) {
  const auto refused = [&rate](const std::string& why) {
    return invalid_request(std::string(rate.path), why);
  };
  const std::size_t slash = rate.text.find('/');
  const auto requests = whole_number<std::uint64_t>(rate.text.substr(0, slash));
  const RateUnit* unit = nullptr;
  for (const RateUnit& candidate : kRateUnits) {
    if (slash != std::string_view::npos && candidate.name == rate.text.substr(slash + 1)) {
      unit = &candidate;
    }
  }
  if (!requests || unit == nullptr) {
    return refused("a rate looks like 10000/minute; the units are second, minute, hour and day");
  }
  if (*requests > kRateMax || rate.tokens_per_request > kRateMax) {
    return refused("a rate may have at most " + std::to_string(kRateMax) + " requests");
  }
  if (*requests == 0 || rate.tokens_per_request == 0) return std::uint64_t{0};
  // Both factors are at most 2^40, so the product with 60 needs more than 64 bits.
  __extension__ using Wide = unsigned __int128;
  const Wide tokens = Wide{*requests} * rate.tokens_per_request * 60 / unit->seconds;
  if (tokens > kRateMax) {
    return refused("that is more than " + std::to_string(kRateMax) + " tokens a minute");
  }
  return tokens == 0 ? std::uint64_t{1} : static_cast<std::uint64_t>(tokens);
}

}  // namespace zerohop
