// One key or tenant under its limits: buckets, budgets and the count of its requests in the system.
//
// An account is made for one value of Limits and never changes it. When limits change, a new
// account takes the old one's place and goes on with what that had counted: budgets and the number
// of running requests are shared, buckets too where their rate is the same, and a new bucket begins
// without what the old one had given out. So a running request settles with the account that it
// entered, and nothing that the limits are compared with is read under a lock.
//
// Every operation is all or nothing over the limits of this account. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "admission/budget.h"
#include "admission/gcra.h"
#include "admission/limit_refusal.h"
#include "admission/limits.h"
#include "admission/price_table.h"
#include "core/tenant.h"

namespace zerohop {

inline constexpr std::size_t kLimitRates = 4;
inline constexpr std::size_t kLimitBudgets = 4;

/// Both clocks, read once for all checks of a stage.
struct LimitMoment {
  TimePoint now{};
  WallTime wall{};
  CalendarTime calendar{};
};
LimitMoment limit_moment(const Clock& clock);

/// Of a budget; nothing: that kind is none.
std::optional<BudgetPeriod> budget_period(LimitKind kind);

/// What a request asks for at the most; `tokens.output` is the longest answer.
struct TokenClaim {
  BilledTokens tokens;
  Prices prices;
};

/// What a request holds of one account.
struct LimitHold {
  bool entered = false;                             ///< counted in requests at once
  std::array<std::uint64_t, kLimitRates> rates{};   ///< taken, by LimitKind
  std::array<BudgetHold, kLimitBudgets> budgets{};  ///< by LimitKind, from kTokensPerDay
};

/// Of one rate or budget, for headers.
struct LimitStatus {
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  Duration reset_after{};  ///< until all of it is there again
};

struct LimitIdentity {
  LimitOwner owner = LimitOwner::kKey;
  std::string id;         ///< never used again for another one
  std::string name = {};  ///< what people call it; empty: its id
  TenantId tenant = {};   ///< the tenant itself, or whose key it is

  const std::string& shown() const { return name.empty() ? id : name; }
};

class LimitAccount {
 public:
  LimitAccount(LimitIdentity identity, const Limits& limits, TimePoint now);
  /// In the place of `before`, which is the same owner's.
  LimitAccount(const LimitAccount& before, const Limits& limits, TimePoint now);
  LimitAccount(const LimitAccount&) = delete;
  LimitAccount& operator=(const LimitAccount&) = delete;

  const LimitIdentity& identity() const { return identity_; }
  const Limits& limits() const { return limits_; }

  /// First stage, at the head: a request a minute and one at once.
  std::optional<LimitRefusal> enter(LimitHold& hold, const LimitMoment& moment);

  /// Second stage, when the tokens are known: caps, rates and budgets.
  std::optional<LimitRefusal> claim(LimitHold& hold, const TokenClaim& claim,
                                    const LimitMoment& moment);

  /// The longest answer that claim() would admit now, and the limit that says so. Nothing: as long
  /// as one likes, or this account's owner does not want its answers shortened.
  struct OutputRoom {
    std::uint64_t tokens = 0;
    LimitKind kind = LimitKind::kMaxOutputTokens;
  };
  std::optional<OutputRoom> output_room(const TokenClaim& claim, const LimitMoment& moment) const;

  /// Counts what has been used so far as spent, for the journal.
  void spend(LimitHold& hold, const TokenClaim& so_far);

  /// Ends a request, of which exactly `used` was used; the request itself stays counted.
  void settle(LimitHold& hold, const TokenClaim& used, const LimitMoment& moment);

  /// Undoes claim(), or both stages.
  void release_tokens(LimitHold& hold);
  void release(LimitHold& hold);

  // What there is, for headers and journals
  std::optional<LimitStatus> rate_status(LimitKind kind, TimePoint now) const;
  std::optional<LimitStatus> budget_status(LimitKind kind, const LimitMoment& moment) const;
  /// In the order of LimitKind, from kTokensPerDay; null where there is no limit.
  const std::array<std::shared_ptr<Budget>, kLimitBudgets>& budgets() const { return budgets_; }
  std::uint64_t running() const { return running_->load(std::memory_order_relaxed); }

 private:
  std::uint64_t amount(LimitKind kind, const TokenClaim& claim) const;
  std::uint64_t weighted_input(const BilledTokens& tokens) const;
  std::optional<LimitRefusal> check_caps(const TokenClaim& claim) const;
  std::optional<LimitRefusal> take_rates(LimitHold& hold, const TokenClaim& claim,
                                         const LimitMoment& moment);
  std::optional<LimitRefusal> reserve_budgets(LimitHold& hold, const TokenClaim& claim,
                                              const LimitMoment& moment);
  LimitRefusal refusal(LimitKind kind, std::uint64_t asked, const LimitMoment& moment) const;
  std::uint64_t budget_limit(std::size_t index) const;
  void leave(LimitHold& hold);

  const LimitIdentity identity_;
  const Limits limits_;
  // Shared with the account before and behind this one
  std::array<std::shared_ptr<Gcra>, kLimitRates> rates_;
  std::array<std::shared_ptr<Budget>, kLimitBudgets> budgets_;
  std::shared_ptr<std::atomic<std::uint64_t>> running_;
};

}  // namespace zerohop
