// The plan part of the step loop, and its frame. See engine_loop.h.

#include <algorithm>

#include "engine/engine_loop.h"
#include "engine/plan_executor.h"

namespace zerohop {
namespace {

// Of a step's time while embeddings wait, the share that they get: one part of four, or what their
// smallest piece takes.
constexpr int kEmbeddingShare = 4;

// A queued prompt waits for another one's prefill when that spares it this many rows. Fewer are one
// tile of a step, which costs less than the wait.
constexpr std::int32_t kPrefixWaitTokensMin = static_cast<std::int32_t>(limits::kRowTile);

}  // namespace

EngineLoop::EngineLoop(EngineParts parts, EngineOptions options)
    : options_(std::move(options)),
      table_(*parts.tokens),
      clock_(*parts.clock),
      waker_(*parts.waker),
      inbox_(std::make_shared<Inbox>(options_.queue_max)),
      context_(std::move(parts.context)),
      cache_(context_->capabilities()),
      embedder_(std::move(parts.embedding),
                EmbedderOptions{options_.queue_max, options_.exactness == Exactness::kExact,
                                parts.clock, [this] { return stopping_.load(); }}) {
  ZH_CHECK(options_.window <= context_->capabilities().slot_cells);
  context_->set_abort([this] { return stopping_.load() || all_cancelled(); });
  rows_.reserve(options_.batch_rows);
  publish();
}

EngineLoop::~EngineLoop() { ZH_CHECK(queued_.empty() && running_.empty()); }

std::shared_ptr<TokenStream> EngineLoop::make_stream() {
  return std::make_shared<TokenStream>([inbox = inbox_] { inbox->wake(); },
                                       options_.stream_bytes_max);
}

Result<void> EngineLoop::submit(EngineRequest request) {
  ZH_CHECK(!request.prompt.empty() && request.stage != nullptr && request.stream != nullptr);
  ZH_CHECK(request.top_logprobs.value_or(0) <= limits::kTopLogprobsMax);
  if (request.prompt.size() > options_.window) {
    return prompt_too_long(request.prompt.size(), options_.window);
  }
  if (waiting_.fetch_add(1) >= options_.queue_max) {
    waiting_.fetch_sub(1);
    return Error{ErrorCode::kOverloaded, "the queue is full", "", std::chrono::seconds(1)};
  }
  if (!inbox_->try_push(std::move(request))) {
    waiting_.fetch_sub(1);
    return Error{ErrorCode::kShuttingDown, "the server is shutting down", "",
                 std::chrono::seconds(1)};
  }
  return {};
}

Result<std::shared_ptr<EmbeddingJob>> EngineLoop::submit_embedding(EmbeddingRequest request) {
  return embedder_.submit(std::move(request), [inbox = inbox_] { inbox->wake(); });
}

EngineSnapshot EngineLoop::snapshot() const {
  const std::scoped_lock lock(snapshot_mutex_);
  EngineSnapshot copy = published_;
  // Fresher than the last step: what has arrived since.
  copy.queued = static_cast<std::uint32_t>(waiting_.load());
  return copy;
}

void EngineLoop::stop() {
  stopping_ = true;
  embedder_.close();
  inbox_->close();
}

bool EngineLoop::wait() {
  check_integrity();
  return inbox_->wait() && !stopping_;
}

bool EngineLoop::step() {
  take_inbox();
  drop_cancelled();
  place_queued();
  wake_readers();
  embedding_ = !stopping_ && embedder_.take_work();
  const bool planned = !stopping_ && plan();
  if (planned) compute_step();
  if (embedding_) {
    const TimePoint begin = clock_.now();
    embedder_.step(embedding_budget());
    state_.busy += clock_.now() - begin;
  }
  publish();
  return planned || embedding_;
}

void EngineLoop::compute_step() {
  const TimePoint begin = clock_.now();
  const DecodeStatus status = run();
  const Duration took = clock_.now() - begin;
  if (status == DecodeStatus::kOk) {
    cost_.learn(step_size_, took);
    commit();
  } else {
    undo(status);
  }
  state_.busy += clock_.now() - begin;
  state_.last_step = took;
  state_.last_step_rows = step_size_.rows;
  const StepReport report{took, step_size_.rows, sampled_, status};
  step_sequences_.clear();
  sweep();
  publish();
  wake_readers();
  if (options_.on_step) options_.on_step(report);
}

Duration EngineLoop::embedding_share() const {
  return std::max(options_.itl_objective / kEmbeddingShare, embedder_.smallest_piece());
}

// Whoever decodes waits for this piece, too.
Duration EngineLoop::embedding_budget() const {
  const bool watched = std::any_of(running_.begin(), running_.end(),
                                   [](const SequencePtr& s) { return s->phase == Phase::kDecode; });
  return watched ? embedding_share() : options_.itl_objective;
}

void EngineLoop::take_inbox() {
  std::vector<EngineRequest> arrived;
  inbox_->drain(arrived);
  for (EngineRequest& request : arrived) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = EngineRequestId(next_id_++);
    sequence->tokens = std::move(request.prompt);
    sequence->usage.prompt_tokens = static_cast<std::uint32_t>(sequence->tokens.size());
    sequence->usage.prompt_tokens_marked = request.marked_tokens;
    const std::uint32_t room = options_.window - sequence->usage.prompt_tokens;
    sequence->output_limit = std::min(request.max_tokens, room);
    sequence->limit_reason =
        request.max_tokens <= room ? FinishReason::kMaxTokens : FinishReason::kContextWindow;
    sequence->random =
        Random(request.sampling.seed.value_or(mix64(options_.seed ^ mix64(sequence->id.value))));
    if (uses_penalties(request.sampling)) {
      sequence->counts.emplace();
      if (penalises_prompt(request.sampling)) sequence->counts->add_prompt(sequence->tokens);
    }
    sequence->request = std::move(request);
    queued_.push_back(std::move(sequence));
  }
}

