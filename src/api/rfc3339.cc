#include "api/rfc3339.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace zerohop {

std::string rfc3339(std::int64_t unix_seconds) {
  constexpr std::int64_t kLast = 253'402'300'799;  // 9999-12-31T23:59:59Z
  const std::chrono::sys_seconds time{
      std::chrono::seconds{std::clamp<std::int64_t>(unix_seconds, 0, kLast)}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text;
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace zerohop
