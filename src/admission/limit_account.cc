#include "admission/limit_account.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace zerohop {
namespace {

// Nobody knows when one of the running requests ends.
constexpr std::chrono::seconds kParallelRetry{1};

constexpr LimitKind kFirstRate = LimitKind::kRequestsPerMinute;
constexpr LimitKind kFirstBudget = LimitKind::kTokensPerDay;

constexpr LimitKind rate_kind(std::size_t index) {
  return static_cast<LimitKind>(static_cast<std::size_t>(kFirstRate) + index);
}
constexpr LimitKind budget_kind(std::size_t index) {
  return static_cast<LimitKind>(static_cast<std::size_t>(kFirstBudget) + index);
}
constexpr std::size_t budget_index(LimitKind kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(kFirstBudget);
}
static_assert(rate_kind(kLimitRates - 1) == LimitKind::kTotalTokensPerMinute);
static_assert(budget_kind(kLimitBudgets - 1) == LimitKind::kMoneyPerMonth);

bool is_money(LimitKind kind) {
  return kind == LimitKind::kMoneyPerDay || kind == LimitKind::kMoneyPerMonth;
}

std::uint64_t minus(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

}  // namespace

std::optional<BudgetPeriod> budget_period(LimitKind kind) {
  if (kind < kFirstBudget) return std::nullopt;
  const bool day = kind == LimitKind::kTokensPerDay || kind == LimitKind::kMoneyPerDay;
  return day ? BudgetPeriod::kDay : BudgetPeriod::kMonth;
}

LimitMoment limit_moment(const Clock& clock) {
  const WallTime wall = clock.wall();
  return LimitMoment{clock.now(), wall, calendar_at(wall)};
}

LimitAccount::LimitAccount(LimitIdentity identity, const Limits& limits, TimePoint now)
    : identity_(std::move(identity)),
      limits_(limits),
      running_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  for (std::size_t i = 0; i < kLimitRates; ++i) {
    const LimitNumber& rate = limits_.*limit_field(rate_kind(i)).member;
    if (rate) rates_[i] = std::make_shared<Gcra>(*rate, now);
  }
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    const LimitKind kind = budget_kind(i);
    if (limits_.*limit_field(kind).member) {
      budgets_[i] = std::make_shared<Budget>(*budget_period(kind));
    }
  }
}

LimitAccount::LimitAccount(const LimitAccount& before, const Limits& limits, TimePoint now)
    : LimitAccount(before.identity_, limits, now) {
  running_ = before.running_;
  for (std::size_t i = 0; i < kLimitRates; ++i) {
    const std::shared_ptr<Gcra>& old = before.rates_[i];
    if (old == nullptr || rates_[i] == nullptr) continue;
    if (old->per_minute() == rates_[i]->per_minute()) {
      rates_[i] = old;
    } else {
      // Of more than a whole bucket the owner would wait for longer than the new limit's minute.
      const std::uint64_t used = old->per_minute() - old->remaining(now);
      rates_[i]->charge(std::min(used, rates_[i]->per_minute()), now);
    }
  }
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    // A budget without a limit is kept as well: its limit may come back in the same month.
    if (before.budgets_[i] != nullptr) budgets_[i] = before.budgets_[i];
  }
}

// ---- what a request counts ----

std::uint64_t LimitAccount::weighted_input(const BilledTokens& tokens) const {
  const std::uint64_t weight = limits_.cached_input_weight_permille.value_or(0);
  if (weight == 0) return tokens.uncached_input;
  return tokens.uncached_input + (tokens.cached_input * weight + kWeightMax - 1) / kWeightMax;
}

std::uint64_t LimitAccount::amount(LimitKind kind, const TokenClaim& claim) const {
  switch (kind) {
    case LimitKind::kRequestsPerMinute:
    case LimitKind::kParallelRequests: return 1;
    case LimitKind::kInputTokensPerMinute: return weighted_input(claim.tokens);
    case LimitKind::kOutputTokensPerMinute:
    case LimitKind::kMaxOutputTokens: return claim.tokens.output;
    case LimitKind::kMaxInputTokens: return claim.tokens.uncached_input + claim.tokens.cached_input;
    case LimitKind::kTotalTokensPerMinute:
    case LimitKind::kTokensPerDay:
    case LimitKind::kTokensPerMonth: return weighted_input(claim.tokens) + claim.tokens.output;
    case LimitKind::kMoneyPerDay:
    case LimitKind::kMoneyPerMonth: return cost_micros(claim.tokens, claim.prices);
  }
  ZH_CHECK(false);
}

