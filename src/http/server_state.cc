#include "http/server_state.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

namespace zerohop {

std::string_view DateCache::text(WallTime now) {
  const std::int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (second == second_) return text_;
  // strftime would follow the locale; the wire knows only these names.
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t time = second;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday],
                parts.tm_mday, kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour,
                parts.tm_min, parts.tm_sec);
  second_ = second;
  text_ = buffer;
  return text_;
}

void ServerState::check_all_ended() {
  if (!draining || accept_loops > 0 || !connections.empty() || !on_all_ended) return;
  const std::function<void()> callback = std::exchange(on_all_ended, nullptr);
  callback();
}

}  // namespace zerohop
