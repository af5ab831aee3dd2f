// Drafts in the step loop: tokens that are computed before it is known whether they come. See
// engine_loop.h, drafter.h (what is proposed) and draft_planner.h (how much of it is tried).
//
// A draft is computed in the step that computes the last token of an answer, behind it, with the
// logits of every row:
//
//   tokens    … the cat            the next token is drawn as always, of the first row's logits
//   draft     sat on the mat       if it is "sat", the second row's logits are those behind it, and
//   rows      cat sat on the mat   so on, until a drawn token is not the draft's
//
// It is exact. What is drawn is what would have been drawn without the draft: of logits behind the
// same tokens, with the same generator, penalties, constraint and budget, one token after the other
// through the same functions (draw(), accept()), with everything that follows an accepted token:
// stop sequences, forced text, the end of the answer. The draft only decides whether the next
// logits are there already. So on a model whose logits do not depend on the batch (the fake one) an
// answer is the same to the byte with and without, for any seed. On a real one logits change in
// their last digits with the number of rows, as they do with any other batch
// (docs/ARCHITECTURE.md, "Determinism").
//
// A token that was not confirmed is nowhere. Sequence::tokens, the cache's books, usage, what a
// tenant is charged and the counts of penalties never know of it. Cells of a draft enter the books
// when the logits behind them were drawn from, as they are confirmed; those that are left go before
// the sequence does anything else (drop_draft()), so no prefix is ever kept of them.
//
// There are none where that cannot be done or does not pay:
//
// - where tails cannot be cut (recurrent states, sliding windows that forget);
// - in the exact mode, where rows may not depend on what else is computed;
// - in steps with a prompt or a piece of embeddings: these take what the objective leaves;
// - with streams beside other answers: the library computes streams of unequal length in several
//   passes;
// - while a failed step is looked into (fault_finder.h);
// - where draft_planner.h expects no gain of them.
//
// With a constraint the draft ends in front of its first illegal token: it is read up to there and
// the session rolled back.

#include <algorithm>
#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {

void EngineLoop::plan_drafts(Duration time) {
  if (!may_draft()) return;
  DraftLoad load;
  load.answers = static_cast<std::uint32_t>(step_sequences_.size());
  for (const Sequence* sequence : step_sequences_) {
    load.step.add(sequence->step_rows, static_cast<std::uint64_t>(sequence->computed));
  }
  load.rows_max = std::min({limits::kDraftRowsMax, options_.batch_rows - load.step.rows,
                            options_.logit_rows - load.answers});
  load.time_max = time;
  load.answers_max = options_.speculation.answers_max;
  offers_.clear();
  for (Sequence* sequence : step_sequences_) {
    propose(*sequence);
    offers_.push_back({sequence->drafter->gains(), static_cast<std::uint64_t>(sequence->size())});
  }
  const bool always = options_.speculation.mode == Speculation::kNgram;
  const std::vector<std::uint32_t> drafts = zerohop::plan_drafts(
      offers_, load, cost_, always ? DraftRule::kAlways : DraftRule::kWherePays);
  bool any = false;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    take_draft(*step_sequences_[i], drafts[i]);
    any = any || !step_sequences_[i]->draft.empty();
  }
  if (any) ++state_.drafts.steps;
}

bool EngineLoop::may_draft() const {
  const SpeculationOptions& options = options_.speculation;
  const KvCapabilities& able = context_->capabilities();
  if (options.mode == Speculation::kOff || options_.exactness == Exactness::kExact) return false;
  if (!able.can_cut_tail || embedding_ || step_sequences_.empty()) return false;
  if (faults_.short_of_room()) return false;
  if (!prompts_.empty() || options_.logit_rows <= step_sequences_.size()) return false;
  if (!able.pooled && step_sequences_.size() > 1) return false;
  if (options.mode == Speculation::kAuto && step_sequences_.size() >= options.answers_max) {
    return false;
  }
  return std::ranges::all_of(step_sequences_, [](const Sequence* sequence) {
    const auto pending = static_cast<std::uint32_t>(sequence->pending());
    return sequence->phase == Phase::kDecode && sequence->step_rows == pending &&
           !sequence->faults.any();
  });
}

