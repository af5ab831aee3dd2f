// What an engine is asked for, from any thread: requests, warm prefixes, embeddings. See
// engine_loop.h.

#include <cmath>
#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {
namespace {

// The rung and its cause, as they stand in a refusal.
std::string_view shed_detail(PressureCause cause) {
  switch (cause) {
    case PressureCause::kNone: break;
    case PressureCause::kKvCells: return "shed;kv_cells";
    case PressureCause::kHostBytes: return "shed;host_bytes";
    case PressureCause::kFragmentation: return "shed;fragmentation";
    case PressureCause::kQueue: return "shed;queue";
  }
  return "shed;none";
}

}  // namespace

std::shared_ptr<TokenStream> EngineLoop::make_stream() {
  return std::make_shared<TokenStream>([inbox = inbox_] { inbox->wake(); },
                                       options_.stream_bytes_max);
}

Result<void> EngineLoop::submit(EngineRequest request) {
  std::vector<EngineRequest> one;
  one.push_back(std::move(request));
  return submit_all(std::move(one));
}

// How it stands in the queue's books.
Result<QueueEntry> EngineLoop::check_submitted(EngineRequest& request) {
  ZH_CHECK(!request.prompt.empty() && request.stage != nullptr && request.stream != nullptr);
  ZH_CHECK(request.top_logprobs.value_or(0) <= limits::kTopLogprobsMax);
  if (request.prompt.size() > options_.window) {
    return prompt_too_long(request.prompt.size(), options_.window);
  }
  if (request.scheduling.deadline && *request.scheduling.deadline <= request.submitted_at) {
    return Error{ErrorCode::kTimeout, "the deadline was over before the request came", "", {}};
  }
  if (request.constraint || request.soft_rules) {
    const Result<void> able = prepare_constraints();
    if (request.constraint) ZH_RETURN_IF_ERROR(able);
  }
  request.prompt_shared = request.prompt_shared && shares_prompts_;
  // What of it is cached the engine will know; until then it is taken for one like the others.
  const double uncached =
      request.prompt_shared ? 1 : static_cast<double>(request.prompt.size()) * uncached_share_;
  return QueueEntry{request.scheduling.tenant, request.scheduling.priority,
                    static_cast<std::uint32_t>(std::ceil(uncached))};
}

// The first of several answers would stand in front of the next one of its own tenant, which an
// engine that sheds then refused: so all are asked for at once.
Result<void> EngineLoop::submit_all(std::vector<EngineRequest> answers) {
  ZH_CHECK(!answers.empty());
  std::vector<QueueEntry> entries;
  for (EngineRequest& answer : answers) {
    ZH_ASSIGN_OR_RETURN(answer.queued, check_submitted(answer));
    entries.push_back(answer.queued);
  }
  const QueueEntry& first = entries.front();
  const PressureCause cause = door_.refuses(first.tenant, first.priority);
  if (cause != PressureCause::kNone) {
    return Error{ErrorCode::kShed, "the server has more work than it can take on", "",
                 std::chrono::seconds(1), shed_detail(cause)};
  }
  InFront in_front = books_.in_front(first.tenant, first.priority);
  if (const std::optional<QueueBound> bound = books_.enter_all(entries)) {
    return Error{ErrorCode::kOverloaded, std::string(queue_bound_text(*bound)), "",
                 std::chrono::seconds(1), queue_bound_detail(*bound)};
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].in_front = in_front;
    in_front.requests += 1;
    in_front.tokens += entries[i].tokens;
    if (inbox_->try_push(std::move(answers[i]))) continue;
    // It is closed: what is in it ends with the engine.
    for (; i < entries.size(); ++i) books_.leave(entries[i]);
    return shutting_down();
  }
  return {};
}

Result<void> EngineLoop::submit_warm(WarmPrefix prefix) {
  if (prefix.tokens.empty()) return invalid_request("tokens", "must not be empty");
  if (prefix.tokens.size() > options_.window) {
    return prompt_too_long(prefix.tokens.size(), options_.window);
  }
  if (options_.exactness == Exactness::kExact) {
    return Error{ErrorCode::kConfiguration, "the deterministic mode reuses nothing", "", {}};
  }
  if (stopping_) return shutting_down();
  if (!warm_inbox_.try_push(std::move(prefix))) {
    return Error{ErrorCode::kOverloaded, "too many warm prefixes", "", {}};
  }
  inbox_->wake();
  return {};
}

Result<std::shared_ptr<EmbeddingJob>> EngineLoop::submit_embedding(EmbeddingRequest request) {
  return embedder_.submit(std::move(request), [inbox = inbox_] { inbox->wake(); });
}

}  // namespace zerohop
