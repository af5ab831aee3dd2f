// Constraints in the step loop: who can be answered at all, what follows an accepted token, where
// an answer ends. See engine_loop.h and constrain/constraint_session.h.
//
// Forced text. Behind an accepted token a constraint often leaves no choice: the rest of a key, the
// quote and the colon behind it. Such text is not sampled. Its tokens are accepted at once, behind
// the sampled one, and computed together with it in the next step, which needs logits of the last
// row only:
//
//   sampled   {"                    city                 "            …
//   forced      name ": "                ": "                }
//   step      one row, as always    4 rows               …
//
// One may call that a draft; but it needs no verification, and nothing is ever taken back:
//
// - The bytes are certain. ConstraintMachine::forced() gives only bytes beside which no other is
//   legal, and which come before the text may end. Whatever had been drawn, the text would go on
//   with them.
// - The tokens are the model's own way to write them, and those at the end that a longer token
//   could swallow together with what comes next are left out (ConstraintSession::forced_tokens()),
//   so at the border to free text the model chooses the cut, as it would have.
// - They fit: behind each of them the shortest end can still be written in what is left. To find
//   that out the session goes ahead and back to its mark; no token was let out by then.
//
// So an answer with forced text differs from one without only in how the forced bytes are cut into
// tokens. It depends on the sequence alone, not on the batch, nor on where its reader stands or
// whether it was parked; how many of the tokens one step computes is the planner's business
// (batch_planner.h), and in the exact mode it is one. A step that fails takes cells back and no
// tokens, here as elsewhere.
//
// Requests that want log-probabilities get none of it: these need the logits of every token.
//
// A tool call of six arguments, of which five tokens of six are forced, takes half of the time that
// free text takes a token for one stream, and 0.73 of it for eight, whose rows are cheaper already.
// A document with a tenth of its tokens forced takes 0.99 of what free answers of the same lengths
// take for eight streams; masks, checks and draws are 16 of its 8,850 µs a token
// (engine_constraint_bench.cc, default model, processor time of one thread).

#include <algorithm>
#include <string>
#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {
namespace {

std::string counted(std::size_t tokens) {
  return std::to_string(tokens) + (tokens == 1 ? " token" : " tokens");
}

// What leaves too little for the shortest text.
enum class Bound : std::uint8_t { kMaxTokens, kWindow, kBudget };

struct TooShort {
  std::size_t needed = 0;
  std::size_t left = 0;
  Bound bound = Bound::kMaxTokens;
  bool at_least = false;  ///< perhaps it needs more than `needed`
};

Error too_short(const TooShort& answer, std::uint32_t prompt, std::uint32_t window) {
  const std::string needed = "the shortest answer that the asked for structure allows takes " +
                             std::string(answer.at_least ? "at least " : "") +
                             counted(answer.needed) + ", but ";
  const std::string left = std::to_string(answer.left);
  switch (answer.bound) {
    case Bound::kMaxTokens:
      return invalid_request("max_tokens", needed + "only " + left + " may be generated");
    case Bound::kWindow: break;
    case Bound::kBudget:
      return invalid_request("", needed + "the token budget of this request leaves " + left);
  }
  return invalid_request("", needed + "a prompt of " + counted(prompt) + " leaves " + left +
                                 " in the context window of " + std::to_string(window));
}

}  // namespace

// Before a request gets its first slot. An error: it cannot be answered, whatever is computed.
std::optional<Error> EngineLoop::find_constraint(Sequence& sequence) {
  const EngineRequest& request = sequence.request;
  if (sequence.started() || request.max_tokens == 0) return std::nullopt;
  if (request.soft_rules && !sequence.soft_bias) {
    sequence.soft_bias = constraints_.favour(request.soft_rules);
  }
  if (!request.constraint || sequence.constraint) return std::nullopt;
  const std::uint32_t longest = longest_answer(sequence);
  sequence.constraint = constraints_.follow(*request.constraint, longest);
  TooShort answer{sequence.constraint->tokens_needed_least(), longest,
                  longest < request.max_tokens ? Bound::kWindow : Bound::kMaxTokens, true};
  const auto budget = request.meter ? request.meter->remaining() : std::nullopt;
  if (budget && *budget < longest) {
    answer.left = *budget;
    answer.bound = Bound::kBudget;
  }
  std::optional<std::size_t> needed = answer.needed;
  if (answer.needed <= answer.left) {
    needed = sequence.constraint->tokens_needed();
    if (needed && *needed <= answer.left) return std::nullopt;
    answer.needed = needed.value_or(0);
    answer.at_least = false;
  }
  ++state_.constraints.refused;
  if (!needed) {
    return invalid_request("",
                           "the asked for structure holds a character that this model cannot "
                           "write");
  }
  return too_short(answer, sequence.usage.prompt_tokens, options_.window);
}

// The length of its answer is known now.
void EngineLoop::begin_constraint(Sequence& sequence) {
  sequence.constraint->limit_remaining(sequence.output_limit);
  limit_by_meter(sequence);
}

// A budget that ends before the answer's limit does, ends the structure in time.
void EngineLoop::limit_by_meter(Sequence& sequence) const {
  if (!sequence.request.meter) return;
  const std::optional<std::uint64_t> budget = sequence.request.meter->remaining();
  if (!budget || *budget >= sequence.constraint->remaining()) return;
  sequence.constraint->limit_remaining(*budget);
  sequence.limit_reason = FinishReason::kMaxTokens;
}

// Why an answer ends whose end was not cut: for `reason`, or because it had to be brought to its
// end while the model wanted to go on.
FinishReason EngineLoop::end_reason(const Sequence& sequence, FinishReason reason) {
  return closed_early(sequence) ? sequence.limit_reason : reason;
}

bool EngineLoop::closed_early(const Sequence& sequence) {
  return sequence.constraint && sequence.constraint->closed_early();
}

void EngineLoop::let_out_forced(Sequence& sequence) {
  if (sequence.request.top_logprobs || options_.forced_tokens == 0) return;
  const std::uint32_t most = std::min(options_.forced_tokens, limits::kForcedTokensMax);
  for (const Token token : sequence.constraint->forced_tokens(most)) {
    // The draft's plans of an end went with its rollback: asked again they are made again.
    if (!sequence.constraint->allows(token)) return;
    ++state_.constraints.forced_tokens;
    if (!let_out(sequence, token)) return;
  }
}

// Rules look at the arguments of calls. The stage knows where these are: they begin somewhere
// inside of a token, and end with another kind of text.
void EngineLoop::follow_soft(Sequence& sequence, Token token) const {
  SoftBias& bias = *sequence.soft_bias;
  bool whole = sequence.in_call;  // all of this token is read
  for (const Event& event : stage_events_) {
    if (const auto* call = std::get_if<ToolCallStarted>(&event)) {
      bias.begin(call->name);
      sequence.in_call = true;
      whole = false;
    } else if (const auto* delta = std::get_if<ToolCallDelta>(&event)) {
      if (!whole) bias.accept(delta->json);
    } else {
      bias.end();
      sequence.in_call = whole = false;
    }
  }
  if (whole) bias.accept(table_.bytes(token));
}

}  // namespace zerohop
