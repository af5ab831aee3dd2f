// Pressure, and what the engine publishes about itself. See engine_loop.h and pressure_ladder.h.

#include <algorithm>

#include "core/service_estimate.h"
#include "engine/engine_loop.h"

namespace zerohop {
namespace {

// Copies between host and cells that can be cut into pieces take no more of a step than this: a
// twelfth of the default inter-token objective.
constexpr Duration kCopySlice{std::chrono::milliseconds(8)};

// A piece of a prompt by which speed is quoted.
constexpr std::uint32_t kQuotedRows = 256;

// Of the mean time of a request, the part that the last one decides.
constexpr double kRequestShare = 0.1;

// Idle cells pay rent where at least so many sequences run.
constexpr std::size_t kPayingSequences = 4;

// Attention looks over the pool in tiles of this many cells.
constexpr std::uint32_t kScanTile = 256;

}  // namespace

// One rung up or down, and what the rung asks for: one kind of copies a step. True when cells or
// bytes went to host memory or became fewer.
bool EngineLoop::relieve_pressure() {
  ladder_.set_wait_max(door_.wait_max());
  const PressureInput input = pressure_input();
  const PressureState& rung = ladder_.update(input, now_);
  const bool busy = !running_.empty() || !waiting_.empty();
  door_.set(rung.shed && busy ? rung.cause : PressureCause::kNone,
            std::max(input.predicted_wait, input.oldest_wait));
  CachePlan plan = park_idle(rung.cells_to_park);
  if (plan.empty() && rung.bytes_to_compress > 0) {
    const std::uint64_t most = executor_.bytes_compressed_within(kCopySlice);
    plan = cache_.compress(std::min(rung.bytes_to_compress, most));
  }
  if (plan.empty()) {
    if (rung.compact) compact();
    return false;  // no reason for another step; see engine_compact.cc
  }
  executor_.carry_out(plan);
  return true;
}

// Idle cells cost steps time only in a pool, and only host memory has them back cheaply.
bool EngineLoop::rents_cells() const {
  return options_.idle_cells_pay && context_->capabilities().pooled &&
         context_->capabilities().can_save_range && options_.cache.host_bytes_max > 0;
}

// As of the last step.
std::uint32_t EngineLoop::idle_cells() const {
  return static_cast<std::uint32_t>(state_.cells_cached - state_.cells_pinned);
}

// For the cells that the step passed over for nobody. Few pay nothing: how many cells attention
// scans shows in the last digits, so the same seed would tell a lone client another story as idle
// cells go. Where several run, it is their number that shows anyway.
void EngineLoop::charge_rent() {
  if (!rents_cells() || step_sequences_.size() < kPayingSequences) return;
  rent_.charge(step_size_.rows, idle_cells(), cost_.pass_price(step_size_.rows));
}

// What the ladder wants, or what has paid for its moving.
CachePlan EngineLoop::park_idle(std::uint32_t cells_wanted) {
  const double price = executor_.round_trip_seconds();
  const std::uint32_t due =
      rents_cells() && running_.size() >= kPayingSequences ? rent_.due(idle_cells(), price) : 0;
  const std::uint32_t cells = std::max(cells_wanted, due);
  if (cells == 0) return {};
  const std::uint64_t before = cache_.counts().cells_parked;
  CachePlan plan =
      cache_.park_idle(std::min(cells, executor_.tokens_saved_within(kCopySlice)), now_);
  const std::uint64_t after = cache_.counts().cells_parked;
  rent_.moved(static_cast<std::uint32_t>(before - after), price);
  return plan;
}

PressureInput EngineLoop::pressure_input() const {
  const CacheCounts counts = cache_.counts();
  PressureInput input;
  input.cells_total = counts.cells_total;
  input.cells_active = counts.cells_active;
  input.cells_parked = counts.cells_parked;
  input.cells_reserved = counts.cells_reserved;
  input.host_bytes = counts.host_bytes;
  input.host_bytes_max = options_.cache.host_bytes_max;
  input.fragmentation = state_.fragmentation;
  input.waiting = static_cast<std::uint32_t>(waiting_.size());
  if (const Sequence* oldest = waiting_.oldest_new()) {
    input.oldest_wait = now_ - oldest->request.submitted_at;
  }
  if (const auto estimate = estimate_service(state_, {1, 1, options_.itl_objective})) {
    input.predicted_wait = estimate->place_free ? Duration::zero() : estimate->queue_wait;
  }
  input.soft_allowed = soft_allowed_;
  return input;
}

// Of those that are left after the step.
void EngineLoop::count_running() {
  state_.prefilling = state_.decoding = state_.paused = 0;
  state_.queued_tokens = queue_.waiting_tokens();
  state_.prefill_tokens = 0;
  for (const SequencePtr& sequence : running_) {
    if (sequence->phase == Phase::kPrefill) {
      ++state_.prefilling;
      state_.prefill_tokens += static_cast<std::uint64_t>(sequence->pending());
    } else {
      ++state_.decoding;
      if (!sequence->request.stream->has_room()) ++state_.paused;
    }
  }
  state_.queued = static_cast<std::uint32_t>(books_.requests());
  state_.parked_requests = static_cast<std::uint32_t>(waiting_.parked());
  state_.circuit_open = faults_.circuit_open();
}

void EngineLoop::count_cache() {
  const CacheCounts counts = cache_.counts();
  state_.cells_total = counts.cells_total;
  state_.cells_active = counts.cells_active;
  state_.cells_reserved = counts.cells_reserved;
  state_.cells_cached = counts.cells_parked;
  state_.cells_pinned = counts.cells_pinned;
  state_.host_bytes = counts.host_bytes;
  state_.host_bytes_max = options_.cache.host_bytes_max;
  state_.host_entries = counts.host_entries;
  state_.tokens_evicted = counts.tokens_evicted;
  state_.tokens_saved = counts.tokens_saved;
  state_.tokens_forgotten = counts.tokens_forgotten;
}

// Pool: the part of what attention looks over that holds nothing; one tile is looked over whatever
// is there. Streams: the part of those between the lowest and the highest that run that do not run;
// the library computes streams with such holes one by one. (1 − largest run ÷ free cells would be
// 1 − 1 ÷ n for n empty streams, where nothing is wrong.)
void EngineLoop::measure_fragmentation() {
  double whole = 0;
  double good = 0;
  if (context_->capabilities().pooled) {
    const CellScan scan = context_->scan();
    whole = scan.scanned;
    good = std::min(scan.used + kScanTile, scan.scanned);
  } else if (!running_.empty()) {
    const auto [low, high] = std::minmax_element(
        running_.begin(), running_.end(),
        [](const SequencePtr& a, const SequencePtr& b) { return a->slot < b->slot; });
    whole = (*high)->slot.value - (*low)->slot.value + 1;
    good = static_cast<double>(running_.size());
  }
  state_.fragmentation = whole > 0 ? std::clamp(1.0 - good / whole, 0.0, 1.0) : 0.0;
}

void EngineLoop::estimate_rates() {
  if (state_.steps == 0) return;
  StepSize decode;
  for (const SequencePtr& sequence : running_) {
    if (sequence->phase == Phase::kDecode) {
      decode.add(1, static_cast<std::uint64_t>(sequence->computed));
    }
  }
  if (decode.rows == 0) decode.add(1, 0);
  state_.decode_step_seconds = to_seconds(cost_.predict(decode));
  const std::uint32_t rows = std::min(kQuotedRows, options_.batch_rows);
  state_.prefill_tokens_per_second = cost_.prefill_rate(rows, rows);
}

// As many run at once as keep the objective (concurrency_control.h).
void EngineLoop::limit_concurrency() {
  if (!concurrency_ || state_.steps == 0) return;
  StepSize decode;
  for (const SequencePtr& sequence : running_) {
    decode.add(1, static_cast<std::uint64_t>(sequence->computed));
  }
  ConcurrencyInput input;
  input.step = cost_.predict(decode);
  input.step_max = options_.itl_objective;
  input.fragmentation = state_.fragmentation;
  input.running = static_cast<std::uint32_t>(running_.size());
  input.awaited = waiting_.size() > waiting_.aside();
  queue_.set_sequences(concurrency_->update(input, now_));
}

void EngineLoop::learn_request_time(const Sequence& sequence) {
  const double seconds = to_seconds(clock_.now() - sequence.began_at);
  double& mean = state_.request_seconds;
  mean = mean == 0 ? seconds : mean + kRequestShare * (seconds - mean);
}

void EngineLoop::publish() {
  count_running();
  count_cache();
  measure_fragmentation();
  estimate_rates();
  state_.taken_at = clock_.now();
  state_.sequences_max = queue_.sequences();
  state_.embeddings = embedder_.jobs_waiting();
  state_.embedding_tokens = embedder_.tokens_computed();
  constraints_.count(state_.constraints);
  state_.rung = ladder_.state().rung;
  state_.rung_cause = ladder_.state().cause;
  state_.rung_entries = ladder_.entries();
  uncached_share_ = 1 - state_.cache_hit_rate();
  const std::scoped_lock lock(snapshot_mutex_);
  published_ = state_;
}

}  // namespace zerohop
