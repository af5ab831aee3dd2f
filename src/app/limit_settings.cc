#include "app/limit_settings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/whole_number.h"

namespace zerohop {
namespace {

Error wrong(std::string path, std::string message) {
  return Error{ErrorCode::kConfiguration, std::move(message), std::move(path), {}};
}

Error unknown_limit(const std::string& path, const std::string& name) {
  std::string known;
  for (const LimitField& field : limit_fields()) {
    known.append(known.empty() ? "" : ", ").append(field.name);
  }
  return wrong(path, "'" + name + "' is no limit; there are " + known);
}

Result<Limits> read_limits(const std::map<std::string, std::string>& entries,
                           const std::string& path) {
  Limits limits;
  for (const auto& [name, text] : entries) {
    const LimitField* const field = find_limit(name);
    if (field == nullptr) return unknown_limit(path, name);
    const std::optional<std::uint64_t> number = whole_number<std::uint64_t>(text);
    if (!number || *number > field->max) {
      return wrong(path + "." + name,
                   "'" + text + "' must be a whole number from 0 to " + std::to_string(field->max));
    }
    limits.*field->member = *number;
  }
  return limits;
}

// "input=250000 cached_input=25000 output=1250000 batch_permille=500"; what is left out is free,
// and batches pay as much as others.
Result<Prices> read_prices(std::string_view text, const std::string& path) {
  Prices prices;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t split = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, split);
    const std::optional<std::uint64_t> price =
        whole_number<std::uint64_t>(word.substr(std::min(split + 1, word.size())));
    std::uint64_t* const member = name == "input"            ? &prices.input
                                  : name == "cached_input"   ? &prices.cached_input
                                  : name == "output"         ? &prices.output
                                  : name == "batch_permille" ? &prices.batch_permille
                                                             : nullptr;
    if (member == nullptr || !price) {
      return wrong(path, "'" + std::string(word) +
                             "' is none of input=N, cached_input=N, output=N (millionths of the "
                             "currency for a million tokens), batch_permille=N (thousandths of it "
                             "that message batches pay)");
    }
    *member = *price;
  }
  return prices;
}

}  // namespace

Result<LimitSettings> LimitSettings::from_config(const LimitsConfig& config) {
  LimitSettings settings;
  ZH_ASSIGN_OR_RETURN(settings.key_defaults,
                      read_limits(config.key_defaults, "limits.key_defaults"));
  ZH_ASSIGN_OR_RETURN(settings.tenant_defaults,
                      read_limits(config.tenant_defaults, "limits.tenant_defaults"));
  if (!config.rate_limit.empty() && !settings.key_defaults.total_tokens_per_minute) {
    const Result<std::uint64_t> tokens =
        tokens_per_minute_of({config.rate_limit, config.tokens_per_request, "limits.rate_limit"});
    if (!tokens.ok()) return wrong(tokens.error().field, tokens.error().message);
    settings.key_defaults.total_tokens_per_minute = *tokens;
  }
  for (const auto& [model, text] : config.prices) {
    const std::string path = "limits.prices." + model;
    ZH_ASSIGN_OR_RETURN(const Prices prices, read_prices(text, path));
    const Result<void> set = settings.prices.set(model, prices, path);
    if (!set.ok()) return wrong(path, set.error().message);
  }
  return settings;
}

}  // namespace zerohop