std::uint64_t LimitAccount::budget_limit(std::size_t index) const {
  return (limits_.*limit_field(budget_kind(index)).member).value_or(kBudgetMax);
}

// ---- refusals ----

LimitRefusal LimitAccount::refusal(LimitKind kind, std::uint64_t asked,
                                   const LimitMoment& moment) const {
  LimitRefusal refused{kind, identity_.owner, identity_.shown(), 0, 0, asked, Duration::max()};
  refused.limit = (limits_.*limit_field(kind).member).value_or(kBudgetMax);
  if (kind == LimitKind::kMaxInputTokens || kind == LimitKind::kMaxOutputTokens) {
    refused.remaining = refused.limit;
  } else if (kind == LimitKind::kParallelRequests) {
    refused.remaining = minus(refused.limit, running());
    if (refused.limit > 0) refused.retry_after = kParallelRetry;
  } else if (kind < kFirstBudget) {
    const Gcra& bucket = *rates_[static_cast<std::size_t>(kind)];
    refused.remaining = bucket.remaining(moment.now);
    refused.retry_after = bucket.wait_for(asked, moment.now);
  } else {
    const Budget& budget = *budgets_[budget_index(kind)];
    refused.remaining = budget.remaining(refused.limit, moment.calendar);
    if (asked <= refused.limit) {
      refused.retry_after = period_end(budget.period(), moment.wall) - moment.wall;
    }
  }
  return refused;
}

// ---- stages ----

std::optional<LimitRefusal> LimitAccount::enter(LimitHold& hold, const LimitMoment& moment) {
  const std::uint64_t at_once = limits_.parallel_requests.value_or(kRateMax);
  std::uint64_t before = running_->load(std::memory_order_relaxed);
  do {
    if (before >= at_once) return refusal(LimitKind::kParallelRequests, 1, moment);
  } while (!running_->compare_exchange_weak(before, before + 1, std::memory_order_relaxed));
  hold.entered = true;
  Gcra* const requests = rates_[0].get();
  if (requests == nullptr) return std::nullopt;
  if (!requests->try_take(1, moment.now)) {
    leave(hold);
    return refusal(LimitKind::kRequestsPerMinute, 1, moment);
  }
  hold.rates[0] = 1;
  return std::nullopt;
}

std::optional<LimitRefusal> LimitAccount::claim(LimitHold& hold, const TokenClaim& claim,
                                                const LimitMoment& moment) {
  std::optional<LimitRefusal> refused = check_caps(claim);
  if (!refused) refused = take_rates(hold, claim, moment);
  if (!refused) refused = reserve_budgets(hold, claim, moment);
  if (refused) release_tokens(hold);
  return refused;
}

std::optional<LimitRefusal> LimitAccount::check_caps(const TokenClaim& claim) const {
  for (const LimitKind kind : {LimitKind::kMaxInputTokens, LimitKind::kMaxOutputTokens}) {
    const LimitNumber& cap = limits_.*limit_field(kind).member;
    const std::uint64_t asked = amount(kind, claim);
    if (cap && asked > *cap) return refusal(kind, asked, {});
  }
  return std::nullopt;
}

std::optional<LimitRefusal> LimitAccount::take_rates(LimitHold& hold, const TokenClaim& claim,
                                                     const LimitMoment& moment) {
  for (std::size_t i = 1; i < kLimitRates; ++i) {
    if (rates_[i] == nullptr) continue;
    const std::uint64_t asked = amount(rate_kind(i), claim);
    if (!rates_[i]->try_take(asked, moment.now)) return refusal(rate_kind(i), asked, moment);
    hold.rates[i] = asked;
  }
  return std::nullopt;
}

std::optional<LimitRefusal> LimitAccount::reserve_budgets(LimitHold& hold, const TokenClaim& claim,
                                                          const LimitMoment& moment) {
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    if (budgets_[i] == nullptr) continue;
    const std::uint64_t asked = amount(budget_kind(i), claim);
    const std::optional<BudgetHold> held =
        budgets_[i]->try_reserve(asked, budget_limit(i), moment.calendar);
    if (!held) return refusal(budget_kind(i), asked, moment);
    hold.budgets[i] = *held;
  }
  return std::nullopt;
}

