// Slots: who gets one, who waits aside, who gives one away. See engine_loop.h.

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cache/sorted_prompts.h"
#include "engine/engine_loop.h"
#include "engine/soft_limit.h"

namespace zerohop {
namespace {

// A prompt waits for another one's prefill when that spares it this many rows. Fewer are one tile
// of a step, which costs less than the wait.
constexpr std::int32_t kPrefixWaitTokensMin = static_cast<std::int32_t>(limits::kRowTile);

// While somebody decodes, no further sequence gets a slot in a step once this part of the objective
// was spent: a placement may have to copy what it evicts to host memory, 6 µs a token on the
// default model (what the books take is far less, prefix_cache_bench.cc). One placement is not cut:
// in pieces a long prompt would wait for several steps, while all of it, 8,192 tokens, takes 49 ms,
// by which this step's rows are cut short (plan()), so that nobody waits longer for it.
constexpr int kPlaceTimePart = 2;

}  // namespace

// In fair order. The first that finds no room waits and nobody overtakes it, or a stream of short
// requests could keep a long one out for ever; who waits for a prefix stands aside and holds up
// nobody.
void EngineLoop::place_waiting() {
  if (stopping_ || (faults_.short_of_room() && !running_.empty())) return;
  waiting_.call_up([this](const Sequence& sequence) { return is_ready(sequence); });
  const Duration time = options_.itl_objective / kPlaceTimePart;
  while (Sequence* sequence = next_to_place()) {
    if (clock_.now() - now_ > time && somebody_decodes()) return;
    if (auto error = find_constraint(*sequence)) {
      refuse(*sequence, *std::move(error));
    } else if (hopeless(*sequence, uncached_tokens(*sequence))) {
      const SequencePtr owner = waiting_.leave(*sequence);
      leave_unstarted(*owner);
      refuse_hopeless(*owner);
    } else if ((sequence->aside = prefix_to_wait_for(*sequence))) {
      waiting_.stand_aside(*sequence);
    } else if (!place(*sequence) && !park_for(*sequence)) {
      if (!running_.empty()) return;
      log_error("a request found no room in an empty context", {});
      refuse(*sequence, {ErrorCode::kInternal, "there is no room for the request", "", {}});
    }
  }
}

// It ends without having had a slot.
void EngineLoop::refuse(Sequence& sequence, Error error) {
  const SequencePtr owner = waiting_.leave(sequence);
  leave_unstarted(*owner);
  fail(*owner, std::move(error), Keep::kNothing);
}

// Whose turn it is, if need be in the place of somebody who was served more.
Sequence* EngineLoop::next_to_place() {
  if (waiting_.size() == waiting_.aside()) return nullptr;
  if (Sequence* sequence = waiting_.next(now_)) return sequence;
  const Sequence* head = waiting_.head(now_);
  if (head == nullptr || !park_for(*head)) return nullptr;
  return waiting_.next(now_);
}

// What is sure of its answer would not come in time, if it started now beside all that runs.
bool EngineLoop::hopeless(const Sequence& sequence, std::uint32_t uncached) const {
  const auto deadline = sequence.deadline();
  if (!deadline || sequence.started()) return false;
  const std::uint32_t sure = std::min(sequence.output_limit, lengths_.least());
  const ServiceQuestion question{uncached, sure, options_.itl_objective};
  const auto latest = latest_start(state_, question, *deadline);
  return latest && now_ > *latest;
}

// It waits no more, or never did.
void EngineLoop::refuse_hopeless(Sequence& sequence) {
  ++state_.deadlines_refused;
  fail(sequence, {ErrorCode::kTimeout, "the deadline of the request cannot be met", "", {}},
       Keep::kNothing);
}

// Whether a prompt that is being computed right now begins with the same tokens: then most of this
// one will be there for the taking once that is done, while a start now would compute it twice (or
// n times, for n answers to one prompt). It ends: a prompt in prefill advances or goes away. Who is
// waited for is as urgent as the most urgent one that waits.
std::optional<Aside> EngineLoop::prefix_to_wait_for(const Sequence& sequence) {
  if (!shares_prompts_ || sequence.started()) return std::nullopt;
  Sequence* leader = nullptr;
  std::int32_t coming = 0;
  const ScopeId scope = sequence.request.cache.scope;
  for (const SequencePtr& other : running_) {
    const ScopeId theirs = other->request.cache.scope;
    if (other->phase != Phase::kPrefill || (theirs != scope && theirs != kPublicScope)) continue;
    const auto common = static_cast<std::int32_t>(common_prefix(other->tokens, sequence.tokens));
    if (common <= coming) continue;
    coming = common;
    leader = other.get();
  }
  if (coming < kPrefixWaitTokensMin) return std::nullopt;
  const std::int32_t there = cache_.match(scope, sequence.tokens).tokens;
  if (coming - std::max(there, leader->computed) < kPrefixWaitTokensMin) return std::nullopt;
  leader->urgency = std::min(leader->urgency, sequence.priority());
  leader->urgency_counter = std::min(leader->urgency_counter, queue_.counter(sequence.work()));
  return Aside{leader->work(), coming};
}

// What a sequence stood aside for is there.
bool EngineLoop::is_ready(const Sequence& sequence) {
  if (!sequence.aside->leader) return sequence.request.stream->has_room();
  const Sequence* leader = find_running(*sequence.aside->leader);
  const bool coming = leader != nullptr && leader->phase == Phase::kPrefill &&
                      leader->computed < sequence.aside->tokens;
  if (!coming) queue_.set_uncached(sequence.work(), uncached_tokens(sequence));
  return !coming;
}

std::uint32_t EngineLoop::uncached_tokens(const Sequence& sequence) const {
  const PrefixMatch match = cache_.match(sequence.request.cache.scope, sequence.tokens);
  return static_cast<std::uint32_t>(sequence.size() - match.tokens);
}

Sequence* EngineLoop::find_running(WorkId id) const {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [id](const SequencePtr& s) { return s->work() == id; });
  return found == running_.end() ? nullptr : found->get();
}