void EngineLoop::drop_cancelled() {
  std::erase_if(queued_, [this](const SequencePtr& sequence) {
    if (!sequence->cancelled()) return false;
    count_cancelled(*sequence);
    waiting_.fetch_sub(1);
    return true;
  });
  std::erase_if(running_, [this](const SequencePtr& sequence) {
    if (!sequence->cancelled()) return false;
    count_cancelled(*sequence);
    release_slot(*sequence, kept_cells());
    return true;
  });
}

// In order of arrival; the first that does not fit, or that waits for a prefix, waits and nobody
// overtakes it.
void EngineLoop::place_queued() {
  while (!queued_.empty() && !waits_for_prefix(*queued_.front()) && place(*queued_.front())) {
    running_.push_back(std::move(queued_.front()));
    queued_.pop_front();
    waiting_.fetch_sub(1);
  }
}

// Whether another prompt that is being computed right now begins with the same tokens: then most of
// this prompt will be there for the taking once that is done, while a start now would compute it
// twice (or n times, for n answers to one prompt). Those behind it wait as well. That costs them
// little: prompts are computed in order of arrival, so the one being computed comes first anyway.
// It ends: a prompt in prefill advances or goes away.
bool EngineLoop::waits_for_prefix(const Sequence& sequence) const {
  if (!context_->capabilities().can_share_range) return false;
  if (options_.exactness == Exactness::kExact) return false;
  const TokenSpan prompt(sequence.tokens);
  std::int32_t coming = 0;
  for (const SequencePtr& other : running_) {
    if (other->phase != Phase::kPrefill) continue;
    coming = std::max(coming, common_prefix(other->tokens, prompt));
  }
  if (coming < kPrefixWaitTokensMin) return false;
  return coming - cache_.match_length(prompt) >= kPrefixWaitTokensMin;
}

bool EngineLoop::place(Sequence& sequence) {
  const std::optional<Placement> placement = cache_.place(sequence.tokens, sequence.cells_needed());
  if (!placement) return false;
  const std::int32_t held = execute_placement(*context_, *placement);
  if (held != placement->tokens_reused) cache_.correct(placement->slot, held);
  sequence.slot = placement->slot;
  sequence.computed = held;
  sequence.phase = Phase::kPrefill;
  sequence.usage.prompt_tokens_cached = static_cast<std::uint32_t>(held);
  state_.prompt_tokens_cached += static_cast<std::uint64_t>(held);
  sequence.check();
  emit(sequence, Started{sequence.usage, clock_.now() - sequence.request.submitted_at});
  return true;
}

