// Values as the columns of a table hold them: times in milliseconds since 1970, and numbers without
// a sign. Pure; any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "store/database.h"

namespace zerohop {

/// Nothing here counts beyond 2^63.
inline std::int64_t number_column(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
/// What is below zero, which only others can have written, counts as 0.
inline std::uint64_t number_at(const Statement& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

/// Rounded down.
inline std::int64_t ms_column(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
inline std::optional<std::int64_t> ms_column(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return ms_column(*time);
}

/// Times that a WallTime cannot hold, which only others can have written, become the nearest one
/// that it can.
inline WallTime time_from_ms(std::int64_t ms) {
  constexpr auto kFirst = std::chrono::ceil<std::chrono::milliseconds>(WallTime::min());
  constexpr auto kLast = std::chrono::floor<std::chrono::milliseconds>(WallTime::max());
  return WallTime(std::chrono::milliseconds(
      std::clamp(ms, kFirst.time_since_epoch().count(), kLast.time_since_epoch().count())));
}
inline WallTime time_at(const Statement& row, int column) {
  return time_from_ms(row.integer(column));
}
/// Nothing for NULL.
inline std::optional<WallTime> time_or_null_at(const Statement& row, int column) {
  const std::optional<std::int64_t> ms = row.integer_or_null(column);
  if (!ms) return std::nullopt;
  return time_from_ms(*ms);
}

}  // namespace zerohop
