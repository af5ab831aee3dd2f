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

// As of now: what was changed since the batch was made counts. Also of a request that is refused is
// noted whose it is, as far as anybody knows.
Result<void> BatchWork::find_caller() {
  Caller& caller = context_->caller;
  caller = {};
  if (request_.owner == TenantId{} || !service_.keys.asks_for_keys()) return {};
  caller.ring = service_.keys.ring().get();
  caller.tenant = caller.ring->find_tenant(request_.owner);
  if (caller.tenant == nullptr) {
    caller.tenant = &unknown_tenant();
    return Error{ErrorCode::kPermission, "the tenant of this batch is no more", "", {}};
  }
  if (request_.owner_key != 0) {
    const KeyLookup found = caller.ring->find_key(KeyId{request_.owner_key}, service_.clock.wall());
    // Numbers mean something in their own store only (key_store.h).
    const bool own = found.key != nullptr && found.key->tenant == request_.owner;
    if (!own) return bad_key(KeyVerdict::kUnknown);
    caller.key = found.key;
    if (found.verdict != KeyVerdict::kGood) return bad_key(found.verdict);
  }
  return check_pool(service_.config.instance, *caller.tenant);
}

// A minute's rate and the number of requests at once come back by themselves, and a batch has a
// day; a budget does not come back in time to wait for it.
BatchAnswer BatchWork::refused(const LimitRefusal& refusal) {
  limit_.release();
  BatchAnswer answer{refusal_error(refusal)};
  if (refills(refusal)) answer.wait = refusal.retry_after;
  return answer;
}

// It has no head and no body of its own to receive.
void BatchWork::begin() {
  context_ = make_request_context(service_);
  context_->notes.priority = PriorityClass::kBatch;
  advance(RequestState::kReceiving);
  advance(RequestState::kValidating);
}

RequestRecord BatchWork::end(const BatchAnswer& answer) {
  if (answer.message.ok()) {
    advance(RequestState::kStreaming);
    advance(RequestState::kDone);
  } else if (unwanted()) {
    advance(RequestState::kCancelled);
  } else {
    context_->notes.failure = answer.message.error();
    advance(RequestState::kFailed);
  }
  if (usage_) context_->usage = *usage_;
  return record_of(service_, BatchedRequest{*context_, request_.batch_id, request_.custom_id});
}

Awaitable<BatchAnswer> BatchWork::run() {
  begin();
  const Result<void> found = find_caller();
  if (!found.ok()) co_return BatchAnswer{found.error()};
  auto entered = service_.limits.try_enter(context_->caller);
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
  head.profile = &context_->live->wire_profiles.find("");
  head.service_tier = "batch";
  head.relaxed_note = RelaxedNote::kMessage;
  CallScope scope{service_, context_->live};
  call_ = make_messages_call(scope, std::move(head));
  UnreadCall unread{call_.get(), context_->caller.tenant, std::move(request_.params),
                    &context_->notes};
  co_return co_await prepare_call(scope, std::move(unread));
}

Awaitable<BatchAnswer> BatchWork::compute(PreparedCall& call) {
  EngineRequest& request = call.choices.front().request;
  make_batch_request(batch_tenant(context_->live->config, *context_->caller.tenant), request);
  context_->notes.max_tokens = request.max_tokens;
  context_->constraint_relaxed = call.relaxed;
  call.choices.front().read_at_end = true;
  auto stream = service_.tier().submit(std::move(call.choices.front()));
  if (!stream.ok()) co_return BatchAnswer{stream.error()};
  std::vector<std::shared_ptr<TokenStream>> streams;
  streams.push_back(std::move(stream).value());
  advance(RequestState::kInferring);
  StreamReader reader(executor_, std::move(streams));
  reader_ = &reader;
  co_await read_events(reader, call);
  reader_ = nullptr;
  context_->granted = limit_.grant();
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
      note(entry);
      call.whole->add(entry.choice, entry.event);
    }
    events.clear();
  }
  // What was said by then is billed, read or not.
  if (stop_) reader.poll(events);
  for (const ChoiceEvent& entry : events) note(entry);
}

void BatchWork::note(const ChoiceEvent& entry) {
  RequestNotes& notes = context_->notes;
  if (const auto* started = std::get_if<Started>(&entry.event)) {
    usage_ = started->usage;
    notes.queue = started->queue_time;
    notes.miss = started->miss.cause;
    context_->soft_max_tokens = started->soft_max_tokens;
  } else if (const auto* finished = std::get_if<Finished>(&entry.event)) {
    usage_ = finished->usage;
    context_->stop_reason = finish_reason_name(finished->reason);
  } else if (!is_terminal(entry.event) && !notes.first_text) {
    // What is read at its end says when it came.
    const TimePoint now = service_.clock.now();
    const TimePoint came = entry.came_at.empty() ? now : entry.came_at.front();
    notes.first_text = context_->life.age(came);
  }
}

void BatchWork::bill(std::uint64_t output_tokens) {
  const BilledTokens tokens{usage_->prompt_tokens_computed(), usage_->prompt_tokens_cached,
                            output_tokens};
  service_.limits.settle(limit_, {&context_->caller, service_.tier().name(), tokens});
}

}  // namespace zerohop
