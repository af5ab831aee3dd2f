#include "app/model_names.h"

#include "app/config_error.h"

namespace zerohop {

// Greedy with one step back: linear for one star, at worst the product of both lengths.
bool matches_pattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::string> resolve_model_name(const ModelConfig& config, std::string_view tier,
                                       std::string_view requested) {
  if (requested.empty() || requested == tier) return std::string(tier);
  for (const auto& [pattern, target] : config.aliases) {
    if (matches_pattern(pattern, requested)) return std::string(requested);
  }
  if (config.unknown_name == UnknownModelPolicy::kDefault) return std::string(tier);
  return Error{
      ErrorCode::kNotFound, "no model is named '" + std::string(requested) + "'", "model", {}};
}

Result<void> check_alias_targets(const ModelConfig& config, std::string_view tier) {
  for (const auto& [pattern, target] : config.aliases) {
    if (target == tier) continue;
    return configuration_error("model.aliases: '" + pattern + "' maps to '" + target +
                               "', but the model that runs is '" + std::string(tier) + "'");
  }
  return {};
}

std::vector<std::string> listed_model_names(const ModelConfig& config, std::string_view tier) {
  std::vector<std::string> names{std::string(tier)};
  for (const auto& [pattern, target] : config.aliases) {
    if (pattern.find('*') == std::string::npos && pattern != tier) names.push_back(pattern);
  }
  return names;
}

}  // namespace zerohop
