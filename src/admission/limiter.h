// Exact limits of keys and tenants: reserve, then settle.
//
// A request passes two stages and both hold all of its limits or none of them:
//
//   head read ──enter()──▶ Reservation ──claim()──▶ computed, tokens metered ──settle()──▶ ledger
//                │              │          │                                      │
//        requests a minute      │    caps, tokens a minute,             exact numbers; the rest
//        requests at once       │    budgets of tokens and money        is there again at once
//                               └── destroyed without settle(): everything is returned
//
// claim() takes the true input and the longest answer that the client allows. How much of the input
// is cached the engine knows, so the meter that goes along with a request claims there, before
// anything is computed (MeterClaim). Since nothing is let out that was not reserved, requests in
// parallel cannot pass a budget together: 1,000 of them on N tokens are served N at most. While one
// request is refused at its last limit, what it took of the others is missing for a moment, so
// another may be refused that would just have fitted.
//
// Cost: a check of one limit is an atomic compare-and-swap, 4 to 8 ns (limiter_bench.cc).
//
// For the journal of budgets, what running requests have been served so far counts as spent; it is
// brought up to date by count_served(), which whoever writes the journal calls first.
//
// Any thread. Outlives its reservations and their meters.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "admission/limit_account.h"
#include "core/token_meter.h"

namespace zerohop {

class Limiter;

/// Who is limited, and how; the limits may change from call to call (a reload).
struct LimitParty {
  std::string_view id;  ///< never used again for another owner, so that nobody inherits anything
  Limits limits;
  std::string_view name = {};  ///< what people call it; empty: its id
  TenantId tenant = {};        ///< the tenant itself, or whose key it is
};

/// Of one request. Without key: open access.
struct LimitParties {
  std::optional<LimitParty> key;
  std::optional<LimitParty> tenant;
};

/// A limit by name and owner, such as what cut an answer short.
struct LimitName {
  LimitKind kind = LimitKind::kMaxOutputTokens;
  LimitOwner owner = LimitOwner::kKey;
  friend bool operator==(const LimitName&, const LimitName&) = default;
};

/// "key tokens_per_day".
std::string limit_name_text(const LimitName& name);

struct LimitGrant {
  std::uint64_t output_cap = 0;         ///< tokens that may be let out; at most what was asked
  std::optional<LimitName> lowered_by;  ///< set when that is less
};

/// The tightest of key and tenant, for `anthropic-ratelimit-*` and `x-ratelimit-*`. `tokens` is
/// what is left least of: total tokens a minute or a budget in tokens.
struct LimitReport {
  std::optional<LimitStatus> requests;
  std::optional<LimitStatus> input_tokens;
  std::optional<LimitStatus> output_tokens;
  std::optional<LimitStatus> tokens;
};

/// How the meter of one answer claims for its whole request, when the engine knows the prompt's
/// share in the cache (TokenMeter::admit_prompt). What the pointer means outlives the meter.
struct MeterClaim {
  const Clock* clock = nullptr;
  Prices prices;
  std::uint64_t output_cap = 0;          ///< of all answers of the request together
  std::uint64_t uncached_elsewhere = 0;  ///< tokens of the request's other prompts
};

/// Move-only. One thread at a time, except that its meters live on the engine thread.
class [[nodiscard]] Reservation {
 public:
  Reservation() = default;  ///< holds nothing, allows everything
  Reservation(Reservation&& other) noexcept = default;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  bool held() const { return state_ != nullptr; }

  /// Whether a claim would be refused now. Takes nothing; for asking early with the least that a
  /// request can turn out to need.
  std::optional<LimitRefusal> refusal_of(const TokenClaim& claim, const LimitMoment& moment) const;

  /// Second stage. What is refused holds what the first stage gave. Once it was granted, it stays.
  BasicResult<LimitGrant, LimitRefusal> claim(const TokenClaim& claim, const LimitMoment& moment);

  /// For one answer; several of one reservation share what is granted. The first one that reaches
  /// the engine claims, unless claim() has done it. May outlive the reservation, but lets nothing
  /// out once that has ended. Null when nothing is held.
  std::unique_ptr<TokenMeter> meter(const MeterClaim& claim) const;

  /// Nothing before a claim was granted.
  std::optional<LimitGrant> grant() const;
  /// Why a meter's claim was refused.
  std::optional<LimitRefusal> refusal() const;
  /// Tokens that the meters have let out.
  std::uint64_t served() const;

  /// The exact numbers, at the prices of the claim; what they cost in micros. The request stays
  /// counted in requests a minute, and the reservation is empty.
  std::uint64_t settle(const BilledTokens& used, const LimitMoment& moment);

  /// Returns everything.
  void release();

  LimitReport report(const LimitMoment& moment) const;

 private:
  friend class Limiter;
  struct State;
  class Meter;
  explicit Reservation(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

class Limiter {
 public:
  Limiter() = default;
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  /// First stage. Limits that differ from the owner's last ones take effect here.
  BasicResult<Reservation, LimitRefusal> enter(const LimitParties& parties,
                                               const LimitMoment& moment);

  /// What the owners of `parties` have left of the limits that are in force, which need not be
  /// those that `parties` bring: only a request that enters puts limits into force, or an answer
  /// that began before a change would undo it. Nothing of owners who never entered.
  LimitReport report(const LimitParties& parties, const LimitMoment& moment) const;

  /// Called once for each budget that appears, before anybody uses it: a journal restores what was
  /// spent before a restart. And again with the same budget when its limit has changed. Set before
  /// the first request.
  struct NewBudget {
    const LimitIdentity* owner = nullptr;
    LimitKind kind = LimitKind::kTokensPerDay;
    std::uint64_t limit = 0;
    std::shared_ptr<Budget> budget;
    CalendarTime now{};
  };
  using BudgetObserver = std::function<void(const NewBudget&)>;
  void on_new_budget(BudgetObserver observer) { observer_ = std::move(observer); }

  /// Counts as spent what running requests have been served so far.
  void count_served();

  /// Drops what is known of every owner of whom `gone` says that it is gone; running requests end
  /// as they would. Their identities.
  std::vector<LimitIdentity> forget_if(const std::function<bool(const LimitIdentity&)>& gone);

  std::size_t accounts() const;
  std::size_t reservations() const;

 private:
  friend class Reservation;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Accounts =
      std::unordered_map<std::string, std::shared_ptr<LimitAccount>, TextHash, std::equal_to<>>;

  std::shared_ptr<LimitAccount> account(LimitOwner owner, const LimitParty& party,
                                        const LimitMoment& moment);
  const LimitAccount* find(LimitOwner owner, std::string_view id) const;
  std::shared_ptr<LimitAccount> renew(LimitOwner owner, const LimitParty& party,
                                      const LimitMoment& moment);
  void announce(const LimitAccount& account, const LimitAccount* before, CalendarTime now) const;

  BudgetObserver observer_;  // constant after the start

  mutable std::shared_mutex accounts_mutex_;
  Accounts keys_;     // guarded by accounts_mutex_
  Accounts tenants_;  // guarded by accounts_mutex_

  // Those with tokens, and what they hold of budgets
  mutable std::mutex running_mutex_;
  std::unordered_set<Reservation::State*> running_;  // guarded by running_mutex_
};

}  // namespace zerohop
