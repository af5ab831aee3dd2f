// What a key or a tenant may use: a plain value, with one table of its fields.
//
// A field that is absent is no limit; 0 lets nothing through. Rates are per minute and refill
// continuously (gcra.h). Budgets are per calendar day or month in UTC, in tokens or in money
// (budget.h). Caps hold for each request by itself. Key and tenant each have such a value, and a
// request must fit both.
//
// Who stores, parses or prints limits goes through limit_fields() and needs no list of its own:
//
//   for (const LimitField& field : limit_fields()) {
//     if (const LimitNumber& number = limits.*field.member) print(field.name, *number);
//   }
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

using LimitNumber = std::optional<std::uint64_t>;

enum class LimitKind : std::uint8_t {
  kRequestsPerMinute,
  kInputTokensPerMinute,
  kOutputTokensPerMinute,
  kTotalTokensPerMinute,
  kParallelRequests,
  kMaxInputTokens,
  kMaxOutputTokens,
  kTokensPerDay,
  kTokensPerMonth,
  kMoneyPerDay,
  kMoneyPerMonth,
};
inline constexpr std::size_t kLimitKinds = 11;

struct Limits {
  // Rates. Input counts what is computed, and what is found in the cache by its weight (below).
  LimitNumber requests_per_minute;
  LimitNumber input_tokens_per_minute;
  LimitNumber output_tokens_per_minute;
  LimitNumber total_tokens_per_minute;

  /// Requests in the system at once, from head to last byte.
  LimitNumber parallel_requests;

  // Caps of one request. Input is the whole prompt, whether cached or not.
  LimitNumber max_input_tokens;
  LimitNumber max_output_tokens;

  // Budgets. Money in millionths of the currency of the price table.
  LimitNumber tokens_per_day;
  LimitNumber tokens_per_month;
  LimitNumber money_micros_per_day;
  LimitNumber money_micros_per_month;

  /// How many thousandths of a token a cached token of the prompt counts in rates and in budgets
  /// of tokens; 0 to kWeightMax. Absent: 0 in rates and budgets, as the hosted API has it.
  LimitNumber cached_input_weight_permille;
  /// 1: where less is left than the answer that was asked for, the answer may only be as long as
  /// what is left. 0 or absent: such a request is refused.
  LimitNumber lower_output_cap;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Rates above it are refused: 16 billion tokens a second, and GCRA's clock still runs 12 years.
inline constexpr std::uint64_t kRateMax = 1'000'000'000'000;
/// Budgets above it are refused: a billion in money. JSON numbers are exact up to here.
inline constexpr std::uint64_t kBudgetMax = 1'000'000'000'000'000;
inline constexpr std::uint64_t kWeightMax = 1'000;

/// One row for each field of Limits, in the order of the struct.
struct LimitField {
  std::string_view name;  ///< of the member, in configuration, command line and store
  std::string_view unit;  ///< for people, such as "input tokens per minute"
  LimitNumber Limits::*member;
  std::uint64_t max;
  std::optional<LimitKind> kind;  ///< nothing for the two settings at the end
};
std::span<const LimitField> limit_fields();

/// The row of `kind`.
const LimitField& limit_field(LimitKind kind);
/// The row with that name; null: there is none.
const LimitField* find_limit(std::string_view name);

/// Each number against its maximum. `path` is where the limits stand, such as `limits.key`. Errors:
/// kInvalidRequest with `path.name` as field.
Result<void> check_limits(const Limits& limits, std::string_view path);

/// `limits` where it says something, `defaults` elsewhere.
Limits limits_or(const Limits& limits, const Limits& defaults);

/// Tokens a minute out of a limit in requests, such as "10000/minute" (second, minute, hour or
/// day; short forms s, m, min, h, d), when a request has `tokens_per_request` of them on average.
/// With the default 210, 10,000 requests a minute are 2.1 million tokens a minute. Rounded down,
/// but never to 0 unless the rate is 0. Errors: kInvalidRequest with `path` as field.
struct RequestRate {
  std::string_view text;
  std::uint64_t tokens_per_request = 210;
  std::string_view path = "rate_limit";
};
Result<std::uint64_t> tokens_per_minute_of(const RequestRate& rate);

}  // namespace zerohop
