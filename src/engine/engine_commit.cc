// The commit part of the step loop: what a finished decode means for each sequence. See
// engine_loop.h; what a failed one means is in engine_recover.cc.

#include <algorithm>
#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {

void EngineLoop::commit() {
  ++state_.steps;
  sampled_ = 0;
  faults_.succeeded();
  not_finite_.clear();
  for (Sequence* sequence : step_sequences_) commit(*sequence);
  // Only now: starting over moves cells, and the logits of the others are read by then.
  for (Sequence* sequence : not_finite_) retry_not_finite(*sequence);
}

// The token comes before the books: rows whose logits are no numbers never enter them.
void EngineLoop::commit(Sequence& sequence) {
  std::optional<Token> token;
  sequence.draft_cells = static_cast<std::int32_t>(sequence.draft.size());
  if (sequence.logits_row) {
    token = draw(sequence, *sequence.logits_row);
    if (!token) {
      not_finite_.push_back(&sequence);
      return;
    }
  }
  advance(sequence, sequence.step_rows);
  if (sequence.pending() > 0) return;
  if (sequence.output_limit == 0) {
    finish(sequence, sequence.limit_reason);
    return;
  }
  const std::size_t known = sequence.tokens.size();
  accept(sequence, *token);
  if (!sequence.draft.empty()) follow_draft(sequence, known);
}

// The next `rows` of its tokens are in cells now. What is computed again (after a park or a fault)
// was paid for before.
void EngineLoop::advance(Sequence& sequence, std::uint32_t rows) {
  const auto begin = static_cast<std::size_t>(sequence.computed);
  cache_.grow(sequence.slot, TokenSpan(sequence.tokens).subspan(begin, rows), now_);
  sequence.computed += static_cast<std::int32_t>(rows);
  FaultFinder::acquit_if_past(sequence);
  if (sequence.computed > sequence.charged) {
    const auto tokens = static_cast<std::uint32_t>(sequence.computed - sequence.charged);
    queue_.charge(sequence.work(), tokens);
    state_.tokens_charged += tokens;
    sequence.charged = sequence.computed;
  }
  if (sequence.phase == Phase::kPrefill) state_.prompt_tokens_computed += rows;
  const auto computed = static_cast<std::uint32_t>(sequence.computed);
  if (computed == sequence.usage.prompt_tokens || computed == sequence.request.marked_tokens) {
    executor_.carry_out(cache_.checkpoint(sequence.slot, now_));
  }
}

// The next token, of the logits of that row; nothing when none of them is a number.
std::optional<Token> EngineLoop::draw(Sequence& sequence, std::size_t row) {
  const TimePoint begin = clock_.now();
  const std::span<float> logits = context_->logits(row);
  SampleInput input{sequence.request.sampling};
  if (sequence.constraint) {
    limit_by_meter(sequence);
    input.constraint = sequence.constraint.get();
  }
  if (sequence.soft_bias) input.soft_bias = sequence.soft_bias->biases();
  if (sequence.counts) input.seen = sequence.counts->seen();
  if (sequence.request.top_logprobs) chances_.read(logits, *sequence.request.top_logprobs);
  const std::optional<Token> token = sampler_.sample(logits, input, sequence.random);
  sampling_ += clock_.now() - begin;
  return token;
}

// A sampled token, and what a constraint then leaves no choice about.
void EngineLoop::accept(Sequence& sequence, Token token) {
  ++sampled_;
  if (table_.is_end_of_generation(token)) {
    finish(sequence, end_reason(sequence, FinishReason::kEndOfTurn));
  } else if (let_out(sequence, token)) {
    sequence.sampled_at = sequence.size() - 1;
    if (sequence.constraint) let_out_forced(sequence);
  }
}

