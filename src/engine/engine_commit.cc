// The commit part of the step loop: what a finished (or failed) decode means for each sequence. See
// engine_loop.h.

#include <algorithm>

#include "engine/engine_loop.h"
#include "engine/plan_executor.h"

namespace zerohop {
namespace {

// A failed step is undone and tried once more; a sequence that meets a second failure in a row
// ends.
constexpr std::uint32_t kRetriesMax = 1;

}  // namespace

void EngineLoop::commit() {
  ++state_.steps;
  sampled_ = 0;
  for (Sequence* sequence : step_sequences_) {
    sequence->retries = 0;
    advance(*sequence);
    if (sequence->pending() > 0) continue;
    if (sequence->output_limit == 0) {
      finish(*sequence, sequence->limit_reason);
    } else {
      sample(*sequence);
    }
  }
}

// The rows of this step are in cells now.
void EngineLoop::advance(Sequence& sequence) {
  const auto begin = static_cast<std::size_t>(sequence.computed);
  cache_.grow(sequence.slot, TokenSpan(sequence.tokens).subspan(begin, sequence.step_rows));
  sequence.computed += static_cast<std::int32_t>(sequence.step_rows);
  if (sequence.phase == Phase::kPrefill) state_.prompt_tokens_computed += sequence.step_rows;
}

void EngineLoop::sample(Sequence& sequence) {
  ZH_CHECK(sequence.logits_row.has_value());
  const std::span<float> logits = context_->logits(*sequence.logits_row);
  SampleInput input{sequence.request.sampling};
  if (sequence.counts) input.seen = sequence.counts->seen();
  if (sequence.request.top_logprobs) chances_.read(logits, *sequence.request.top_logprobs);
  const std::optional<Token> token = sampler_.sample(logits, input, sequence.random);
  if (!token) {
    fail(sequence, Error{ErrorCode::kModelFailure, "the model returned no finite logits", "", {}});
    return;
  }
  ++sampled_;
  accept(sequence, *token);
}

void EngineLoop::accept(Sequence& sequence, Token token) {
  EngineRequest& request = sequence.request;
  stage_events_.clear();
  if (table_.is_end_of_generation(token)) {
    finish(sequence, FinishReason::kEndOfTurn);
    return;
  }
  if (request.meter && !request.meter->spend_output_token()) {
    finish(sequence, FinishReason::kMaxTokens);
    return;
  }
  sequence.tokens.push_back(token);
  sequence.phase = Phase::kDecode;
  ++sequence.usage.output_tokens;
  ++state_.output_tokens;
  if (sequence.counts) sequence.counts->add_answer(token);
  if (request.top_logprobs) emit(sequence, chances_.describe(token, table_));
  const StageVerdict verdict = request.stage->accept(token, table_.bytes(token), stage_events_);
  for (Event& event : stage_events_) emit(sequence, std::move(event));
  sequence.usage.thinking_tokens = request.stage->thinking_tokens();
  if (verdict.end) {
    report_end(sequence, *verdict.end, verdict.stop_sequence);
  } else if (sequence.usage.output_tokens == sequence.output_limit) {
    finish(sequence, sequence.limit_reason);
  }
}

// The decode did not happen, or only a part of it. Cells of the step go; committed tokens stay and
// are computed again where their cells could not be saved.
void EngineLoop::undo(DecodeStatus status) {
  sampled_ = 0;
  if (status == DecodeStatus::kAborted) {
    ++state_.steps_aborted;
    for (Sequence* sequence : step_sequences_) undo_rows(*sequence);
    return;
  }
  if (status == DecodeStatus::kNoRoom) drop_cells(*context_, cache_.drop_idle());
  for (Sequence* sequence : step_sequences_) {
    if (status == DecodeStatus::kFatal) forget_cells(*sequence);
    if (sequence->retries++ >= kRetriesMax) {
      fail(*sequence,
           Error{ErrorCode::kModelFailure, "the model failed to compute a step", "", {}});
    }
  }
}

void EngineLoop::undo_rows(Sequence& sequence) {
  if (!drop_tail(*context_, {sequence.slot, sequence.computed})) forget_cells(sequence);
}

// After this the sequence starts from an empty slot and catches up to all its tokens.
void EngineLoop::forget_cells(Sequence& sequence) {
  drop_tail(*context_, {sequence.slot, 0});
  cache_.correct(sequence.slot, 0);
  sequence.computed = 0;
}

// The answer ends for a reason that its output stage does not know of.
void EngineLoop::finish(Sequence& sequence, FinishReason reason) {
  stage_events_.clear();
  reason = sequence.request.stage->flush(reason, stage_events_);
  sequence.usage.thinking_tokens = sequence.request.stage->thinking_tokens();
  for (Event& event : stage_events_) emit(sequence, std::move(event));
  report_end(sequence, reason, std::string(sequence.request.stage->flushed_stop_sequence()));
}

void EngineLoop::report_end(Sequence& sequence, FinishReason reason, std::string stop_sequence) {
  emit(sequence, Finished{reason, std::move(stop_sequence), sequence.usage});
  ++state_.requests_finished;
  release_slot(sequence, kept_cells());
}

void EngineLoop::fail(Sequence& sequence, Error error) {
  emit(sequence, Failed{std::move(error)});
  ++state_.requests_failed;
  // What a failed computation left in the cells must not become anybody's prefix.
  if (sequence.slot.value >= 0) release_slot(sequence, SlotCache::Keep::kNothing);
}

void EngineLoop::emit(Sequence& sequence, Event event) {
  sequence.request.stream->push(std::move(event));
  if (touched_.empty() || touched_.back() != sequence.request.stream) {
    touched_.push_back(sequence.request.stream);
  }
}

SlotCache::Keep EngineLoop::kept_cells() const {
  return options_.exactness == Exactness::kExact ? SlotCache::Keep::kNothing
                                                 : SlotCache::Keep::kCells;
}

// Kept cells stay in the slot for the next turn of the same conversation.
void EngineLoop::release_slot(Sequence& sequence, SlotCache::Keep keep) {
  ZH_CHECK(sequence.slot.value >= 0);
  drop_cells(*context_, cache_.release(sequence.slot, keep));
  sequence.slot = SlotId(-1);
}

void EngineLoop::count_cancelled(const Sequence& sequence) {
  switch (sequence.phase) {
    case Phase::kQueued: ++state_.cancelled_queued; break;
    case Phase::kPrefill: ++state_.cancelled_prefill; break;
    case Phase::kDecode: ++state_.cancelled_decode; break;
  }
}

// Sequences that ended in this step have given their slot back; now they go.
void EngineLoop::sweep() {
  std::erase_if(running_, [](const SequencePtr& sequence) { return sequence->slot.value < 0; });
}

void EngineLoop::wake_readers() {
  if (touched_.empty()) return;
  waker_.wake(std::move(touched_));
  touched_.clear();
}

void EngineLoop::fail_all() {
  take_inbox();
  drop_cancelled();
  const Error error{ErrorCode::kShuttingDown, "the server is shutting down", "",
                    std::chrono::seconds(1)};
  for (const SequencePtr& sequence : running_) fail(*sequence, error);
  for (const SequencePtr& sequence : queued_) {
    fail(*sequence, error);
    waiting_.fetch_sub(1);
  }
  running_.clear();
  queued_.clear();
  embedder_.fail_all(error);
  publish();
  wake_readers();
}

}  // namespace zerohop
