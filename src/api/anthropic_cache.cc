#include "api/anthropic_cache.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/limits.h"

namespace zerohop {
namespace {

constexpr std::chrono::minutes kLifetime{5};
constexpr std::chrono::hours kLongLifetime{1};

Result<void> check_strictly(const JsonPlace& mark) {
  ZH_ASSIGN_OR_RETURN(const JsonPlace type, mark.require("type"));
  ZH_ASSIGN_OR_RETURN(const std::string_view name, type.string());
  if (name != "ephemeral") return type.expected("\"ephemeral\"");
  const auto ttl = mark.find("ttl");
  if (!ttl) return {};
  ZH_ASSIGN_OR_RETURN(const std::string_view time, ttl->string());
  if (time != "5m" && time != "1h") return ttl->expected("\"5m\" or \"1h\"");
  return {};
}

}  // namespace

Result<std::optional<std::chrono::seconds>> cache_mark_of(const JsonPlace& place,
                                                          const ParseOptions& options) {
  using Lifetime = std::optional<std::chrono::seconds>;
  const auto mark = place.find("cache_control");
  if (!mark) return Lifetime();
  ZH_RETURN_IF_ERROR(mark->expect_object());
  if (options.strict()) ZH_RETURN_IF_ERROR(check_strictly(*mark));
  const auto ttl = mark->find("ttl");
  if (!ttl) return Lifetime(kLifetime);
  ZH_ASSIGN_OR_RETURN(const std::string_view time, ttl->string());
  return Lifetime(time == "1h" ? kLongLifetime : kLifetime);
}

Result<void> CacheMarks::take(const JsonPlace& place) {
  ZH_ASSIGN_OR_RETURN(const auto lifetime, cache_mark_of(place, options_));
  if (!lifetime) return {};
  ++count_;
  if (options_.strict() && count_ > limits::kCacheMarksMax) {
    const auto mark = place.find("cache_control");
    return mark->error("a request may have at most " + std::to_string(limits::kCacheMarksMax) +
                       " blocks with cache_control");
  }
  if (!end_) return {};
  const std::chrono::seconds longest = last_ ? std::max(last_->lifetime, *lifetime) : *lifetime;
  last_ = end_;
  last_->lifetime = longest;
  return {};
}

void CacheMarks::reorder(std::size_t message, std::span<const std::size_t> places) {
  if (!last_ || last_->place != CacheMark::Place::kMessage || last_->message != message) return;
  if (last_->block < places.size()) last_->block = places[last_->block];
}

}  // namespace zerohop
