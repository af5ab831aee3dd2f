#include "admission/limiter.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace zerohop {
namespace {

// How often a shortened answer is tried again when others took what was left in between.
constexpr int kLoweringTries = 4;

// Above every cap: from then on the meters let nothing out.
constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

void tighten(std::optional<LimitStatus>& least, const std::optional<LimitStatus>& status) {
  if (status && (!least || status->remaining < least->remaining)) least = status;
}

// `account` may be null.
void tighten_by(const LimitAccount* account, const LimitMoment& moment, LimitReport& report) {
  if (account == nullptr) return;
  tighten(report.requests, account->rate_status(LimitKind::kRequestsPerMinute, moment.now));
  tighten(report.input_tokens, account->rate_status(LimitKind::kInputTokensPerMinute, moment.now));
  tighten(report.output_tokens,
          account->rate_status(LimitKind::kOutputTokensPerMinute, moment.now));
  tighten(report.tokens, account->rate_status(LimitKind::kTotalTokensPerMinute, moment.now));
  tighten(report.tokens, account->budget_status(LimitKind::kTokensPerDay, moment));
  tighten(report.tokens, account->budget_status(LimitKind::kTokensPerMonth, moment));
}

}  // namespace

std::string limit_name_text(const LimitName& name) {
  return std::string(limit_owner_name(name.owner)) + " " + std::string(limit_field(name.kind).name);
}

struct Reservation::State {
  struct Part {
    std::shared_ptr<LimitAccount> account;  // null: nothing is limited here
    LimitHold hold;
  };
  using Holds = std::array<LimitHold, 2>;

  Limiter* limiter = nullptr;
  std::array<Part, 2> parts;  // key, tenant

  // Guarded by limiter->running_mutex_, and so are the tokens in the holds, until it has ended
  TokenClaim claim;  // as granted
  std::optional<LimitGrant> grant;
  std::optional<LimitRefusal> refused;
  bool ended = false;

  // Of all meters together
  std::atomic<std::uint64_t> output_cap{0};
  std::atomic<std::uint64_t> served{0};

  std::optional<LimitRefusal> admit(const TokenClaim& asked, const LimitMoment& moment);
  std::optional<LimitRefusal> reserve(const TokenClaim& asked, const LimitMoment& moment,
                                      Holds& holds, LimitGrant& granted) const;
  std::optional<LimitRefusal> take(const TokenClaim& asked, const LimitMoment& moment,
                                   Holds& holds) const;
  LimitGrant grant_for(const TokenClaim& asked, const LimitMoment& moment) const;
  void give_back(Holds& holds) const;
  void keep(const Holds& holds);
  void end();
  void count();
};

class Reservation::Meter final : public TokenMeter {
 public:
  Meter(std::shared_ptr<State> state, const MeterClaim& claim)
      : state_(std::move(state)), claim_(claim) {}

  std::optional<Error> admit_prompt(const PromptShare& share) override {
    const BilledTokens tokens{claim_.uncached_elsewhere + share.uncached, share.cached,
                              claim_.output_cap};
    const std::optional<LimitRefusal> refused =
        state_->admit({tokens, claim_.prices}, limit_moment(*claim_.clock));
    if (refused) return refusal_error(*refused);
    return std::nullopt;
  }

  bool spend_output_token() override {
    const std::uint64_t cap = state_->output_cap.load(std::memory_order_relaxed);
    std::uint64_t served = state_->served.load(std::memory_order_relaxed);
    do {
      if (served >= cap) return false;
    } while (!state_->served.compare_exchange_weak(served, served + 1, std::memory_order_relaxed));
    return true;
  }

  std::optional<std::uint64_t> remaining() const override {
    const std::uint64_t cap = state_->output_cap.load(std::memory_order_relaxed);
    return cap - std::min(cap, state_->served.load(std::memory_order_relaxed));
  }

 private:
  const std::shared_ptr<State> state_;
  const MeterClaim claim_;
};

// ---- Reservation ----

std::optional<LimitRefusal> Reservation::State::admit(const TokenClaim& asked,
                                                      const LimitMoment& moment) {
  {
    const std::scoped_lock lock(limiter->running_mutex_);
    // Another answer of the same request was here before; or the request is over.
    if (grant || ended) return std::nullopt;
    if (refused) return refused;
  }
  Holds holds;
  LimitGrant granted;
  std::optional<LimitRefusal> refusal = reserve(asked, moment, holds, granted);
  const std::unique_lock lock(limiter->running_mutex_);
  if (refusal) {
    refused = refusal;
    return refusal;
  }
  if (ended) {
    give_back(holds);
    return std::nullopt;
  }
  keep(holds);
  claim = asked;
  claim.tokens.output = granted.output_cap;
  grant = granted;
  output_cap.store(granted.output_cap, std::memory_order_relaxed);
  limiter->running_.insert(this);
  return std::nullopt;
}

