#include "admission/price_table.h"

#include <algorithm>
#include <limits>

#include "admission/limits.h"

namespace zerohop {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPerMillion = 1'000'000;

// Counts and prices below these sum up in 64 bits: 3 · 2^22 · 2^40 < 2^64.
constexpr std::uint64_t kSmallCount = std::uint64_t{1} << 22;
static_assert(kPriceMax <= std::uint64_t{1} << 40);

// In micros times a million.
Wide exact_cost(const BilledTokens& tokens, const Prices& prices) {
  return Wide(tokens.uncached_input) * prices.input +
         Wide(tokens.cached_input) * prices.cached_input + Wide(tokens.output) * prices.output;
}

}  // namespace

Prices batch_prices(const Prices& prices) {
  const auto share = [&prices](std::uint64_t price) {
    return (price * prices.batch_permille + kBatchPermilleMax - 1) / kBatchPermilleMax;
  };
  return Prices{share(prices.input), share(prices.cached_input), share(prices.output)};
}

std::uint64_t cost_micros(const BilledTokens& tokens, const Prices& prices) {
  if ((tokens.uncached_input | tokens.cached_input | tokens.output) < kSmallCount) {
    // The usual case: a division of 128 bits takes ten times as long.
    const std::uint64_t exact = tokens.uncached_input * prices.input +
                                tokens.cached_input * prices.cached_input +
                                tokens.output * prices.output;
    return std::min(kBudgetMax, (exact + kPerMillion - 1) / kPerMillion);
  }
  const Wide rounded = (exact_cost(tokens, prices) + kPerMillion - 1) / kPerMillion;
  return static_cast<std::uint64_t>(std::min(Wide(kBudgetMax), rounded));
}

std::uint64_t affordable_output(const BilledTokens& tokens, const Prices& prices,
                                std::uint64_t micros) {
  const Wide input = exact_cost({tokens.uncached_input, tokens.cached_input, 0}, prices);
  const Wide allowed = Wide(micros) * kPerMillion;
  if (input > allowed) return 0;
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  if (prices.output == 0) return kAll;
  return static_cast<std::uint64_t>(std::min(Wide(kAll), (allowed - input) / prices.output));
}

Result<void> PriceTable::set(std::string model, const Prices& prices, std::string_view path) {
  const std::uint64_t highest = std::max({prices.input, prices.cached_input, prices.output});
  if (highest > kPriceMax) {
    return invalid_request(std::string(path), "a price is at most " + std::to_string(kPriceMax) +
                                                  " micros for a million tokens, not " +
                                                  std::to_string(highest));
  }
  if (prices.batch_permille > kBatchPermilleMax) {
    return invalid_request(std::string(path), "batches pay at most " +
                                                  std::to_string(kBatchPermilleMax) +
                                                  " thousandths of a price, not " +
                                                  std::to_string(prices.batch_permille));
  }
  rows_.insert_or_assign(std::move(model), prices);
  return {};
}

Prices PriceTable::of(std::string_view model) const {
  const auto row = rows_.find(model);
  if (row != rows_.end()) return row->second;
  const auto rest = rows_.find("*");
  return rest == rows_.end() ? Prices{} : rest->second;
}

}  // namespace zerohop
