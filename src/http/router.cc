#include "http/router.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/check.h"
#include "http/url.h"

namespace zerohop {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

void add_unique(std::vector<std::string_view>& methods, std::string_view method) {
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    methods.push_back(method);
  }
}

std::string allow_value(std::vector<std::string_view> methods) {
  const bool has_get = std::find(methods.begin(), methods.end(), "GET") != methods.end();
  if (has_get) add_unique(methods, "HEAD");
  add_unique(methods, "OPTIONS");
  std::sort(methods.begin(), methods.end());
  std::string value;
  for (const std::string_view method : methods) {
    if (!value.empty()) value.append(", ");
    value.append(method);
  }
  return value;
}

}  // namespace

const std::string& PathParameters::get(std::string_view name) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  ZH_CHECK(found != values_.end());
  return found->second;
}

void PathParameters::add(std::string name, std::string value) {
  values_.emplace_back(std::move(name), std::move(value));
}

std::vector<Router::Segment> Router::parse_pattern(std::string_view pattern) {
  std::vector<Segment> segments;
  for (std::string_view text : split_path(pattern)) {
    ZH_CHECK(segments.empty() || segments.back().kind != Segment::Kind::kRest);
    if (text.front() != '{') {
      segments.push_back(Segment{Segment::Kind::kLiteral, std::string(text)});
      continue;
    }
    ZH_CHECK(text.size() > 2 && text.back() == '}');
    text = text.substr(1, text.size() - 2);
    const bool rest = text.ends_with("...");
    if (rest) text.remove_suffix(3);
    ZH_CHECK(!text.empty());
    segments.push_back(
        Segment{rest ? Segment::Kind::kRest : Segment::Kind::kCapture, std::string(text)});
  }
  return segments;
}

bool Router::more_specific(const Route& left, const Route& right) {
  return std::lexicographical_compare(
      left.segments.begin(), left.segments.end(), right.segments.begin(), right.segments.end(),
      [](const Segment& a, const Segment& b) { return a.kind < b.kind; });
}

void Router::add(std::string_view method, std::string_view pattern, Handler handler) {
  ZH_CHECK(handler != nullptr);
  ZH_CHECK(!pattern.empty() && pattern.front() == '/' && normalise_path(pattern) == pattern);
  const auto same = std::find_if(routes_.begin(), routes_.end(), [pattern](const Route& route) {
    return route.pattern == pattern;
  });
  if (same != routes_.end()) {
    ZH_CHECK(handler_of(*same, method) == nullptr);
    same->methods.emplace_back(method, std::move(handler));
    return;
  }
  Route route{std::string(pattern), parse_pattern(pattern), {}};
  route.methods.emplace_back(method, std::move(handler));
  const auto place = std::upper_bound(routes_.begin(), routes_.end(), route, more_specific);
  routes_.insert(place, std::move(route));
}

const Handler* Router::handler_of(const Route& route, std::string_view method) {
  for (const auto& [name, handler] : route.methods) {
    if (name == method) return &handler;
  }
  return nullptr;
}

bool Router::capture(const Route& route, const std::vector<std::string>& segments,
                     PathParameters& parameters) {
  const bool rest = !route.segments.empty() && route.segments.back().kind == Segment::Kind::kRest;
  if (rest ? segments.size() < route.segments.size() : segments.size() != route.segments.size()) {
    return false;
  }
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    const Segment& wanted = route.segments[i];
    if (wanted.kind == Segment::Kind::kLiteral && wanted.text != segments[i]) return false;
  }
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    const Segment& wanted = route.segments[i];
    if (wanted.kind == Segment::Kind::kLiteral) continue;
    std::string value = segments[i];
    if (wanted.kind == Segment::Kind::kRest) {
      for (std::size_t k = i + 1; k < segments.size(); ++k) value.append("/").append(segments[k]);
    }
    parameters.add(wanted.text, std::move(value));
  }
  return true;
}

RouteMatch Router::match(std::string_view method, std::string_view path) const {
  RouteMatch result;
  if (path == "*") {
    if (method == "OPTIONS") {
      result.outcome = RouteOutcome::kOptions;
      result.allow = "GET, HEAD, OPTIONS, POST";
    }
    return result;
  }
  std::vector<std::string> segments;
  for (const std::string_view raw : split_path(path)) {
    std::optional<std::string> decoded = percent_decode(raw, BadEscapes::kRefuse);
    if (!decoded) {
      result.outcome = RouteOutcome::kBadPath;
      return result;
    }
    segments.push_back(*std::move(decoded));
  }
  std::vector<std::string_view> methods;
  for (const Route& route : routes_) {
    PathParameters parameters;
    if (!capture(route, segments, parameters)) continue;
    const Handler* handler = handler_of(route, method);
    if (handler == nullptr && method == "HEAD") handler = handler_of(route, "GET");
    if (handler != nullptr) {
      result.outcome = RouteOutcome::kFound;
      result.handler = handler;
      result.pattern = route.pattern;
      result.parameters = std::move(parameters);
      return result;
    }
    for (const auto& entry : route.methods) add_unique(methods, entry.first);
  }
  if (methods.empty()) return result;
  result.outcome = method == "OPTIONS" ? RouteOutcome::kOptions : RouteOutcome::kWrongMethod;
  result.allow = allow_value(std::move(methods));
  return result;
}

}  // namespace zerohop
