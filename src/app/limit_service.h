// Limits around a request: entered at its head, claimed by its meters where the engine knows what
// of the prompt is cached, settled with the numbers that its reply shows, and told in headers.
//
//   on_head ──enter()──▶ body, tokens ──attach()──▶ engine: admit_prompt, tokens ──settle()
//
// What was not settled when the exchange ends gives back what it holds (RequestContext::limit).
// I/O thread; keep() before the first request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/caller.h"
#include "admission/limiter.h"
#include "app/config.h"
#include "app/limit_settings.h"
#include "app/usage_keeper.h"
#include "base/clock.h"
#include "core/error.h"
#include "http/message.h"

namespace zerohop {

struct PreparedCall;

enum class PriceUse : std::uint8_t { kInteractive, kBatch };

/// What computes a request.
struct ServedBy {
  std::string_view model;
  std::uint32_t window = 0;  ///< tokens of prompt and answer together
  PriceUse price = PriceUse::kInteractive;
};

/// A request that ended, with what it is to be billed.
struct BilledRequest {
  const Caller* caller = nullptr;
  std::string_view model;
  BilledTokens tokens;
};

class LimitService {
 public:
  LimitService(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}

  /// What holds from now on, and the labels of rows. What a request has reserved is settled at the
  /// prices at which it was.
  void set(LimitSettings settings, std::map<std::string, std::string> labels) {
    settings_ = std::move(settings);
    labels_ = std::move(labels);
  }
  /// Keeps budgets and usage in files. Errors: kConfiguration.
  Result<void> keep(const std::filesystem::path& folder, boost::asio::any_io_executor executor);
  /// Writes the last of it. After the I/O thread has ended.
  void close_books() { keeper_.reset(); }
  void stop() {
    if (keeper_) keeper_->stop();
  }
  /// Forgets, in memory and in the files, the keys that `ring` does not have, and everything of the
  /// tenants that were erased. Any thread, after keep().
  void forget_gone(const KeyRing& ring);
  /// Errors: kNotFound (usage is not kept), those of Ledger::sums().
  /// Gives rows of the ledger that know no tenant's number those of their keys, or of the tenant
  /// that has their name. After keep().
  void adopt_old_rows(std::shared_ptr<const KeyRing> ring);
  Awaitable<Result<std::vector<LedgerSum>>> usage(LedgerQuery query);

  /// First stage. Errors: kRateLimited, kPermission (a limit of 0).
  Result<Reservation> enter(const Caller& caller);
  /// The same for whoever can wait.
  BasicResult<Reservation, LimitRefusal> try_enter(const Caller& caller);

  /// Second stage: gives each answer of `call` its meter, and refuses at once what would not even
  /// fit if its whole prompt were cached. Errors: kRateLimited, kInvalidRequest, kPermission.
  Result<void> attach(const Reservation& reservation, const ServedBy& served, PreparedCall& call);
  std::optional<LimitRefusal> try_attach(const Reservation& reservation, const ServedBy& served,
                                         PreparedCall& call);

  /// Second stage of what has no answer: all of it is input that is computed.
  Result<void> claim_input(Reservation& reservation, std::string_view model, std::uint64_t tokens);

  /// The exact numbers: the rest is there again, and the ledger gets its row.
  void settle(Reservation& reservation, const BilledRequest& billed);
  /// Of a request that came to no answer, by the status of its refusal: all is given back where the
  /// server had no room for it, all but its count where its client was wrong.
  void settle_unanswered(Reservation& reservation, int status) const;
  /// Called with what a request cost its tenant, in millionths of a dollar.
  void on_cost(std::function<void(std::string_view tenant, std::uint64_t micros)> note) {
    on_cost_ = std::move(note);
  }

  /// `anthropic-ratelimit-*` or `x-ratelimit-*`: limit, remaining and reset of what `caller` is
  /// limited in.
  enum class HeaderDialect : std::uint8_t { kAnthropic, kOpenAi };
  void append_headers(const Caller& caller, HeaderDialect dialect,
                      std::vector<HeaderField>& headers);

 private:
  std::function<void(std::string_view, std::uint64_t)> on_cost_;  // empty: nobody asks

  class Parties;

  // Constant
  const Config& config_;
  const Clock& clock_;

  // Replaced by a reload
  LimitSettings settings_;
  std::map<std::string, std::string> labels_;

  Limiter limiter_;
  std::unique_ptr<UsageKeeper> keeper_;  // null: nothing outlives the process
};

}  // namespace zerohop