// What it could draft. A token that ends the answer is left to be drawn: nothing comes behind it.
void EngineLoop::propose(Sequence& sequence) {
  if (!sequence.drafter) sequence.drafter = std::make_unique<Drafter>();
  Drafter& drafter = *sequence.drafter;
  // The last token of the answer is drawn and not computed.
  const std::uint32_t left = sequence.output_limit - sequence.usage.output_tokens;
  drafter.propose(sequence.tokens, std::min(options_.speculation.draft_tokens_max, left - 1));
  const auto end = std::ranges::find_if(
      drafter.tokens(), [this](Token token) { return table_.is_end_of_generation(token); });
  drafter.shorten(static_cast<std::size_t>(end - drafter.tokens().begin()));
}

// The first `count` tokens of its proposal, as far as there are cells and the constraint goes.
void EngineLoop::take_draft(Sequence& sequence, std::uint32_t count) {
  Drafter& drafter = *sequence.drafter;
  if (count == 0) return drafter.declined();
  const auto size = static_cast<std::uint32_t>(sequence.size());
  if (size + count > sequence.promised_cells) {
    promise(sequence, sequence.cells_ahead(std::max(options_.look_ahead_tokens, count)));
  }
  count = std::min(count, sequence.promised_cells - size);
  const std::span<const Token> tokens = drafter.tokens().first(count);
  const std::size_t legal = sequence.constraint ? legal_length(sequence, tokens) : count;
  sequence.draft.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(legal));
}

std::size_t EngineLoop::legal_length(Sequence& sequence, std::span<const Token> draft) {
  ConstraintSession& constraint = *sequence.constraint;
  const ConstraintSession::Mark here = constraint.mark();
  std::size_t length = 0;
  while (length < draft.size() && constraint.allows(draft[length])) {
    constraint.accept(draft[length++]);
  }
  constraint.rollback(here);
  return length;
}

// The token behind those that were known (`begin` of them) has been accepted, perhaps with forced
// ones. As long as the draft has the same ones, the logits behind them are there.
void EngineLoop::follow_draft(Sequence& sequence, std::size_t begin) {
  std::size_t taken = matching(sequence, begin);
  while (taken > 0 && sequence.has_slot() && begin + taken == sequence.tokens.size()) {
    const std::optional<Token> token = draw(sequence, *sequence.logits_row + taken);
    // No numbers: the row goes, and comes again as the first of the next step. So nothing was drawn
    // behind its token, which says nothing against the draft: it did not part.
    if (!token) break;
    const std::size_t confirmed = begin + taken - static_cast<std::size_t>(sequence.computed);
    sequence.draft_cells -= static_cast<std::int32_t>(confirmed);
    advance(sequence, static_cast<std::uint32_t>(confirmed));
    accept(sequence, *token);
    taken = matching(sequence, begin);
  }
  const std::size_t drafted = sequence.draft.size();
  state_.drafts.drafted += drafted;
  state_.drafts.accepted += taken;
  const bool parted = taken < drafted && begin + taken < sequence.tokens.size();
  sequence.drafter->learn({drafted, taken, parted});
  drop_draft(sequence);
}

// How many tokens of its draft stand in the answer.
std::size_t EngineLoop::matching(const Sequence& sequence, std::size_t begin) {
  const std::span<const Token> said = std::span(sequence.tokens).subspan(begin);
  const auto [left, right] = std::ranges::mismatch(sequence.draft, said);
  return static_cast<std::size_t>(left - sequence.draft.begin());
}

// What the slot holds of a draft that nobody confirmed goes.
void EngineLoop::drop_draft(Sequence& sequence) {
  if (std::exchange(sequence.draft_cells, 0) > 0) undo_rows(sequence);
}

}  // namespace zerohop
