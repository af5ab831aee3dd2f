#include "admission/budget.h"

#include <algorithm>
#include <chrono>

#include "admission/limits.h"

namespace zerohop {
namespace {

using std::chrono::days;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::year_month_day;

constexpr int kAmountBits = 50;
constexpr std::uint64_t kAmountMax = (std::uint64_t{1} << kAmountBits) - 1;
static_assert(kBudgetMax < kAmountMax);

constexpr sys_days kFirstDay{std::chrono::year{2020} / 1 / 1};
constexpr year_month kFirstMonth = std::chrono::year{2020} / 1;

constexpr std::uint64_t word_of(PeriodNumber period, std::uint64_t amount) {
  return std::uint64_t{period} << kAmountBits | std::min(amount, kAmountMax);
}
constexpr PeriodNumber period_of(std::uint64_t word) {
  return static_cast<PeriodNumber>(word >> kAmountBits);
}
constexpr std::uint64_t amount_of(std::uint64_t word) { return word & kAmountMax; }

sys_days day_at(WallTime now) {
  return std::clamp(std::chrono::floor<days>(now), kFirstDay, kFirstDay + days(kPeriodMax));
}

year_month month_of(sys_days day) {
  const year_month_day date(day);
  return date.year() / date.month();
}

}  // namespace

CalendarTime calendar_at(WallTime now) {
  const sys_days day = day_at(now);
  return CalendarTime{static_cast<PeriodNumber>((day - kFirstDay).count()),
                      static_cast<PeriodNumber>((month_of(day) - kFirstMonth).count())};
}

WallTime period_end(BudgetPeriod period, WallTime now) {
  const sys_days day = day_at(now);
  if (period == BudgetPeriod::kDay) return day + days(1);
  return sys_days((month_of(day) + months(1)) / 1);
}

std::uint64_t Budget::amount_in(const Word& word, PeriodNumber period) {
  const std::uint64_t value = word.load(std::memory_order_relaxed);
  return period_of(value) < period ? 0 : amount_of(value);
}

void Budget::add(Word& word, PeriodNumber period, std::uint64_t amount) {
  std::uint64_t value = word.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    if (period_of(value) > period) return;
    const std::uint64_t before = period_of(value) == period ? amount_of(value) : 0;
    next = word_of(period, before + std::min(amount, kAmountMax));
  } while (!word.compare_exchange_weak(value, next, std::memory_order_relaxed));
}

void Budget::subtract(Word& word, PeriodNumber period, std::uint64_t amount) {
  std::uint64_t value = word.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    if (period_of(value) != period) return;
    next = word_of(period, amount_of(value) - std::min(amount, amount_of(value)));
  } while (!word.compare_exchange_weak(value, next, std::memory_order_relaxed));
}

std::optional<BudgetHold> Budget::try_reserve(std::uint64_t amount, std::uint64_t limit,
                                              CalendarTime now) {
  const std::uint64_t allowed = std::min(limit, kBudgetMax);
  std::uint64_t value = used_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  PeriodNumber period = 0;
  do {
    period = std::max(period_of(value), now.of(period_));
    const std::uint64_t used = period_of(value) == period ? amount_of(value) : 0;
    if (used > allowed || amount > allowed - used) return std::nullopt;
    next = word_of(period, used + amount);
  } while (!used_.compare_exchange_weak(value, next, std::memory_order_relaxed));
  return BudgetHold{amount, 0, period};
}

void Budget::spend(BudgetHold& hold, std::uint64_t amount) {
  if (amount == 0) return;
  hold.spent += amount;
  if (hold.spent > hold.reserved) {
    add(used_, hold.period, hold.spent - hold.reserved);
    hold.reserved = hold.spent;
  }
  add(spent_, hold.period, amount);
}

void Budget::settle(BudgetHold& hold, std::uint64_t spent) {
  if (spent > hold.spent) spend(hold, spent - hold.spent);
  if (hold.spent > spent) subtract(spent_, hold.period, hold.spent - spent);
  if (hold.reserved > spent) subtract(used_, hold.period, hold.reserved - spent);
  hold = BudgetHold{0, 0, hold.period};
}

std::uint64_t Budget::remaining(std::uint64_t limit, CalendarTime now) const {
  const std::uint64_t allowed = std::min(limit, kBudgetMax);
  const std::uint64_t in_use = used(now);
  return allowed > in_use ? allowed - in_use : 0;
}

Budget::Spent Budget::spent() const {
  const std::uint64_t value = spent_.load(std::memory_order_relaxed);
  return Spent{period_of(value), amount_of(value)};
}

void Budget::restore(Spent spent, CalendarTime now) {
  const PeriodNumber period = now.of(period_);
  const std::uint64_t word = word_of(period, spent.period < period ? 0 : spent.amount);
  used_.store(word, std::memory_order_relaxed);
  spent_.store(word, std::memory_order_relaxed);
}

}  // namespace zerohop