bool EngineLoop::place(Sequence& sequence) {
  const bool fresh = !sequence.started();
  if (fresh) set_output_limit(sequence);
  if (!occupy(sequence)) return false;
  leave_unstarted(sequence);
  Sequence& placed = enter_running(waiting_.start(sequence, now_));
  if (fresh) {
    begin(placed);
  } else {
    ++state_.resumes;
  }
  return true;
}

// Finds a slot and fills it with what is there of the sequence's tokens. False: no room.
bool EngineLoop::occupy(Sequence& sequence) {
  PlaceRequest request;
  request.tokens = sequence.tokens;
  request.cells_ahead = sequence.cells_ahead(options_.look_ahead_tokens);
  request.scope = sequence.request.cache.scope;
  request.priority = sequence.priority();
  request.affinity = sequence.request.cache.affinity;
  request.marked_tokens = sequence.request.marked_tokens;
  request.mark_lifetime = sequence.request.cache.mark_lifetime;
  request.now = now_;
  PlaceResult result = cache_.place(request);
  if (!result.placement && running_.empty()) {
    // A window always fits; what is in the way is pinned.
    executor_.carry_out(cache_.drop_idle());
    result = cache_.place(request);
  }
  if (!result.placement) return false;
  const std::int32_t held = executor_.carry_out(*result.placement);
  sequence.slot = result.placement->slot;
  sequence.computed = held;
  sequence.promised_cells = static_cast<std::uint32_t>(sequence.size()) + request.cells_ahead;
  // With fewer cells than planned the promise may not reach as far.
  if (held < result.placement->tokens_reused)
    sequence.promised_cells = static_cast<std::uint32_t>(held);
  sequence.started_at = now_;
  state_.prompt_tokens_restored +=
      static_cast<std::uint64_t>(std::min(held, result.placement->tokens_restored));
  return true;
}

