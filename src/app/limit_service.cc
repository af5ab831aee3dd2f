#include "app/limit_service.h"

#include <algorithm>
#include <chrono>
#include <string>
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

// Where no keys are asked for, everybody together is limited as one key is.
LimitParties LimitService::parties_of(const Caller& caller) const {
  LimitParties parties;
  Limits tenant = limits_or(caller.tenant->limits, settings_.tenant_defaults);
  if (caller.key != nullptr) {
    parties.key = LimitParty{caller.key->id, limits_or(caller.key->limits, settings_.key_defaults)};
  } else {
    tenant = limits_or(tenant, settings_.key_defaults);
  }
  parties.tenant = LimitParty{caller.tenant->name, tenant};
  return parties;
}

Result<Reservation> LimitService::enter(const Caller& caller) {
  auto entered = limiter_.enter(parties_of(caller), limit_moment(clock_));
  if (!entered.ok()) return refusal_error(entered.error());
  return std::move(entered).value();
}

Result<void> LimitService::attach(const Reservation& reservation, const ServedBy& served,
                                  PreparedCall& call) {
  if (!reservation.held()) return {};
  const Prices prices = settings_.prices.of(served.model);
  const std::uint64_t prompts = prompt_tokens_of(call);
  const std::uint64_t output_cap = output_cap_of(call, served.window);
  const TokenClaim least{{0, prompts, output_cap}, prices};
  if (auto refusal = reservation.refusal_of(least, limit_moment(clock_))) {
    return refusal_error(*refusal);
  }
  for (PreparedGeneration& choice : call.choices) {
    const std::uint64_t elsewhere = prompts - choice.request.prompt.size();
    choice.request.meter = reservation.meter(MeterClaim{&clock_, prices, output_cap, elsewhere});
  }
  if (keeper_) keeper_->touch();
  return {};
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
  reservation.settle(billed.tokens, limit_moment(clock_));
  if (!keeper_) return;
  LedgerRow row;
  row.at = clock_.wall();
  if (billed.caller->key != nullptr) row.key = billed.caller->key->id;
  row.tenant = billed.caller->tenant->name;
  row.model = std::string(billed.model);
  row.labels = config_.instance.labels;
  row.tokens = billed.tokens;
  row.money_micros = cost_micros(billed.tokens, settings_.prices.of(billed.model));
  keeper_->add(std::move(row));
}

void LimitService::append_headers(const Caller& caller, HeaderDialect dialect,
                                  std::vector<HeaderField>& headers) {
  const LimitMoment moment = limit_moment(clock_);
  const LimitReport report = limiter_.report(parties_of(caller), moment);
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
