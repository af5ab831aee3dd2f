#include "app/limit_service.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <unordered_set>
#include <utility>

#include "api/rfc3339.h"
#include "app/dialect_call.h"

namespace zerohop {
namespace {

using std::chrono::seconds;

// As OpenAI writes times to wait: "1h2m3s", in whole seconds, rounded up.
std::string wait_text(Duration wait) {
  const std::int64_t total = std::chrono::ceil<seconds>(wait).count();
  std::string text;
  if (total >= 3'600) text += std::to_string(total / 3'600) + "h";
  if (total >= 60) text += std::to_string(total / 60 % 60) + "m";
  return text + std::to_string(total % 60) + "s";
}

struct NamedStatus {
  std::string_view name;
  const std::optional<LimitStatus>& status;
};

void append_anthropic(const NamedStatus& named, WallTime now, std::vector<HeaderField>& headers) {
  if (!named.status) return;
  const std::string prefix = "anthropic-ratelimit-" + std::string(named.name) + "-";
  const WallTime reset = now + named.status->reset_after;
  const seconds at = std::chrono::ceil<seconds>(reset.time_since_epoch());
  headers.push_back(HeaderField{prefix + "limit", std::to_string(named.status->limit)});
  headers.push_back(HeaderField{prefix + "remaining", std::to_string(named.status->remaining)});
  headers.push_back(HeaderField{prefix + "reset", rfc3339(at.count())});
}

void append_openai(const NamedStatus& named, std::vector<HeaderField>& headers) {
  if (!named.status) return;
  const std::string name(named.name);
  headers.push_back(HeaderField{"x-ratelimit-limit-" + name, std::to_string(named.status->limit)});
  headers.push_back(
      HeaderField{"x-ratelimit-remaining-" + name, std::to_string(named.status->remaining)});
  headers.push_back(HeaderField{"x-ratelimit-reset-" + name, wait_text(named.status->reset_after)});
}

// Of the prompts of a call, each counted once: its answers stand beside each other.
std::uint64_t prompt_tokens_of(const PreparedCall& call) {
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < call.choices.size(); i += call.choices_per_prompt) {
    tokens += call.choices[i].request.prompt.size();
  }
  return tokens;
}

// The longest that all its answers together can become.
std::uint64_t output_cap_of(const PreparedCall& call, std::uint64_t window) {
  std::uint64_t tokens = 0;
  for (const PreparedGeneration& choice : call.choices) {
    const std::uint64_t room =
        window - std::min<std::uint64_t>(window, choice.request.prompt.size());
    tokens += std::min<std::uint64_t>(choice.request.max_tokens, room);
  }
  return tokens;
}

}  // namespace

Result<void> LimitService::keep(const std::filesystem::path& folder,
                                boost::asio::any_io_executor executor) {
  UsageKeeperParts parts;
  parts.folder = folder;
  parts.limiter = &limiter_;
  parts.clock = &clock_;
  parts.kept = std::chrono::days(config_.limits.usage_days);
  ZH_ASSIGN_OR_RETURN(keeper_, UsageKeeper::open(std::move(parts), std::move(executor)));
  return {};
}

// Key and tenant of a caller as the limiter knows them. A tenant is known by its number: one that
// is made anew with an old name inherits nothing.
class LimitService::Parties {
 public:
  Parties(const Caller& caller, const LimitSettings& settings) {
    const TenantRecord& owner = *caller.tenant;
    tenant_id_[0] = '#';
    const auto end = std::to_chars(tenant_id_.data() + 1, tenant_id_.data() + tenant_id_.size(),
                                   owner.number.value)
                         .ptr;
    const std::string_view id(tenant_id_.data(), static_cast<std::size_t>(end - tenant_id_.data()));
    Limits tenant = limits_or(owner.limits, settings.tenant_defaults);
    if (caller.key != nullptr) {
      const KeyRecord& key = *caller.key;
      parties_.key =
          LimitParty{key.id, limits_or(key.limits, settings.key_defaults), key.id, owner.number};
    } else if (owner.number == TenantId{}) {
      // Where no keys are asked for, everybody together is limited as one key is.
      tenant = limits_or(tenant, settings.key_defaults);
    }
    parties_.tenant = LimitParty{id, tenant, owner.name, owner.number};
  }
  Parties(const Parties&) = delete;
  Parties& operator=(const Parties&) = delete;

  const LimitParties& get() const { return parties_; }

 private:
  std::array<char, 24> tenant_id_{};
  LimitParties parties_;
};

void LimitService::forget_gone(const KeyRing& ring) {
  GoneOwners gone;
  gone.tenants = ring.erased_tenants();
  if (limiter_.accounts() > 0) {
    const std::unordered_set<TenantId> erased(gone.tenants.begin(), gone.tenants.end());
    std::unordered_set<std::string_view> ids;
    for (const KeyRecord& key : ring.keys()) ids.insert(key.id);
    gone.owners = limiter_.forget_if([&](const LimitIdentity& owner) {
      return erased.contains(owner.tenant) ||
             (owner.owner == LimitOwner::kKey && !ids.contains(owner.id));
    });
  }
  if (keeper_) keeper_->erase(std::move(gone));
}

