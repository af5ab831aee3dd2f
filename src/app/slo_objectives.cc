#include "app/slo_objectives.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <chrono>
#include <span>
#include <utility>

#include "app/config_error.h"
#include "app/json_text.h"
#include "app/suggest.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// In the order of SloIndicator.
constexpr std::array<std::string_view, 4> kIndicators{"availability", "ttft", "itl", "total"};
constexpr std::array<std::string_view, kPriorityClasses> kClasses{"priority", "standard", "batch"};
constexpr std::array<std::string_view, 5> kMembers{"indicator", "threshold_ms", "target", "tier",
                                                   "class"};
// Nothing sensible takes longer than a day.
constexpr double kThresholdMsMax = 86'400'000;
constexpr std::size_t kNameBytesMax = 64;

Error wrong(const std::string& name, const std::string& what) {
  return configuration_error("slo.objectives: '" + name + "': " + what);
}

// As people write it: not 9.99E1.
std::string shown(const json::value& value) {
  if (value.is_string()) return "'" + std::string(value.get_string()) + "'";
  if (!value.is_double()) return json::serialize(value);
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value.get_double());
  return {buffer, end.ptr};
}

std::string list_of(std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list.append(i + 1 == words.size() ? " or " : ", ");
    list.append(words[i]);
  }
  return list;
}

// One objective, member by member.
class Reader {
 public:
  Reader(const std::string& name, const json::object& members) : name_(name), members_(members) {}

  Result<SloObjective> read() const {
    for (const auto& member : members_) {
      const std::string_view key(member.key().data(), member.key().size());
      if (std::ranges::find(kMembers, key) != kMembers.end()) continue;
      return wrong(name_,
                   "unknown member '" + std::string(key) + "'" + did_you_mean(key, kMembers));
    }
    SloObjective objective;
    objective.name = name_;
    ZH_ASSIGN_OR_RETURN(const auto indicator, word("indicator", kIndicators));
    if (!indicator) return wrong(name_, "indicator is missing: " + list_of(kIndicators));
    objective.indicator = static_cast<SloIndicator>(*indicator);
    ZH_ASSIGN_OR_RETURN(objective.target, target());
    ZH_ASSIGN_OR_RETURN(objective.threshold, threshold(objective.indicator));
    ZH_ASSIGN_OR_RETURN(const auto priority, word("class", kClasses));
    if (priority) objective.priority = static_cast<PriorityClass>(*priority);
    ZH_ASSIGN_OR_RETURN(objective.tier, tier());
    return objective;
  }

 private:
  const json::value* find(std::string_view key) const { return members_.if_contains(key); }

  // Its place among `words`; nothing when it is not there.
  Result<std::optional<std::size_t>> word(std::string_view key,
                                          std::span<const std::string_view> words) const {
    using Place = std::optional<std::size_t>;
    const json::value* value = find(key);
    if (value == nullptr) return Place();
    const std::string_view text = text_at(members_, key);
    const auto found = std::ranges::find(words, text);
    if (value->is_string() && found != words.end()) return Place(found - words.begin());
    return wrong(name_, std::string(key) + ": " + shown(*value) + " is not " + list_of(words) +
                            did_you_mean(text, words));
  }

  Result<double> target() const {
    const json::value* value = find("target");
    const std::string range = "a share above 0 and below 1, such as 0.99";
    if (value == nullptr) return wrong(name_, "target is missing: " + range);
    const double share = value->is_number() ? value->to_number<double>() : 0;
    if (share > 0 && share < 1) return share;
    return wrong(name_, "target: " + shown(*value) + " is not " + range);
  }

  Result<Duration> threshold(SloIndicator indicator) const {
    const json::value* value = find("threshold_ms");
    const bool timed = indicator != SloIndicator::kAvailability;
    if (!timed && value != nullptr) return wrong(name_, "availability has no threshold_ms");
    if (!timed) return Duration::zero();
    const std::string range = "a number of milliseconds above 0, at most a day";
    if (value == nullptr) return wrong(name_, "threshold_ms is missing: " + range);
    const double number = value->is_number() ? value->to_number<double>() : 0;
    // What is less than the clock can tell would be no time at all.
    const auto time = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::milli>(std::min(number, kThresholdMsMax)));
    if (number <= kThresholdMsMax && time > Duration::zero()) return time;
    return wrong(name_, "threshold_ms: " + shown(*value) + " is not " + range);
  }

  Result<std::string> tier() const {
    const json::value* value = find("tier");
    if (value == nullptr) return std::string();
    if (value->is_string() && !value->get_string().empty()) return std::string(value->get_string());
    return wrong(name_, "tier: " + shown(*value) + " is not the name of a model");
  }

  const std::string& name_;
  const json::object& members_;
};

bool same_events(const SloObjective& a, const SloObjective& b) {
  return a.indicator == b.indicator && a.tier == b.tier && a.priority == b.priority &&
         a.threshold == b.threshold;
}

}  // namespace

std::optional<std::string> objective_name_rule(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto allowed = [plain](char c) { return plain(c) || c == '-'; };
  if (!text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, allowed) &&
      plain(text.front()) && plain(text.back())) {
    return std::nullopt;
  }
  return "must be 1 to 64 small letters and digits, with '-' between them";
}

Result<std::vector<SloObjective>> slo_objectives(const Config& config) {
  std::vector<SloObjective> objectives;
  std::size_t series = 0;
  for (const auto& [name, text] : config.slo.objectives) {
    const std::optional<json::object> members = object_in(text);
    if (!members) return wrong(name, "must be a map");
    ZH_ASSIGN_OR_RETURN(SloObjective objective, Reader(name, *members).read());
    for (const SloObjective& other : objectives) {
      if (!same_events(objective, other)) continue;
      return wrong(name, "measures the same as '" + other.name + "'");
    }
    series += objective.priority ? 1 : kPriorityClasses;
    objectives.push_back(std::move(objective));
  }
  // Beyond them series are counted together, and no alert could tell objectives apart.
  if (series >= config.metrics.series_max) {
    return configuration_error("slo.objectives: they need " + std::to_string(series) +
                               " series, and metrics.series_max (" +
                               std::to_string(config.metrics.series_max) + ") must be larger");
  }
  return objectives;
}

Result<void> check_objective_tiers(const std::vector<SloObjective>& objectives,
                                   std::string_view tier) {
  for (const SloObjective& objective : objectives) {
    if (objective.tier.empty() || objective.tier == tier) continue;
    return wrong(objective.name, "tier: '" + objective.tier +
                                     "' does not run here, but the model that runs is '" +
                                     std::string(tier) + "'");
  }
  return {};
}

std::shared_ptr<const SloMetrics> make_slo_metrics(MetricsRegistry& registry,
                                                   const std::vector<SloObjective>& objectives,
                                                   std::string_view tier) {
  if (objectives.empty()) return nullptr;
  return std::make_shared<const SloMetrics>(registry, objectives, tier);
}

}  // namespace zerohop
