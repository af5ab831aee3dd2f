// The frame of the step loop: what comes in, the order of a step, what ends before its time. See
// engine_loop.h.

#include "engine/engine_loop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/service_estimate.h"

namespace zerohop {
namespace {

// Between two checks of all books pass as many times what one takes.
constexpr int kChecksApart = 100;

// Of a step's time while embeddings wait, the share that they get: one part of four, or what their
// smallest piece takes.
constexpr int kEmbeddingShare = 4;

PrefixCacheOptions cache_options(const EngineOptions& options) {
  PrefixCacheOptions cache = options.cache;
  if (options.exactness == Exactness::kExact) cache.keep = KeepRule::kNothing;
  return cache;
}

ConcurrencyOptions concurrency_options(const EngineOptions& options,
                                       const KvCapabilities& capabilities) {
  ConcurrencyOptions concurrency = options.concurrency;
  if (concurrency.ceiling == 0) concurrency.ceiling = capabilities.sequences;
  ZH_CHECK(concurrency.ceiling <= capabilities.sequences);
  return concurrency;
}

FairQueueOptions queue_options(const EngineOptions& options, const KvCapabilities& capabilities) {
  FairQueueOptions queue = options.fairness;
  queue.sequences = concurrency_options(options, capabilities).ceiling;
  return queue;
}

ConstraintsOptions constraints_options(const EngineOptions& options) {
  ConstraintsOptions constraints;
  constraints.mask_bytes_max = options.constraint_mask_bytes;
  constraints.machines.machine_bytes_max = options.constraint_machine_bytes;
  constraints.machines.idle_bytes_max = options.constraint_idle_bytes;
  return constraints;
}

// Whether equal prompts that come together are computed once.
bool shares_prompts(const EngineOptions& options, const KvCapabilities& able) {
  const bool can_share = able.can_share_range || (able.can_copy_whole && able.can_cut_tail);
  return can_share && options.exactness != Exactness::kExact &&
         options.cache.keep != KeepRule::kNothing;
}

Error too_late(std::string message) {
  return Error{ErrorCode::kTimeout, std::move(message), "", {}};
}

// Shows nothing: a warm prefix has no reader.
class SilentStage final : public OutputStage {
 public:
  StageVerdict accept(Token, std::string_view, std::vector<Event>&) override { return {}; }
  FinishReason flush(FinishReason reason, std::vector<Event>&) override { return reason; }
};

}  // namespace

Error EngineLoop::shutting_down() {
  return Error{ErrorCode::kShuttingDown, "the server is shutting down", "",
               std::chrono::seconds(1)};
}

EngineLoop::EngineLoop(EngineParts parts, EngineOptions options)
    : options_(std::move(options)),
      table_(*parts.tokens),
      clock_(*parts.clock),
      waker_(*parts.waker),
      inbox_(std::make_shared<Inbox>(options_.queue.requests_max)),
      shares_prompts_(shares_prompts(options_, parts.context->capabilities())),
      warm_inbox_(limits::kWarmPrefixesMax),
      books_(options_.queue),
      door_(books_, options_.pressure.wait_max),
      context_(std::move(parts.context)),
      cache_(context_->capabilities(), cache_options(options_)),
      executor_(*context_, cache_, clock_),
      queue_(queue_options(options_, context_->capabilities())),
      waiting_(queue_),
      ladder_(options_.pressure),
      misses_(options_.misses),
      constraints_({parts.tokens, parts.clock, std::move(parts.tokenize)},
                   constraints_options(options_)),
      embedder_(
          std::move(parts.embedding),
          EmbedderOptions{options_.queue.requests_max, options_.exactness == Exactness::kExact,
                          parts.clock, [this] { return stopping_.load(); }}) {
  ZH_CHECK(options_.window <= context_->capabilities().slot_cells);
  context_->set_abort([this] { return stopping_.load() || outran() || all_dead(); });
  const ConcurrencyOptions concurrency = concurrency_options(options_, context_->capabilities());
  if (concurrency.floor < concurrency.ceiling) concurrency_.emplace(concurrency);
  if (adapts_threads()) threads_.emplace(context_->threads());
  state_.threads = context_->threads();
  rows_.reserve(options_.batch_rows);
  publish();
}

EngineLoop::~EngineLoop() { ZH_CHECK(waiting_.empty() && running_.empty()); }

EngineSnapshot EngineLoop::snapshot() const {
  const std::scoped_lock lock(snapshot_mutex_);
  EngineSnapshot copy = published_;
  // Fresher than the last step: what has arrived since.
  const QueueBooks::Totals waiting = books_.totals();
  copy.queued_by_class = waiting.requests;
  copy.queued_tokens_by_class = waiting.tokens;
  copy.queued = 0;
  for (const std::uint32_t requests : waiting.requests) copy.queued += requests;
  return copy;
}

void EngineLoop::stop() {
  stopping_ = true;
  embedder_.close();
  warm_inbox_.close();
  inbox_->close();
}

bool EngineLoop::wait() {
  check_when_idle();
  const std::optional<Duration> due = due_in();
  const bool open = due ? inbox_->wait_for(*due) : inbox_->wait();
  return open && !stopping_;
}

// Looks at every prefix that is cached, and whoever comes next waits for that: so no more than a
// hundredth of the time goes into it. A lone client who asks again and again made the engine idle
// thousands of times a second, and behind 12,000 saved prefixes a request took four times as long.
void EngineLoop::check_when_idle() {
  const TimePoint begin = clock_.now();
  if (begin < next_check_) return;
  check_integrity();
  const TimePoint end = clock_.now();
  next_check_ = end + (end - begin) * kChecksApart;
}

// Idle means idle, unless something happens by time alone: a deadline of somebody who cannot go on,
// or a rung of the ladder that is left after a while.
std::optional<Duration> EngineLoop::due_in() const {
  std::optional<TimePoint> due;
  const auto look = [&due](const Sequence& sequence) {
    const auto deadline = sequence.deadline();
    if (deadline && (!due || *deadline < *due)) due = deadline;
  };
  waiting_.for_each(look);
  for (const SequencePtr& sequence : running_) look(*sequence);
  const TimePoint now = clock_.now();
  const PressureState& rung = ladder_.state();
  if (rung.rung > PressureRung::kCompact && rung.cause != PressureCause::kFragmentation) {
    const TimePoint next = now + options_.pressure.dwell_min;
    due = due ? std::min(*due, next) : next;
  }
  if (!due) return std::nullopt;
  return std::max(*due - now, Duration::zero());
}

bool EngineLoop::step() {
  now_ = clock_.now();
  take_inbox();
  take_warm();
  end_dead();
  promise_cells();
  const bool relieved = relieve_pressure();
  park_slow_reader(options_.parking.paused_max);
  limit_concurrency();
  place_waiting();
  promise_cells();  // to those whose slots hold less than was hoped
  wake_readers();
  embedding_ = !stopping_ && embedder_.take_work();
  bool planned = !stopping_ && plan();
  // Whoever runs waits for a reader, and somebody else could be computed.
  while (!planned && !stopping_ && park_slow_reader(Duration::zero())) {
    place_waiting();
    promise_cells();
    wake_readers();
    planned = plan();
  }
  if (planned) compute_step();
  if (embedding_) {
    const TimePoint begin = clock_.now();
    embedder_.step(embedding_budget());
    state_.busy += clock_.now() - begin;
  }
  if (!planned || embedding_) publish();  // else compute_step() has done so
  return planned || embedding_ || relieved;
}

void EngineLoop::compute_step() {
  StepReport report;
  report.decodes = std::ranges::any_of(
      step_sequences_, [](const Sequence* s) { return s->phase == Phase::kDecode; });
  const Duration masked = state_.constraints.mask_time;
  sampling_ = Duration::zero();
  const TimePoint begin = clock_.now();
  choose_threads();
  const DecodeStatus status = run();
  const Duration took = clock_.now() - begin;
  if (status == DecodeStatus::kOk) {
    learn_step(took);
    charge_rent();
    commit();
  } else {
    if (status == DecodeStatus::kAborted && outran() && !all_dead()) note_outrun();
    undo(status);
  }
  state_.busy += clock_.now() - begin;
  state_.last_step = took;
  state_.last_step_rows = step_size_.rows;
  report.duration = took;
  report.rows = step_size_.rows;
  report.sampled = sampled_;
  report.sampling = sampling_;
  report.status = status;
  step_sequences_.clear();
  sweep();
  publish();
  report.masking = state_.constraints.mask_time - masked;
  report.fragmentation = state_.fragmentation;
  wake_readers();
  if (options_.on_step) options_.on_step(report);
}

Duration EngineLoop::embedding_share() const {
  return std::max(options_.itl_objective / kEmbeddingShare, embedder_.smallest_piece());
}

// Whoever decodes waits for this piece, too.
Duration EngineLoop::embedding_budget() const {
  return somebody_decodes() ? embedding_share() : options_.itl_objective;
}

bool EngineLoop::somebody_decodes() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const SequencePtr& s) { return s->phase == Phase::kDecode; });
}