std::optional<LimitRefusal> Reservation::State::reserve(const TokenClaim& asked,
                                                        const LimitMoment& moment, Holds& holds,
                                                        LimitGrant& granted) const {
  std::optional<LimitRefusal> refusal;
  for (int i = 0; i < kLoweringTries; ++i) {
    granted = grant_for(asked, moment);
    TokenClaim lowered = asked;
    lowered.tokens.output = granted.output_cap;
    refusal = take(lowered, moment, holds);
    if (!refusal || !granted.lowered_by) break;
  }
  return refusal;
}

std::optional<LimitRefusal> Reservation::State::take(const TokenClaim& asked,
                                                     const LimitMoment& moment,
                                                     Holds& holds) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].account == nullptr) continue;
    std::optional<LimitRefusal> refusal = parts[i].account->claim(holds[i], asked, moment);
    if (!refusal) continue;
    give_back(holds);
    return refusal;
  }
  return std::nullopt;
}

LimitGrant Reservation::State::grant_for(const TokenClaim& asked, const LimitMoment& moment) const {
  LimitGrant granted{asked.tokens.output, std::nullopt};
  for (const Part& part : parts) {
    if (part.account == nullptr) continue;
    const std::optional<LimitAccount::OutputRoom> room = part.account->output_room(asked, moment);
    if (!room || room->tokens >= granted.output_cap || granted.output_cap <= 1) continue;
    // An answer without a token would be no answer: where nothing is left, one is asked for, and
    // the refusal says when that one is there.
    granted.output_cap = std::max<std::uint64_t>(1, room->tokens);
    granted.lowered_by = LimitName{room->kind, part.account->identity().owner};
  }
  return granted;
}

void Reservation::State::give_back(Holds& holds) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].account != nullptr) parts[i].account->release_tokens(holds[i]);
  }
}

// The first stage's part of a hold stays what it is.
void Reservation::State::keep(const Holds& holds) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    LimitHold& hold = parts[i].hold;
    const std::uint64_t requests = hold.rates[0];
    hold.rates = holds[i].rates;
    hold.rates[0] = requests;
    hold.budgets = holds[i].budgets;
  }
}

void Reservation::State::end() {
  served.fetch_or(kClosed, std::memory_order_relaxed);
  const std::scoped_lock lock(limiter->running_mutex_);
  ended = true;
  limiter->running_.erase(this);
}

void Reservation::State::count() {
  TokenClaim so_far = claim;
  so_far.tokens.output = served.load(std::memory_order_relaxed) & ~kClosed;
  for (Part& part : parts) {
    if (part.account != nullptr) part.account->spend(part.hold, so_far);
  }
}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    release();
    state_ = std::move(other.state_);
  }
  return *this;
}

std::optional<LimitRefusal> Reservation::refusal_of(const TokenClaim& claim,
                                                    const LimitMoment& moment) const {
  if (state_ == nullptr) return std::nullopt;
  State::Holds holds;
  LimitGrant granted;
  std::optional<LimitRefusal> refusal = state_->reserve(claim, moment, holds, granted);
  state_->give_back(holds);
  return refusal;
}

BasicResult<LimitGrant, LimitRefusal> Reservation::claim(const TokenClaim& claim,
                                                         const LimitMoment& moment) {
  if (state_ == nullptr) return LimitGrant{claim.tokens.output, std::nullopt};
  if (std::optional<LimitRefusal> refusal = state_->admit(claim, moment)) {
    const std::scoped_lock lock(state_->limiter->running_mutex_);
    state_->refused.reset();  // whoever claims here may try again with less
    return std::move(*refusal);
  }
  return *grant();
}

std::unique_ptr<TokenMeter> Reservation::meter(const MeterClaim& claim) const {
  if (state_ == nullptr) return nullptr;
  return std::make_unique<Meter>(state_, claim);
}

std::optional<LimitGrant> Reservation::grant() const {
  if (state_ == nullptr) return std::nullopt;
  const std::scoped_lock lock(state_->limiter->running_mutex_);
  return state_->grant;
}

std::optional<LimitRefusal> Reservation::refusal() const {
  if (state_ == nullptr) return std::nullopt;
  const std::scoped_lock lock(state_->limiter->running_mutex_);
  return state_->refused;
}

std::uint64_t Reservation::served() const {
  return state_ == nullptr ? 0 : state_->served.load(std::memory_order_relaxed);
}

std::uint64_t Reservation::settle(const BilledTokens& used, const LimitMoment& moment) {
  if (state_ == nullptr) return 0;
  state_->end();
  const TokenClaim exact{used, state_->claim.prices};
  for (State::Part& part : state_->parts) {
    if (part.account != nullptr) part.account->settle(part.hold, exact, moment);
  }
  state_.reset();
  return cost_micros(exact.tokens, exact.prices);
}

void Reservation::release() {
  if (state_ == nullptr) return;
  state_->end();
  for (State::Part& part : state_->parts) {
    if (part.account != nullptr) part.account->release(part.hold);
  }
  state_.reset();
}

