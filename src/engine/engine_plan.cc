// Rows: which tokens of whom are computed in the next step. See engine_loop.h.

#include <algorithm>

#include "engine/engine_loop.h"
#include "engine/prefill_order.h"

namespace zerohop {

// Chooses the rows of this step. False when there is nothing to compute.
bool EngineLoop::plan() {
  gather_runnable();
  if (step_sequences_.empty()) return false;
  cost_.set_pool(context_->scan().scanned);
  faults_.choose(step_sequences_);
  inputs_.clear();
  for (const Sequence* sequence : step_sequences_) inputs_.push_back(plan_input(*sequence));
  rank_prompts();
  PlanOptions plan_options;
  // Whoever watches waits for what has been moved in this step as well.
  Duration time = options_.itl_objective - (clock_.now() - now_);
  if (embedding_) time -= embedding_share();
  plan_options.itl_objective = std::max(time, Duration(1));
  plan_options.rows_max = options_.batch_rows;
  plan_options.logit_rows_max = options_.logit_rows;
  plan_options.kind = next_kind();
  const std::vector<std::uint32_t> rows = plan_rows(inputs_, cost_, plan_options);
  for (std::size_t i = 0; i < rows.size(); ++i) step_sequences_[i]->step_rows = rows[i];
  std::erase_if(step_sequences_, [](const Sequence* sequence) { return sequence->step_rows == 0; });
  plan_drafts(plan_options.itl_objective);
  build_rows();
  return !rows_.empty();
}

// Everybody with a slot, but those whose reader is too far behind.
void EngineLoop::gather_runnable() {
  step_sequences_.clear();
  for (const SequencePtr& sequence : running_) {
    sequence->step_rows = 0;
    sequence->logits_row.reset();
    sequence->draft.clear();
    if (sequence->phase == Phase::kDecode && !sequence->request.stream->has_room()) {
      if (!sequence->lagging_since) sequence->lagging_since = now_;
      continue;
    }
    sequence->lagging_since.reset();
    step_sequences_.push_back(sequence.get());
  }
}

// What the planner is to see. Where exactness counts, tokens that were generated one by one are
// computed again one by one. A piece of a prompt ends where a checkpoint is to be taken: where
// tails cannot be cut, a state is only of use as it stands.
PlanInput EngineLoop::plan_input(const Sequence& sequence) const {
  PlanInput input;
  input.pending = static_cast<std::uint32_t>(sequence.pending());
  input.computed = static_cast<std::uint64_t>(sequence.computed);
  input.decoding = sequence.phase == Phase::kDecode;
  const auto computed = static_cast<std::uint32_t>(sequence.computed);
  if (input.decoding && sequence.computed < sequence.sampled_at) {
    input.lost = static_cast<std::uint32_t>(sequence.sampled_at - sequence.computed);
  }
  if (options_.exactness == Exactness::kExact && input.decoding) {
    const std::uint32_t prompt = sequence.usage.prompt_tokens;
    input.decoding = computed >= prompt;
    input.pending = input.decoding ? 1 : prompt - computed;
    input.lost = 0;
  }
  const std::uint32_t mark = sequence.request.marked_tokens;
  if (!context_->capabilities().can_cut_tail && computed < mark) {
    input.pending = std::min(input.pending, mark - computed);
  }
  return input;
}

// Fair order among prompts; one of them needs none.
void EngineLoop::rank_prompts() {
  prompts_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_decoder()) prompts_.push_back(i);
  }
  if (prompts_.size() < 2) return;
  prefills_.clear();
  for (const std::size_t i : prompts_) {
    const Sequence& sequence = *step_sequences_[i];
    const Scheduling& scheduling = sequence.request.scheduling;
    prefills_.push_back({std::min(scheduling.priority, sequence.urgency), scheduling.tenant,
                         std::min(queue_.counter(sequence.work()), sequence.urgency_counter),
                         inputs_[i].pending, sequence.started_at, sequence.deadline()});
  }
  PrefillOrderOptions order;
  order.row = cost_.per_row(0);
  const std::vector<PrefillRank> ranks = rank_prefills(prefills_, order, now_);
  for (std::size_t k = 0; k < prompts_.size(); ++k) {
    inputs_[prompts_[k]].rank = ranks[k].rank;
    inputs_[prompts_[k]].aged = ranks[k].aged;
  }
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
    }
    step_size_.add(sequence->step_rows, static_cast<std::uint64_t>(begin));
    if (end == sequence->size() && sequence->output_limit > 0) {
      rows_.back().wants_logits = true;
      sequence->logits_row = rows_.size() - 1;
    }
    if (sequence->draft.empty()) continue;
    step_size_.add(static_cast<std::uint32_t>(sequence->draft.size()),
                   static_cast<std::uint64_t>(end));
    for (const Token token : sequence->draft) {
      const auto behind = static_cast<std::int32_t>(rows_.size() - *sequence->logits_row);
      rows_.push_back(BatchRow{token, end - 1 + behind, sequence->slot, true});
    }
  }
}

DecodeStatus EngineLoop::run() { return context_->decode(rows_); }

// Polled by the compute threads, as outran() is. Otherwise a batch in which somebody is still alive
// is never aborted.
bool EngineLoop::all_dead() const {
  if (step_sequences_.empty()) return false;
  const TimePoint now = clock_.now();
  return std::all_of(
      step_sequences_.begin(), step_sequences_.end(),
      [now](const Sequence* sequence) { return sequence->cancelled() || sequence->too_late(now); });
}

}  // namespace zerohop