SequencePtr EngineLoop::make_sequence(EngineRequest request) {
  auto sequence = std::make_unique<Sequence>();
  sequence->id = EngineRequestId(next_id_++);
  sequence->tokens = std::move(request.prompt);
  sequence->usage.prompt_tokens = static_cast<std::uint32_t>(sequence->tokens.size());
  sequence->usage.prompt_tokens_marked = request.marked_tokens;
  sequence->random =
      Random(request.sampling.seed.value_or(mix64(options_.seed ^ mix64(sequence->id.value))));
  if (uses_penalties(request.sampling)) {
    sequence->counts.emplace();
    if (penalises_prompt(request.sampling)) sequence->counts->add_prompt(sequence->tokens);
  }
  sequence->request = std::move(request);
  set_output_limit(*sequence);
  sequence->uncached = uncached_tokens(*sequence);
  return sequence;
}

// By what is known on its arrival: operators can hold it against what came of it.
void EngineLoop::expect_first_token(Sequence& sequence) const {
  ServiceQuestion question;
  question.uncached_tokens = std::max(sequence.uncached, 1u);
  question.itl_objective = options_.itl_objective;
  question.in_front = sequence.request.in_front;
  const std::optional<ServiceEstimate> estimate = estimate_service(state_, question);
  if (!estimate) return;
  sequence.first_token_expected = now_ - sequence.request.submitted_at + estimate->first_token;
}