std::optional<LimitAccount::OutputRoom> LimitAccount::output_room(const TokenClaim& claim,
                                                                  const LimitMoment& moment) const {
  if (limits_.lower_output_cap.value_or(0) == 0) return std::nullopt;
  std::optional<OutputRoom> room;
  const auto tighten = [&room](std::uint64_t tokens, LimitKind kind) {
    if (!room || tokens < room->tokens) room = OutputRoom{tokens, kind};
  };
  const std::uint64_t input = weighted_input(claim.tokens);
  if (limits_.max_output_tokens) tighten(*limits_.max_output_tokens, LimitKind::kMaxOutputTokens);
  if (const Gcra* const output = rates_[2].get()) {
    tighten(output->remaining(moment.now), LimitKind::kOutputTokensPerMinute);
  }
  if (const Gcra* const total = rates_[3].get()) {
    tighten(minus(total->remaining(moment.now), input), LimitKind::kTotalTokensPerMinute);
  }
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    if (budgets_[i] == nullptr) continue;
    const std::uint64_t left = budgets_[i]->remaining(budget_limit(i), moment.calendar);
    tighten(is_money(budget_kind(i)) ? affordable_output(claim.tokens, claim.prices, left)
                                     : minus(left, input),
            budget_kind(i));
  }
  return room;
}

// ---- ends ----

void LimitAccount::spend(LimitHold& hold, const TokenClaim& so_far) {
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    if (budgets_[i] == nullptr) continue;
    const std::uint64_t spent = amount(budget_kind(i), so_far);
    budgets_[i]->spend(hold.budgets[i], minus(spent, hold.budgets[i].spent));
  }
}

void LimitAccount::settle(LimitHold& hold, const TokenClaim& used, const LimitMoment& moment) {
  for (std::size_t i = 1; i < kLimitRates; ++i) {
    if (rates_[i] == nullptr) continue;
    const std::uint64_t exact = amount(rate_kind(i), used);
    if (exact > hold.rates[i]) rates_[i]->charge(exact - hold.rates[i], moment.now);
    if (exact < hold.rates[i]) rates_[i]->give_back(hold.rates[i] - exact);
  }
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    if (budgets_[i] == nullptr) continue;
    budgets_[i]->settle(hold.budgets[i], amount(budget_kind(i), used));
  }
  leave(hold);
  hold = LimitHold{};
}

void LimitAccount::release_tokens(LimitHold& hold) {
  for (std::size_t i = 1; i < kLimitRates; ++i) {
    if (rates_[i] == nullptr) continue;
    rates_[i]->give_back(std::exchange(hold.rates[i], 0));
  }
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    if (budgets_[i] != nullptr) budgets_[i]->settle(hold.budgets[i], 0);
  }
}

void LimitAccount::release(LimitHold& hold) {
  release_tokens(hold);
  if (rates_[0] != nullptr) rates_[0]->give_back(hold.rates[0]);
  leave(hold);
  hold = LimitHold{};
}

void LimitAccount::leave(LimitHold& hold) {
  if (!std::exchange(hold.entered, false)) return;
  const std::uint64_t before = running_->fetch_sub(1, std::memory_order_relaxed);
  ZH_CHECK(before > 0);
}

// ---- numbers for headers ----

std::optional<LimitStatus> LimitAccount::rate_status(LimitKind kind, TimePoint now) const {
  const Gcra* const bucket = rates_[static_cast<std::size_t>(kind)].get();
  if (bucket == nullptr) return std::nullopt;
  return LimitStatus{bucket->per_minute(), bucket->remaining(now), bucket->full_in(now)};
}

std::optional<LimitStatus> LimitAccount::budget_status(LimitKind kind,
                                                       const LimitMoment& moment) const {
  const LimitNumber& limit = limits_.*limit_field(kind).member;
  if (!limit) return std::nullopt;
  const Budget& budget = *budgets_[budget_index(kind)];
  return LimitStatus{*limit, budget.remaining(*limit, moment.calendar),
                     period_end(budget.period(), moment.wall) - moment.wall};
}

}  // namespace zerohop
