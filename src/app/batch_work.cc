#include "app/batch_work.h"

#include <chrono>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "app/generation_call.h"
#include "app/messages_call.h"
#include "app/request_tenant.h"

namespace zerohop {
namespace {

constexpr std::chrono::hours kForEver{24 * 365};

Error cancelled() { return Error{ErrorCode::kCancelled, "", "", {}}; }

Error bad_key(KeyVerdict verdict) {
  std::string message = "invalid API key: the key of this batch ";
  message += verdict == KeyVerdict::kRevoked   ? "was revoked"
             : verdict == KeyVerdict::kExpired ? "has expired"
                                               : "is no more";
  return Error{ErrorCode::kAuthentication, std::move(message), "", {}};
}

void make_batch_request(const RequestTenant& tenant, EngineRequest& request) {
  request.scheduling.priority = PriorityClass::kBatch;
  request.scheduling.tenant = tenant.tenant;
  request.scheduling.tenant_weight = tenant.weight;
  request.cache.scope = tenant.scope;
}

}  // namespace

void BatchWork::stop(BatchStop reason) {
  if (stop_) return;
  stop_ = reason;
  if (reader_ != nullptr) reader_->interrupt();
}

// As of now: what was changed since the batch was made counts.
Result<Caller> BatchWork::find_caller() const {
  if (request_.owner == TenantId{} || !service_.keys.asks_for_keys()) return Caller{};
  Caller caller;
  caller.ring = service_.keys.ring().get();
  caller.tenant = caller.ring->find_tenant(request_.owner);
  if (caller.tenant == nullptr) {
    return Error{ErrorCode::kPermission, "the tenant of this batch is no more", "", {}};
  }
  if (request_.owner_key != 0) {
    const KeyLookup found = caller.ring->find_key(KeyId{request_.owner_key}, service_.clock.wall());
    if (found.verdict != KeyVerdict::kGood) return bad_key(found.verdict);
    caller.key = found.key;
  }
  ZH_RETURN_IF_ERROR(check_pool(service_.config.instance, *caller.tenant));
  return caller;
}

// A minute's rate and the number of requests at once come back by themselves, and a batch has a
// day; a budget does not come back in time to wait for it.
BatchAnswer BatchWork::refused(const LimitRefusal& refusal) {
  limit_.release();
  BatchAnswer answer{refusal_error(refusal)};
  if (refills(refusal)) answer.wait = refusal.retry_after;
  return answer;
}

Awaitable<BatchAnswer> BatchWork::run() {
  live_ = service_.live.get();
  Result<Caller> caller = find_caller();
  if (!caller.ok()) co_return BatchAnswer{caller.error()};
  caller_ = std::move(caller).value();
  auto entered = service_.limits.try_enter(caller_);
  if (!entered.ok()) co_return refused(entered.error());
  limit_ = std::move(entered).value();
  Result<PreparedCall> prepared = co_await prepare();
  if (!prepared.ok()) {
    // As for a single request: it counts where it was wrong.
    service_.limits.settle_unanswered(limit_, error_traits(prepared.error().code).status);
    co_return BatchAnswer{prepared.error()};
  }
  if (stop_) co_return BatchAnswer{cancelled()};
  ServedBy served{service_.tier().name(), service_.tier().window()};
  served.price = PriceUse::kBatch;
  if (const auto refusal = service_.limits.try_attach(limit_, served, *prepared)) {
    co_return refused(*refusal);
  }
  co_return co_await compute(*prepared);
}

Awaitable<Result<PreparedCall>> BatchWork::prepare() {
  MessagesHead head;
  head.profile = &live_->wire_profiles.find("");
  head.service_tier = "batch";
  head.relaxed_note = RelaxedNote::kMessage;
  CallScope scope{service_, live_};
  call_ = make_messages_call(scope, std::move(head));
  UnreadCall unread{call_.get(), caller_.tenant, std::move(request_.params)};
  co_return co_await prepare_call(scope, std::move(unread));
}

Awaitable<BatchAnswer> BatchWork::compute(PreparedCall& call) {
  make_batch_request(batch_tenant(live_->config, *caller_.tenant), call.choices.front().request);
  auto stream = service_.tier().submit(std::move(call.choices.front()));
  if (!stream.ok()) co_return BatchAnswer{stream.error()};
  std::vector<std::shared_ptr<TokenStream>> streams;
  streams.push_back(std::move(stream).value());
  StreamReader reader(executor_, std::move(streams));
  reader_ = &reader;
  co_await read_events(reader, call);
  reader_ = nullptr;
  if (!call.whole->complete()) {
    if (unwanted() && usage_) bill(limit_.served());
    co_return BatchAnswer{cancelled()};
  }
  if (const Error* failure = call.whole->failure()) {
    if (const auto refusal = limit_.refusal()) co_return refused(*refusal);
    co_return BatchAnswer{*failure};
  }
  bill(usage_->output_tokens);
  co_return BatchAnswer{call.whole->body()};
}

Awaitable<void> BatchWork::read_events(StreamReader& reader, PreparedCall& call) {
  std::vector<ChoiceEvent> events;
  while (!call.whole->complete() && !stop_) {
    co_await reader.read(kForEver, events);
    for (const ChoiceEvent& entry : events) {
      note(entry.event);
      call.whole->add(entry.choice, entry.event);
    }
    events.clear();
  }
}

void BatchWork::note(const Event& event) {
  if (const auto* started = std::get_if<Started>(&event)) usage_ = started->usage;
  if (const auto* finished = std::get_if<Finished>(&event)) usage_ = finished->usage;
}

void BatchWork::bill(std::uint64_t output_tokens) {
  const BilledTokens tokens{usage_->prompt_tokens_computed(), usage_->prompt_tokens_cached,
                            output_tokens};
  service_.limits.settle(limit_, {&caller_, service_.tier().name(), tokens});
}

}  // namespace zerohop
