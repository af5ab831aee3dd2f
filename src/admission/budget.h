// A budget: so many tokens, or so much money, in a calendar day or month (UTC).
//
// It is reserved from before a request is computed and settled with the exact numbers behind it, so
// requests in parallel cannot pass together: the sum of what is used and what is reserved never
// exceeds the limit. What was reserved and not used is there again at once.
//
//   |········ limit ·············································|
//   |  spent (settled, or served so far)  |  reserved  |  free   |
//   |·········· used ··································|
//
// Two numbers are kept. `used` decides; `spent` is what a journal writes down (budget_journal.h),
// because a reservation dies with the process and must not be stuck behind a restart.
//
// Each is one atomic word: 14 bits of period and 50 bits of amount. So a new day begins with the
// first reservation in it, by one compare-and-swap, and a request that began yesterday and returns
// its rest today returns it to yesterday, where nobody needs it.
//
// A wall clock that goes backwards does not open the earlier period again: what is used then counts
// in the later one.
//
// Any thread; no locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace zerohop {

enum class BudgetPeriod : std::uint8_t { kDay, kMonth };

/// Number of a day or month since the beginning of 2020, up to kPeriodMax (the year 2064 for days).
using PeriodNumber = std::uint32_t;
inline constexpr PeriodNumber kPeriodMax = (1u << 14) - 1;

/// Of the wall clock, the periods it is in. Times outside of 2020 to 2064 count as the nearest day
/// inside.
struct CalendarTime {
  PeriodNumber day = 0;
  PeriodNumber month = 0;

  PeriodNumber of(BudgetPeriod period) const { return period == BudgetPeriod::kDay ? day : month; }
};
CalendarTime calendar_at(WallTime now);

/// The first moment of the period behind the one of `now`.
WallTime period_end(BudgetPeriod period, WallTime now);

/// What somebody holds of a budget. A plain value: who has it gives it back (limiter.h).
struct BudgetHold {
  std::uint64_t reserved = 0;  ///< in `used`
  std::uint64_t spent = 0;     ///< of it, in `spent`
  PeriodNumber period = 0;
};

class Budget {
 public:
  explicit Budget(BudgetPeriod period) : period_(period) {}

  BudgetPeriod period() const { return period_; }

  /// Reserves all of `amount`, or nothing when more than `limit` would be used.
  std::optional<BudgetHold> try_reserve(std::uint64_t amount, std::uint64_t limit,
                                        CalendarTime now);

  /// Counts `amount` more of the hold as spent, whether it was reserved or not.
  void spend(BudgetHold& hold, std::uint64_t amount);

  /// Ends a hold, of which exactly `spent` was used.
  void settle(BudgetHold& hold, std::uint64_t spent);

  /// Spent and reserved in the period of `now`.
  std::uint64_t used(CalendarTime now) const { return amount_in(used_, now.of(period_)); }
  std::uint64_t spent(CalendarTime now) const { return amount_in(spent_, now.of(period_)); }
  std::uint64_t remaining(std::uint64_t limit, CalendarTime now) const;

  /// The period in which something was spent last, and how much; for a journal.
  struct Spent {
    PeriodNumber period = 0;
    std::uint64_t amount = 0;
    friend bool operator==(const Spent&, const Spent&) = default;
  };
  Spent spent() const;

  /// What a journal knows from before a restart; before anybody uses the budget. Of an earlier
  /// period: nothing is left of it. Of a later one, when the clock was wrong then or is wrong now:
  /// it counts in the present one, which is the safe side.
  void restore(Spent spent, CalendarTime now);

 private:
  using Word = std::atomic<std::uint64_t>;

  static std::uint64_t amount_in(const Word& word, PeriodNumber period);
  static void add(Word& word, PeriodNumber period, std::uint64_t amount);
  static void subtract(Word& word, PeriodNumber period, std::uint64_t amount);

  const BudgetPeriod period_;
  Word used_{0};
  Word spent_{0};
};

}  // namespace zerohop
