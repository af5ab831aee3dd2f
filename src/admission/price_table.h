// What tokens cost, in whole numbers. A price is in millionths of the currency (micros) for a
// million tokens: 0.25 a million tokens is 250,000.
//
// A request costs the exact sum of its tokens by kind, rounded up once to a whole micro, so that
// ledger, budgets and replies agree to the last digit.
//
// Plain values; a table is filled first and then read by any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

struct Prices {
  std::uint64_t input = 0;  ///< micros for a million tokens that are computed
  std::uint64_t cached_input = 0;
  std::uint64_t output = 0;
  /// What requests of message batches pay of it, in thousandths.
  std::uint64_t batch_permille = 1'000;
  friend bool operator==(const Prices&, const Prices&) = default;
};

/// The prices of a request in a message batch, each rounded up.
Prices batch_prices(const Prices& prices);

/// A million in money for a million tokens.
inline constexpr std::uint64_t kPriceMax = 1'000'000'000'000;
inline constexpr std::uint64_t kBatchPermilleMax = 1'000;

/// Tokens of a request by what they cost.
struct BilledTokens {
  std::uint64_t uncached_input = 0;
  std::uint64_t cached_input = 0;
  std::uint64_t output = 0;

  friend bool operator==(const BilledTokens&, const BilledTokens&) = default;
};

/// In micros, rounded up, and at most kBudgetMax.
std::uint64_t cost_micros(const BilledTokens& tokens, const Prices& prices);

/// The most output tokens behind the input of `tokens` that cost no more than `micros` in all. The
/// largest number when output is free; 0 when even the input costs more.
std::uint64_t affordable_output(const BilledTokens& tokens, const Prices& prices,
                                std::uint64_t micros);

class PriceTable {
 public:
  /// Prices of `model`; "*" stands for every model that has no row. A second row replaces the
  /// first. Errors: kInvalidRequest (a price above kPriceMax, a share above
  /// kBatchPermilleMax) with `path` as field.
  Result<void> set(std::string model, const Prices& prices, std::string_view path);

  /// Of "*" where `model` has no row; all zero where that has none.
  Prices of(std::string_view model) const;

  bool empty() const { return rows_.empty(); }

 private:
  std::map<std::string, Prices, std::less<>> rows_;
};

}  // namespace zerohop