void EngineLoop::take_inbox() {
  arrived_.clear();
  inbox_->drain(arrived_);
  for (EngineRequest& request : arrived_) {
    if (request.scheduling.soft_max_tokens) ++soft_allowed_;
    SequencePtr sequence = make_sequence(std::move(request));
    if (!sequence->request.prompt_shared) {
      books_.recount(sequence->request.queued, sequence->uncached);
    }
    expect_first_token(*sequence);
    if (hopeless(*sequence, sequence->uncached)) {
      leave_unstarted(*sequence);
      refuse_hopeless(*sequence);
      continue;
    }
    if (std::optional<Error> refused = meter_refusal(*sequence)) {
      leave_unstarted(*sequence);
      fail(*sequence, *std::move(refused), Keep::kNothing);
      continue;
    }
    std::optional<TimePoint> start_by;
    if (const std::optional<TimePoint> deadline = sequence->deadline()) {
      start_by = latest_start(
          state_, {sequence->uncached, sequence->output_limit, options_.itl_objective}, *deadline);
    }
    waiting_.admit(std::move(sequence), start_by);
  }
}

// Whether a budget has no room for its prompt, of which it is known here what has to be computed.
std::optional<Error> EngineLoop::meter_refusal(Sequence& sequence) const {
  if (!sequence.request.meter) return std::nullopt;
  // The last token is computed in any case: its logits are not kept.
  const std::uint32_t uncached = std::max(sequence.uncached, 1u);
  sequence.promised_cached = static_cast<std::uint32_t>(sequence.size()) - uncached;
  return sequence.request.meter->admit_prompt({uncached, sequence.promised_cached});
}

