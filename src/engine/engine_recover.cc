// Failed steps: what is undone, what is restored, who pays. See engine_loop.h and fault_finder.h.
//
// Committed tokens are never lost: they are in Sequence::tokens, and whatever of them is not in
// cells is computed again before the next one is sampled.
//
//   aborted      a part of the rows may be in cells: they go
//   no room      nothing changed; room is made
//   fatal        the cells of everybody in the batch are unknown: they go, all at once, so that
//                nobody shares the damage of another. What others hold, or host memory, is taken
//                from there again
//   no numbers   likewise, for the one whose logits they were

#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {
namespace {

Error model_failure(std::string message) {
  return Error{ErrorCode::kModelFailure, std::move(message), "", {}};
}

}  // namespace

void EngineLoop::undo(DecodeStatus status) {
  sampled_ = 0;
  if (status == DecodeStatus::kNoRoom || status == DecodeStatus::kFatal) blame_drafts();
  switch (status) {
    case DecodeStatus::kOk: break;
    case DecodeStatus::kAborted: return undo_aborted();
    case DecodeStatus::kNoRoom: return undo_no_room();
    case DecodeStatus::kFatal: return undo_fatal();
  }
}

// A step may have failed for the rows of its drafts alone. Without them it then succeeds, which is
// why nobody else would learn of it.
void EngineLoop::blame_drafts() {
  for (Sequence* sequence : step_sequences_) {
    if (!sequence->draft.empty()) sequence->drafter->learn({sequence->draft.size(), 0, true});
  }
}

void EngineLoop::undo_aborted() {
  ++state_.steps_aborted;
  for (Sequence* sequence : step_sequences_) undo_rows(*sequence);
}

// Cells of the step go; where a tail cannot be cut, all of them do.
void EngineLoop::undo_rows(Sequence& sequence) {
  if (!executor_.drop_tail(sequence.slot, sequence.computed)) discard_cells(sequence);
}

// Nothing that the slot holds is to be trusted; not even what it had from somebody else, unless
// that one still has it.
void EngineLoop::discard_cells(Sequence& sequence) {
  executor_.drop_tail(sequence.slot, 0);
  sequence.draft_cells = 0;
  cache_.correct(sequence.slot, 0);
  trust_books(sequence);
}

// The slot of `sequence` may hold less than it did; what it was promised is to be asked for again.
void EngineLoop::trust_books(Sequence& sequence) {
  const std::int32_t held = cache_.held(sequence.slot);
  if (held == sequence.computed) return;
  sequence.computed = held;
  sequence.promised_cells = static_cast<std::uint32_t>(held);
}

void EngineLoop::undo_no_room() {
  ++state_.retries_no_room;
  switch (faults_.no_room(running_.size())) {
    case FaultFinder::NoRoom::kDropIdle: break;
    case FaultFinder::NoRoom::kPark:
      if (const auto choice = park_for_cells(park_candidates())) {
        park(*running_[choice->index], choice->reason);
      }
      break;
    case FaultFinder::NoRoom::kGuilty:
      for (Sequence* sequence : step_sequences_) {
        fail(*sequence, model_failure("the model has no room for a step"), Keep::kNothing);
      }
      return;
  }
  executor_.carry_out(cache_.drop_idle());
}

void EngineLoop::undo_fatal() {
  ++state_.retries_fatal;
  const std::vector<Sequence*> guilty = faults_.failed(step_sequences_);
  for (Sequence* sequence : guilty) {
    discard_cells(*sequence);
    fail(*sequence, model_failure("the model failed to compute a step"), Keep::kNothing);
  }
  std::erase_if(step_sequences_, [](const Sequence* sequence) { return !sequence->has_slot(); });
  start_over(step_sequences_);
}

void EngineLoop::retry_not_finite(Sequence& sequence) {
  ++state_.retries_not_finite;
  if (faults_.not_finite(sequence)) {
    discard_cells(sequence);
    fail(sequence, model_failure("the model returned no finite logits"), Keep::kNothing);
    return;
  }
  Sequence* const one[] = {&sequence};
  start_over(one);
}

// All give their cells back before anybody takes new ones.
void EngineLoop::start_over(std::span<Sequence* const> sequences) {
  for (Sequence* sequence : sequences) {
    discard_cells(*sequence);
    vacate(*sequence, Keep::kNothing);
  }
  for (Sequence* sequence : sequences) {
    if (occupy(*sequence)) {
      sequence->go_on();
      continue;
    }
    queue_.stopped(sequence->work());
    leave_running(*sequence);
  }
}

}  // namespace zerohop