namespace {

// A key is its tenant's for good. Of one that was dropped only the name is left to go by, which is
// enough where nobody can have had it before: numbers of tenants grow, and where one was erased
// that was made earlier, the row may be that one's. Then it stays nobody's, and goes when it is
// old.
std::optional<TenantId> owner_in(const KeyRing& ring, std::string_view key,
                                 std::string_view tenant) {
  const auto known = std::ranges::find(ring.keys(), key, &KeyRecord::id);
  if (known != ring.keys().end()) return known->tenant;
  const auto named = std::ranges::find(ring.tenants(), tenant, &TenantRecord::name);
  if (named == ring.tenants().end()) return std::nullopt;
  const auto earlier = [&named](TenantId erased) { return erased < named->number; };
  if (std::ranges::any_of(ring.erased_tenants(), earlier)) return std::nullopt;
  return named->number;
}

}  // namespace

void LimitService::adopt_old_rows(std::shared_ptr<const KeyRing> ring) {
  if (!keeper_ || !ring->had_keys()) return;
  keeper_->adopt([ring = std::move(ring)](std::string_view key, std::string_view tenant) {
    return owner_in(*ring, key, tenant);
  });
}

Awaitable<Result<std::vector<LedgerSum>>> LimitService::usage(LedgerQuery query) {
  if (!keeper_) {
    co_return Error{ErrorCode::kNotFound, "usage is not kept (limits.usage_folder)", "", {}};
  }
  co_return co_await keeper_->sums(std::move(query));
}

Result<Reservation> LimitService::enter(const Caller& caller) {
  auto entered = try_enter(caller);
  if (!entered.ok()) return refusal_error(entered.error());
  return std::move(entered).value();
}

BasicResult<Reservation, LimitRefusal> LimitService::try_enter(const Caller& caller) {
  return limiter_.enter(Parties(caller, settings_).get(), limit_moment(clock_));
}

Result<void> LimitService::attach(const Reservation& reservation, const ServedBy& served,
                                  PreparedCall& call) {
  if (const auto refusal = try_attach(reservation, served, call)) return refusal_error(*refusal);
  return {};
}

std::optional<LimitRefusal> LimitService::try_attach(const Reservation& reservation,
                                                     const ServedBy& served, PreparedCall& call) {
  if (!reservation.held()) return std::nullopt;
  Prices prices = settings_.prices.of(served.model);
  if (served.price == PriceUse::kBatch) prices = batch_prices(prices);
  const std::uint64_t prompts = prompt_tokens_of(call);
  const std::uint64_t output_cap = output_cap_of(call, served.window);
  const TokenClaim least{{0, prompts, output_cap}, prices};
  if (auto refusal = reservation.refusal_of(least, limit_moment(clock_))) return refusal;
  for (PreparedGeneration& choice : call.choices) {
    const std::uint64_t elsewhere = prompts - choice.request.prompt.size();
    choice.request.meter = reservation.meter(MeterClaim{&clock_, prices, output_cap, elsewhere});
  }
  if (keeper_) keeper_->touch();
  return std::nullopt;
}

Result<void> LimitService::claim_input(Reservation& reservation, std::string_view model,
                                       std::uint64_t tokens) {
  const TokenClaim claim{{tokens, 0, 0}, settings_.prices.of(model)};
  const auto granted = reservation.claim(claim, limit_moment(clock_));
  if (!granted.ok()) return refusal_error(granted.error());
  if (keeper_) keeper_->touch();
  return {};
}

void LimitService::settle(Reservation& reservation, const BilledRequest& billed) {
  if (!reservation.held()) return;
  const std::uint64_t money = reservation.settle(billed.tokens, limit_moment(clock_));
  if (on_cost_) on_cost_(billed.caller->tenant->name, money);
  if (!keeper_) return;
  LedgerRow row;
  row.at = clock_.wall();
  if (billed.caller->key != nullptr) row.key = billed.caller->key->id;
  row.tenant = billed.caller->tenant->name;
  row.tenant_number = billed.caller->tenant->number;
  row.model = std::string(billed.model);
  row.labels = labels_;
  row.tokens = billed.tokens;
  row.money_micros = money;
  keeper_->add(std::move(row));
}

void LimitService::settle_unanswered(Reservation& reservation, int status) const {
  if (status == 429 || status >= 500) {
    reservation.release();
  } else {
    reservation.settle({}, limit_moment(clock_));
  }
}

void LimitService::append_headers(const Caller& caller, HeaderDialect dialect,
                                  std::vector<HeaderField>& headers) {
  const LimitMoment moment = limit_moment(clock_);
  const LimitReport report = limiter_.report(Parties(caller, settings_).get(), moment);
  if (dialect == HeaderDialect::kOpenAi) {
    append_openai({"requests", report.requests}, headers);
    append_openai({"tokens", report.tokens}, headers);
    return;
  }
  append_anthropic({"requests", report.requests}, moment.wall, headers);
  append_anthropic({"tokens", report.tokens}, moment.wall, headers);
  append_anthropic({"input-tokens", report.input_tokens}, moment.wall, headers);
  append_anthropic({"output-tokens", report.output_tokens}, moment.wall, headers);
}

}  // namespace zerohop