// A warm prefix goes the way of a request that wants no answer: it is found in the state that was
// handed over, up to its last token, or computed.
void EngineLoop::take_warm() {
  std::vector<WarmPrefix> arrived;
  warm_inbox_.drain(arrived);
  for (WarmPrefix& prefix : arrived) {
    cache_.pin(prefix.scope, prefix.tokens);
    if (!prefix.state.empty()) {
      const std::optional<BlobId> blob =
          cache_.adopt(prefix.scope, prefix.tokens, prefix.state.size());
      if (blob) executor_.adopt(*blob, std::exchange(prefix.state, {}));
    }
    EngineRequest request;
    request.prompt = prefix.tokens;
    request.scheduling.priority = PriorityClass::kBatch;
    request.cache.scope = prefix.scope;
    request.stage = std::make_unique<SilentStage>();
    request.stream = make_stream();
    request.submitted_at = now_;
    SequencePtr sequence = make_sequence(std::move(request));
    sequence->warm = std::make_unique<WarmPrefix>(std::move(prefix));
    waiting_.admit(std::move(sequence));
  }
}

// Whoever went away or is too late ends here, in any phase.
void EngineLoop::end_dead() {
  dead_.clear();
  waiting_.for_each([this](Sequence& sequence) {
    if (sequence.cancelled() || sequence.too_late(now_)) dead_.push_back(&sequence);
  });
  for (Sequence* sequence : dead_) {
    const SequencePtr owner = waiting_.leave(*sequence);
    leave_unstarted(*owner);
    end_early(*owner);
  }
  bool ended = false;
  for (const SequencePtr& sequence : running_) {
    if (!sequence->cancelled() && !sequence->too_late(now_)) continue;
    end_early(*sequence);
    ended = true;
  }
  if (ended) sweep();
}

void EngineLoop::end_early(Sequence& sequence) {
  if (sequence.cancelled()) {
    count_cancelled(sequence);
    if (sequence.has_slot()) release_slot(sequence, Keep::kCells);
    forget(sequence);
    return;
  }
  if (!sequence.started()) ++state_.deadlines_refused;
  fail(sequence, too_late("the deadline of the request is over"), Keep::kCells);
}

// It was new and waited; now it has a slot, or ends.
void EngineLoop::leave_unstarted(const Sequence& sequence) {
  if (sequence.started() || sequence.warm) return;
  books_.leave(sequence.request.queued);
}

void EngineLoop::fail_all() {
  now_ = clock_.now();
  take_inbox();
  end_dead();
  for (const SequencePtr& sequence : running_) fail(*sequence, shutting_down(), Keep::kCells);
  running_.clear();
  dead_.clear();
  waiting_.for_each([this](Sequence& sequence) { dead_.push_back(&sequence); });
  for (Sequence* sequence : dead_) refuse(*sequence, shutting_down());
  embedder_.fail_all(shutting_down());
  publish();
  wake_readers();
}

void EngineLoop::check_integrity() const {
  cache_.check_integrity();
  queue_.check_integrity();
  waiting_.check_integrity();
  ZH_CHECK(cache_.counts().slots_running == running_.size());
  ZH_CHECK(queue_.running() == running_.size());
  for (const SequencePtr& sequence : running_) {
    sequence->check();
    ZH_CHECK(cache_.held(sequence->slot) == sequence->computed);
  }
  const auto slots = static_cast<std::int32_t>(context_->capabilities().slots);
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    ZH_CHECK(context_->positions(SlotId(slot)).end == cache_.held(SlotId(slot)));
  }
  ZH_CHECK(executor_.blobs().total_bytes() == cache_.counts().host_bytes);
  ZH_CHECK(executor_.blobs().size() == cache_.counts().host_entries);
}

}  // namespace zerohop