// The first time that a sequence has a slot.
void EngineLoop::begin(Sequence& sequence) {
  // A budget was asked while the request came in. Billing more than it granted, because somebody
  // else's prompt pushed cells out meanwhile, would overdraw it.
  const auto found = static_cast<std::uint32_t>(sequence.computed);
  sequence.usage.prompt_tokens_cached = std::max(found, sequence.promised_cached);
  sequence.charged = sequence.computed;
  sequence.began_at = now_;
  if (sequence.warm) return;
  if (sequence.constraint) begin_constraint(sequence);
  state_.prompt_tokens_cached += found;
  Started started{sequence.usage, now_ - sequence.request.submitted_at};
  if (options_.exactness == Exactness::kFast) {
    const CacheWishes& wishes = sequence.request.cache;
    started.miss =
        misses_.explain({sequence.tokens, wishes.sections, wishes.scope, wishes.affinity},
                        sequence.computed, cache_.last_cap());
    const auto cause = static_cast<std::size_t>(started.miss.cause);
    ++state_.misses[cause];
    state_.missed_tokens[cause] += started.miss.missed_tokens;
  }
  started.soft_max_tokens = sequence.soft_limit;
  started.first_token_expected = sequence.first_token_expected;
  if (sequence.soft_limit > 0) ++state_.soft_max_tokens_applied;
  emit(sequence, started);
}

void EngineLoop::set_output_limit(Sequence& sequence) const {
  const std::uint32_t wanted = sequence.request.max_tokens;
  sequence.output_limit = longest_answer(sequence);
  sequence.limit_reason =
      wanted == sequence.output_limit ? FinishReason::kMaxTokens : FinishReason::kContextWindow;
  sequence.soft_limit = 0;
  shorten_softly(sequence);
}

// What was asked for and has room behind the prompt.
std::uint32_t EngineLoop::longest_answer(const Sequence& sequence) const {
  return std::min(sequence.request.max_tokens, options_.window - sequence.usage.prompt_tokens);
}

// The longest answer of one that allows it to be shorter; a structure fits in it all the same.
void EngineLoop::shorten_softly(Sequence& sequence) const {
  if (!sequence.request.scheduling.soft_max_tokens || !ladder_.state().soft_max_tokens) return;
  const CacheCounts cells = cache_.counts();
  SoftPressure pressure;
  pressure.fragmentation = state_.fragmentation;
  pressure.promised = promised_share(cells.cells_active, cells.cells_reserved, cells.cells_total);
  std::uint32_t limit = soft_max_tokens(sequence.output_limit, pressure);
  if (sequence.constraint) {
    const std::size_t least = sequence.constraint->tokens_needed().value_or(0);
    limit = std::max(limit, static_cast<std::uint32_t>(least));
  }
  if (limit >= sequence.output_limit) return;
  sequence.output_limit = sequence.soft_limit = limit;
  sequence.limit_reason = FinishReason::kMaxTokens;
}

Sequence& EngineLoop::enter_running(SequencePtr sequence) {
  sequence->go_on();
  const auto place =
      std::upper_bound(running_.begin(), running_.end(), sequence,
                       [](const SequencePtr& a, const SequencePtr& b) { return a->id < b->id; });
  return **running_.insert(place, std::move(sequence));
}

// Every running sequence has cells for what it will compute next. The oldest of the highest class
// comes first, so that it is never the one that finds none.
void EngineLoop::promise_cells() {
  short_.clear();
  for (const SequencePtr& sequence : running_) {
    if (sequence->tokens.size() > sequence->promised_cells) short_.push_back(sequence.get());
  }
  if (short_.size() > 1) {
    std::sort(short_.begin(), short_.end(), [](const Sequence* a, const Sequence* b) {
      return std::pair(a->priority(), a->id) < std::pair(b->priority(), b->id);
    });
  }
  for (Sequence* sequence : short_) {
    while (sequence->has_slot() && !reserve(*sequence)) make_room(*sequence);
  }
}

bool EngineLoop::reserve(Sequence& sequence) {
  for (const std::uint32_t more : {sequence.cells_ahead(options_.look_ahead_tokens), 0u}) {
    if (promise(sequence, more)) return true;
  }
  return false;
}

// Cells for its tokens and so many more. False: there are not so many, and nothing changed.
bool EngineLoop::promise(Sequence& sequence, std::uint32_t more) {
  const auto pending = static_cast<std::uint32_t>(sequence.pending());
  const std::optional<CachePlan> plan = cache_.reserve(sequence.slot, pending + more, now_);
  if (!plan) return false;
  executor_.carry_out(*plan);
  sequence.promised_cells = static_cast<std::uint32_t>(sequence.size()) + more;
  return true;
}

}  // namespace zerohop