// The answer goes on by a token. False: it ended here.
bool EngineLoop::let_out(Sequence& sequence, Token token) {
  EngineRequest& request = sequence.request;
  stage_events_.clear();
  if (request.meter && !request.meter->spend_output_token()) {
    finish(sequence, FinishReason::kMaxTokens);
    return false;
  }
  sequence.tokens.push_back(token);
  sequence.phase = Phase::kDecode;
  ++sequence.usage.output_tokens;
  ++state_.output_tokens;
  if (sequence.counts) sequence.counts->add_answer(token);
  if (sequence.constraint) sequence.constraint->accept(token);
  if (request.top_logprobs) emit(sequence, chances_.describe(token, table_));
  const StageVerdict verdict = request.stage->accept(token, table_.bytes(token), stage_events_);
  if (sequence.soft_bias) follow_soft(sequence, token);
  for (Event& event : stage_events_) emit(sequence, std::move(event));
  sequence.usage.thinking_tokens = request.stage->thinking_tokens();
  if (verdict.end) {
    const bool stopped = *verdict.end == FinishReason::kStopSequence;
    const FinishReason reason = stopped ? *verdict.end : end_reason(sequence, *verdict.end);
    report_end(sequence, reason, verdict.stop_sequence);
  } else if (sequence.constraint && sequence.constraint->must_end()) {
    finish(sequence, end_reason(sequence, FinishReason::kEndOfTurn));
  } else if (sequence.usage.output_tokens == sequence.output_limit) {
    finish(sequence, sequence.limit_reason);
  } else {
    return true;
  }
  return false;
}

// The answer ends for a reason that its output stage does not know of.
void EngineLoop::finish(Sequence& sequence, FinishReason reason) {
  if (sequence.warm) return finish_warm(sequence);
  stage_events_.clear();
  reason = sequence.request.stage->flush(reason, stage_events_);
  sequence.usage.thinking_tokens = sequence.request.stage->thinking_tokens();
  for (Event& event : stage_events_) emit(sequence, std::move(event));
  report_end(sequence, reason, std::string(sequence.request.stage->flushed_stop_sequence()));
}

void EngineLoop::report_end(Sequence& sequence, FinishReason reason, std::string stop_sequence) {
  emit(sequence, Finished{reason, std::move(stop_sequence), sequence.usage});
  ++state_.requests_finished;
  if (closed_early(sequence)) ++state_.constraints.closed_early;
  learn_request_time(sequence);
  if (sequence.output_limit > 0) lengths_.add(sequence.usage.output_tokens);
  release_slot(sequence, Keep::kCells);
  forget(sequence);
}

// The prefix is there. Whoever wants to keep it across a restart gets it, unless it came from
// there.
void EngineLoop::finish_warm(Sequence& sequence) {
  const WarmPrefix& prefix = *sequence.warm;
  const bool was_there = sequence.usage.prompt_tokens_cached + 1 >= sequence.usage.prompt_tokens;
  if (prefix.on_computed && !was_there) {
    auto state = context_->save_range(sequence.slot, {0, sequence.computed});
    if (state.ok()) prefix.on_computed(*std::move(state));
  }
  release_slot(sequence, Keep::kCells);
}

// What a failed computation left in the cells must not become anybody's prefix: Keep::kNothing.
void EngineLoop::fail(Sequence& sequence, Error error, Keep keep) {
  if (sequence.has_slot()) release_slot(sequence, keep);
  if (sequence.warm) return;
  emit(sequence, Failed{std::move(error)});
  ++state_.requests_failed;
  forget(sequence);
}

void EngineLoop::emit(Sequence& sequence, Event event) {
  if (!sequence.request.stream->push(std::move(event))) return;  // nobody waits for it
  if (touched_.empty() || touched_.back() != sequence.request.stream) {
    touched_.push_back(sequence.request.stream);
  }
}

// A request has come to its end, whichever.
void EngineLoop::forget(const Sequence& sequence) {
  if (sequence.request.scheduling.soft_max_tokens) --soft_allowed_;
}

void EngineLoop::count_cancelled(const Sequence& sequence) {
  if (sequence.warm) return;
  if (!sequence.started()) {
    ++state_.cancelled_queued;
  } else if (sequence.has_answered()) {
    ++state_.cancelled_decode;
  } else {
    ++state_.cancelled_prefill;
  }
}

// Sequences that ended have given their slot back; now they go.
void EngineLoop::sweep() {
  const std::size_t gone =
      std::erase_if(running_, [](const SequencePtr& sequence) { return !sequence->has_slot(); });
  if (gone > 0) constraints_.tidy();
}

void EngineLoop::wake_readers() {
  if (touched_.empty()) return;
  waker_.wake(std::move(touched_));
  touched_.clear();
}

}  // namespace zerohop