LimitReport Reservation::report(const LimitMoment& moment) const {
  LimitReport report;
  if (state_ == nullptr) return report;
  for (const State::Part& part : state_->parts) tighten_by(part.account.get(), moment, report);
  return report;
}

// ---- Limiter ----

Limiter::~Limiter() { ZH_CHECK(reservations() == 0); }

BasicResult<Reservation, LimitRefusal> Limiter::enter(const LimitParties& parties,
                                                      const LimitMoment& moment) {
  auto state = std::make_shared<Reservation::State>();
  state->limiter = this;
  if (parties.key) state->parts[0].account = account(LimitOwner::kKey, *parties.key, moment);
  if (parties.tenant) {
    state->parts[1].account = account(LimitOwner::kTenant, *parties.tenant, moment);
  }
  // From here on the destructor returns what was taken.
  Reservation reservation(state);
  for (Reservation::State::Part& part : state->parts) {
    if (part.account == nullptr) continue;
    std::optional<LimitRefusal> refused = part.account->enter(part.hold, moment);
    if (refused) return std::move(*refused);
  }
  return reservation;
}

LimitReport Limiter::report(const LimitParties& parties, const LimitMoment& moment) const {
  LimitReport report;
  const std::shared_lock lock(accounts_mutex_);
  if (parties.key) tighten_by(find(LimitOwner::kKey, parties.key->id), moment, report);
  if (parties.tenant) tighten_by(find(LimitOwner::kTenant, parties.tenant->id), moment, report);
  return report;
}

// Under accounts_mutex_. Null: it never entered.
const LimitAccount* Limiter::find(LimitOwner owner, std::string_view id) const {
  const Accounts& accounts = owner == LimitOwner::kKey ? keys_ : tenants_;
  const auto found = accounts.find(id);
  return found == accounts.end() ? nullptr : found->second.get();
}

std::shared_ptr<LimitAccount> Limiter::account(LimitOwner owner, const LimitParty& party,
                                               const LimitMoment& moment) {
  {
    const std::shared_lock lock(accounts_mutex_);
    const Accounts& accounts = owner == LimitOwner::kKey ? keys_ : tenants_;
    const auto found = accounts.find(party.id);
    if (found != accounts.end() && found->second->limits() == party.limits) return found->second;
  }
  return renew(owner, party, moment);
}

std::shared_ptr<LimitAccount> Limiter::renew(LimitOwner owner, const LimitParty& party,
                                             const LimitMoment& moment) {
  const std::unique_lock lock(accounts_mutex_);
  Accounts& accounts = owner == LimitOwner::kKey ? keys_ : tenants_;
  const auto found = accounts.find(party.id);
  std::shared_ptr<LimitAccount> made;
  if (found == accounts.end()) {
    LimitIdentity identity{owner, std::string(party.id), std::string(party.name), party.tenant};
    made = std::make_shared<LimitAccount>(std::move(identity), party.limits, moment.now);
    announce(*made, nullptr, moment.calendar);
    accounts.emplace(std::string(party.id), made);
  } else if (found->second->limits() == party.limits) {
    made = found->second;  // somebody else was quicker
  } else {
    made = std::make_shared<LimitAccount>(*found->second, party.limits, moment.now);
    announce(*made, found->second.get(), moment.calendar);
    found->second = made;
  }
  return made;
}

void Limiter::announce(const LimitAccount& account, const LimitAccount* before,
                       CalendarTime now) const {
  if (!observer_) return;
  for (std::size_t i = 0; i < kLimitBudgets; ++i) {
    const std::shared_ptr<Budget>& budget = account.budgets()[i];
    if (budget == nullptr) continue;
    const auto kind =
        static_cast<LimitKind>(static_cast<std::size_t>(LimitKind::kTokensPerDay) + i);
    const LimitNumber& limit = account.limits().*limit_field(kind).member;
    const bool known = before != nullptr && before->budgets()[i] == budget;
    // One without a limit goes on under what was said of it last.
    if (known && (!limit || limit == before->limits().*limit_field(kind).member)) continue;
    observer_(NewBudget{&account.identity(), kind, limit.value_or(kBudgetMax), budget, now});
  }
}

void Limiter::count_served() {
  const std::scoped_lock lock(running_mutex_);
  for (Reservation::State* const state : running_) state->count();
}

std::vector<LimitIdentity> Limiter::forget_if(
    const std::function<bool(const LimitIdentity&)>& gone) {
  std::vector<LimitIdentity> forgotten;
  const std::unique_lock lock(accounts_mutex_);
  for (Accounts* const accounts : {&keys_, &tenants_}) {
    std::erase_if(*accounts, [&](const auto& entry) {
      if (!gone(entry.second->identity())) return false;
      forgotten.push_back(entry.second->identity());
      return true;
    });
  }
  return forgotten;
}

std::size_t Limiter::accounts() const {
  const std::shared_lock lock(accounts_mutex_);
  return keys_.size() + tenants_.size();
}

std::size_t Limiter::reservations() const {
  const std::scoped_lock lock(running_mutex_);
  return running_.size();
}

}  // namespace zerohop
