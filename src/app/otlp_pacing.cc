#include "app/otlp_pacing.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/whole_number.h"

namespace zerohop {
namespace {

// Attempts of many instances shall not come together.
constexpr double kSpread = 0.25;

// `Sun, 06 Nov 1994 08:49:37 GMT`, the form of RFC 9110, section 5.6.7, that is still made.
std::optional<WallTime> date_in(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::size_t kBytes = 29;
  if (text.size() != kBytes || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const auto* const month = std::ranges::find(kMonths, text.substr(8, 3));
  const auto day = whole_number<unsigned>(text.substr(5, 2));
  const auto year = whole_number<unsigned>(text.substr(12, 4));
  const auto hour = whole_number<unsigned>(text.substr(17, 2));
  const auto minute = whole_number<unsigned>(text.substr(20, 2));
  const auto second = whole_number<unsigned>(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  namespace chrono = std::chrono;
  const chrono::year_month_day date(
      chrono::year(static_cast<int>(*year)),
      chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1), chrono::day(*day));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  // In nanoseconds other years do not fit.
  if (*year < 1970 || *year > 2200) return std::nullopt;
  return chrono::sys_days(date) + chrono::hours(*hour) + chrono::minutes(*minute) +
         chrono::seconds(*second);
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view field, WallTime now) {
  if (const auto seconds = whole_number<unsigned>(field)) return std::chrono::seconds(*seconds);
  const std::optional<WallTime> date = date_in(field);
  if (!date) return std::nullopt;
  return std::max(*date - now, Duration::zero());
}

void OtlpPacing::succeeded(TimePoint now) {
  backoff_ = Duration::zero();
  failing_since_.reset();
  due_ = now + options_.interval;
}

void OtlpPacing::failed(TimePoint now, Duration retry_after) {
  if (!failing_since_) failing_since_ = now;
  const Duration doubled = std::min<Duration>(2 * backoff_, kBackoffMax);
  backoff_ = std::max(doubled, options_.backoff_first);
  const Duration spread = from_seconds(to_seconds(backoff_) * (1 + kSpread * random_.uniform()));
  due_ = now + std::max(spread, std::min<Duration>(retry_after, kRetryAfterMax));
}

bool OtlpPacing::tried_enough(TimePoint now) const {
  return failing_since_ && now - *failing_since_ >= kTriedFor;
}

void OtlpPacing::hurry(TimePoint now) {
  if (backoff_ == Duration::zero()) due_ = std::min(due_, now);
}

}  // namespace zerohop