// Chooses the rows of this step. False when there is nothing to compute.
bool EngineLoop::plan() {
  std::vector<PlanInput> inputs;
  step_sequences_.clear();
  for (const SequencePtr& sequence : running_) {
    sequence->step_rows = 0;
    sequence->logits_row.reset();
    const bool decoding = sequence->phase == Phase::kDecode;
    if (decoding && !sequence->request.stream->has_room()) continue;
    step_sequences_.push_back(sequence.get());
    inputs.push_back(PlanInput{static_cast<std::uint32_t>(sequence->pending()),
                               static_cast<std::uint64_t>(sequence->computed), decoding});
  }
  if (inputs.empty()) return false;
  PlanOptions plan_options;
  plan_options.itl_objective = options_.itl_objective;
  if (embedding_) {
    plan_options.itl_objective = std::max(options_.itl_objective - embedding_share(), Duration(1));
  }
  plan_options.rows_max = options_.batch_rows;
  plan_options.logit_rows_max = options_.logit_rows;
  plan_options.kind = next_kind();
  const std::vector<std::uint32_t> rows = plan_rows(inputs, cost_, plan_options);
  for (std::size_t i = 0; i < rows.size(); ++i) step_sequences_[i]->step_rows = rows[i];
  std::erase_if(step_sequences_, [](const Sequence* sequence) { return sequence->step_rows == 0; });
  build_rows();
  return !rows_.empty();
}

// Exact steps take turns, so that neither running streams nor prompts starve.
StepKind EngineLoop::next_kind() {
  if (options_.exactness == Exactness::kFast) return StepKind::kMixed;
  exact_prefill_ = !exact_prefill_;
  return exact_prefill_ ? StepKind::kExactPrefill : StepKind::kExactDecode;
}

// Rows in ascending slots: the stream layout batches only those well (half the speed otherwise).
void EngineLoop::build_rows() {
  std::sort(step_sequences_.begin(), step_sequences_.end(),
            [](const Sequence* a, const Sequence* b) { return a->slot < b->slot; });
  rows_.clear();
  step_size_ = {};
  for (Sequence* sequence : step_sequences_) {
    const std::int32_t begin = sequence->computed;
    const std::int32_t end = begin + static_cast<std::int32_t>(sequence->step_rows);
    for (std::int32_t position = begin; position < end; ++position) {
      rows_.push_back(BatchRow{sequence->tokens[static_cast<std::size_t>(position)], position,
                               sequence->slot, false});
      step_size_.cells_read += static_cast<std::uint64_t>(position);
    }
    const bool catches_up = end == static_cast<std::int32_t>(sequence->tokens.size());
    if (catches_up && sequence->output_limit > 0) {
      rows_.back().wants_logits = true;
      sequence->logits_row = rows_.size() - 1;
    }
  }
  step_size_.rows = static_cast<std::uint32_t>(rows_.size());
}

DecodeStatus EngineLoop::run() { return context_->decode(rows_); }

// Polled by the compute threads. A batch in which somebody is still alive is never aborted.
bool EngineLoop::all_cancelled() const {
  return !step_sequences_.empty() &&
         std::all_of(step_sequences_.begin(), step_sequences_.end(),
                     [](const Sequence* sequence) { return sequence->cancelled(); });
}

// Of those that are left after the step.
void EngineLoop::count_running() {
  state_.prefilling = state_.decoding = state_.paused = 0;
  for (const SequencePtr& sequence : running_) {
    if (sequence->phase == Phase::kPrefill) {
      ++state_.prefilling;
    } else {
      ++state_.decoding;
      if (!sequence->request.stream->has_room()) ++state_.paused;
    }
  }
}

void EngineLoop::publish() {
  count_running();
  const CacheCounts counts = cache_.counts();
  state_.taken_at = clock_.now();
  state_.queued = static_cast<std::uint32_t>(waiting_.load());
  state_.embeddings = embedder_.jobs_waiting();
  state_.embedding_tokens = embedder_.tokens_computed();
  state_.cells_total = counts.cells_total;
  state_.cells_reserved = counts.cells_reserved;
  state_.cells_cached = counts.cells_cached;
  const std::scoped_lock lock(snapshot_mutex_);
  published_ = state_;
}

void EngineLoop::check_integrity() const {
  cache_.check_integrity();
  ZH_CHECK(cache_.counts().slots_running == running_.size());
  for (const SequencePtr& sequence : running_) {
    sequence->check();
    ZH_CHECK(cache_.held(sequence->slot) == sequence->computed);
  }
  const auto slots = static_cast<std::int32_t>(context_->capabilities().slots);
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    ZH_CHECK(context_->positions(SlotId(slot)).end == cache_.held(SlotId(slot)));
  }
  for (const SequencePtr& sequence : queued_) sequence->check();
}

}  // namespace zerohop
