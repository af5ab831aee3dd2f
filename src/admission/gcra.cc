#include "admission/gcra.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "admission/limits.h"

namespace zerohop {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kMinute = 60'000'000'000;  // ns
constexpr int kCapacityBits = 40;
static_assert(kRateMax <= std::uint64_t{1} << kCapacityBits);

// The rate is at most 2^40 / 6e10 = 18.3 units per ns, so it has room for 58 bits behind the point.
constexpr int kRateBits = 58;

// What one call moves TAT by at most: 2^20 minutes, two years. A reservation of more is refused
// because no bucket holds it; a charge of more means that as well as anything.
constexpr std::int64_t kMoveMax = std::int64_t{1} << 60;
// Beyond it TAT is held, so that charges cannot add up to an overflow.
constexpr std::int64_t kFullAtMax = std::numeric_limits<std::int64_t>::max() - kMoveMax;
// Where the clock stops: 12 years or more behind the epoch.
constexpr std::int64_t kClockMax = kFullAtMax - kMoveMax;

constexpr std::int64_t kWaitMax = std::numeric_limits<std::int64_t>::max() / 2;  // ns, 146 years

std::uint64_t clamped(std::uint64_t per_minute) { return std::min(per_minute, kRateMax); }

int shift_for(std::uint64_t per_minute) {
  return per_minute == 0 ? 0 : kCapacityBits - static_cast<int>(std::bit_width(per_minute));
}

// Rounded up, so that a whole second is seen as a whole second: for nine years that is less than a
// unit too much in all.
std::uint64_t rate_for(std::int64_t capacity) {
  return static_cast<std::uint64_t>(((Wide(capacity) << kRateBits) + kMinute - 1) / kMinute);
}

}  // namespace

Gcra::Gcra(std::uint64_t per_minute, TimePoint now)
    : per_minute_(clamped(per_minute)),
      epoch_(now),
      shift_(shift_for(per_minute_)),
      capacity_(static_cast<std::int64_t>(per_minute_ << shift_)),
      rate_(rate_for(capacity_)) {}

std::int64_t Gcra::units_at(TimePoint now) const {
  if (now <= epoch_) return 0;
  // Unsigned, because the two may be further apart than a Duration can say.
  const std::uint64_t elapsed = static_cast<std::uint64_t>(now.time_since_epoch().count()) -
                                static_cast<std::uint64_t>(epoch_.time_since_epoch().count());
  const Wide units = (Wide(elapsed) * rate_) >> kRateBits;
  return static_cast<std::int64_t>(std::min(units, Wide(kClockMax)));
}

std::int64_t Gcra::units_of(std::uint64_t tokens) const {
  if (tokens > static_cast<std::uint64_t>(kMoveMax) >> shift_) return kMoveMax;
  return static_cast<std::int64_t>(tokens << shift_);
}

std::int64_t Gcra::behind(TimePoint now) const {
  return std::max<std::int64_t>(0, full_at_.load(std::memory_order_relaxed) - units_at(now));
}

bool Gcra::try_take(std::uint64_t tokens, TimePoint now) {
  if (tokens == 0) return true;
  if (tokens > per_minute_) return false;
  const std::int64_t cost = units_of(tokens);
  const std::int64_t at = units_at(now);
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do {
    next = std::max(full_at, at) + cost;
    if (next - at > capacity_) return false;
  } while (!full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed));
  return true;
}

void Gcra::charge(std::uint64_t tokens, TimePoint now) {
  if (tokens == 0 || per_minute_ == 0) return;
  const std::int64_t cost = units_of(tokens);
  const std::int64_t at = units_at(now);
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do {
    next = std::min(std::max(full_at, at) + cost, kFullAtMax);
  } while (!full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed));
}

void Gcra::give_back(std::uint64_t tokens) {
  full_at_.fetch_sub(units_of(tokens), std::memory_order_relaxed);
}

std::uint64_t Gcra::remaining(TimePoint now) const {
  const std::int64_t missing = behind(now);
  if (missing >= capacity_) return 0;
  return static_cast<std::uint64_t>(capacity_ - missing) >> shift_;
}

Duration Gcra::wait_for(std::uint64_t tokens, TimePoint now) const {
  if (tokens == 0) return Duration::zero();
  if (tokens > per_minute_) return Duration::max();
  const std::int64_t short_of = behind(now) + units_of(tokens) - capacity_;
  if (short_of <= 0) return Duration::zero();
  const Wide exact = (Wide(short_of) * kMinute + Wide(capacity_) - 1) / Wide(capacity_);
  Duration wait(static_cast<std::int64_t>(std::min(exact, Wide(kWaitMax))));
  // The clock's rounding to units may cost a nanosecond more, at both ends.
  const std::int64_t needed = units_at(now) + short_of;
  for (int i = 0; i < 2 && now < TimePoint::max() - wait && units_at(now + wait) < needed; ++i) {
    ++wait;
  }
  return wait;
}

}  // namespace zerohop
