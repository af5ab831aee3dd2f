// Router: which handler answers a method on a path.
//
// A pattern is a path of literal segments and captures:
//
//   /v1/models/{id}      one segment, percent-decoded
//   /v1/models/{id...}   the rest of the path, one segment or more, slashes kept
//
// The most specific pattern wins (a literal before a capture before a rest, segment by segment from
// the left), whatever the order of add(). HEAD falls back to GET. Filled before the server starts,
// then only read; I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/awaitable.h"

namespace zerohop {

class Exchange;

/// Answers one request; runs as part of the session's coroutine on the I/O thread. A handler that
/// returns without an answer, or throws, becomes a 500 (or a stream that is cut off).
using Handler = std::function<Awaitable<void>(Exchange&)>;

/// Captured segments of one path. Values are decoded and may be any bytes.
class PathParameters {
 public:
  /// The pattern has a capture of that name; anything else is a bug and crashes.
  const std::string& get(std::string_view name) const;
  void add(std::string name, std::string value);
  bool empty() const { return values_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

enum class RouteOutcome : std::uint8_t {
  kFound,
  kOptions,  ///< an OPTIONS request that no handler claims; `allow` is set
  kUnknownPath,
  kWrongMethod,  ///< the path exists; `allow` is set
  kBadPath,      ///< a percent escape is malformed
};

struct RouteMatch {
  RouteOutcome outcome = RouteOutcome::kUnknownPath;
  const Handler* handler = nullptr;  ///< set when found; lives as long as the router
  std::string_view pattern;          ///< set when found; one of few values, fit for a metric label
  PathParameters parameters;
  std::string allow;  ///< methods of the path, for the `allow` field: `GET, HEAD, OPTIONS`
};

class Router {
 public:
  /// `pattern` begins with `/` and is normalised; the same method and pattern twice is a bug.
  void add(std::string_view method, std::string_view pattern, Handler handler);

  /// `path` is a RequestHead::path, or `*`.
  RouteMatch match(std::string_view method, std::string_view path) const;

 private:
  struct Segment {
    enum class Kind : std::uint8_t { kLiteral, kCapture, kRest };
    Kind kind;
    std::string text;  // the literal, or the name of the capture
  };
  struct Route {
    std::string pattern;
    std::vector<Segment> segments;
    std::vector<std::pair<std::string, Handler>> methods;
  };

  static std::vector<Segment> parse_pattern(std::string_view pattern);
  static bool more_specific(const Route& left, const Route& right);
  static bool capture(const Route& route, const std::vector<std::string>& segments,
                      PathParameters& parameters);
  static const Handler* handler_of(const Route& route, std::string_view method);

  std::vector<Route> routes_;  // most specific first
};

}  // namespace zerohop
