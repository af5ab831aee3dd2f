// One sequence's place in a constraint: which token may come next, and that the text gets finished.
//
// The text always closes. Behind every state the machine knows a shortest end; a token is allowed
// only if the shortest end behind it can be written in the tokens that are then left. So at every
// place there is a plan: the tokens of the shortest end, which fit. Nearly always that is seen
// without tokenising, because n bytes never take more than n tokens. When no other token fits, the
// plan is followed token by token, and the text is complete when the last token is spent:
//
//   remaining 5, text {"a":"xyz     shortest end "}    any token of the string is allowed
//   remaining 2                      shortest end "}    only `"` then `}`, or `"}` are
//
// Whoever wants to look ahead takes a mark, goes on, and rolls back to the mark: a copy of a few
// numbers, and nothing is kept for it token by token. Cells know nothing of it; what was let out is
// never taken back (engine_constrain.cc).
//
// Belongs to one request; engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/live_machine.h"
#include "constrain/mask_cache.h"

namespace zerohop {

/// How the model itself writes a text in tokens. What does not join to the same bytes again is not
/// used; then tokens are found greedily.
using Tokenize = std::function<std::vector<Token>(std::string_view text)>;

/// Tokens that join to exactly `text`: canonical ones, else greedy ones. Nothing: it has a control
/// character that no token has.
std::optional<std::vector<Token>> write_in_tokens(std::string_view text, const TokenTrie& tokens,
                                                  const Tokenize& tokenize);

/// Of all sessions of an engine, for telemetry.
struct ConstraintStatistics {
  std::uint64_t checks = 0;    ///< sampled tokens that were looked at
  std::uint64_t misses = 0;    ///< of these, not allowed
  std::uint64_t redraws = 0;   ///< draws from a mask that left too few tokens to finish
  std::uint64_t closings = 0;  ///< misses where only the shortest end was left
  double legal_mass = 0;       ///< sum over misses: probability of all allowed tokens
};

class ConstraintSession {
 public:
  struct Parts {
    std::shared_ptr<LiveMachine> machine;
    MaskCache* masks = nullptr;
    Tokenize tokenize;           ///< may be empty
    std::size_t tokens_max = 0;  ///< that the whole answer may have, end tokens not counted
    ConstraintStatistics* statistics = nullptr;
  };
  explicit ConstraintSession(Parts parts);
  // statistics_ may point into the session.
  ConstraintSession(const ConstraintSession&) = delete;
  ConstraintSession& operator=(const ConstraintSession&) = delete;

  /// Tokens of the shortest text, canonically written. Nothing: it cannot be written.
  std::optional<std::size_t> tokens_needed();
  /// Tokens without which no text can be written, at once: a shortest text may have a million
  /// bytes, and cutting those into tokens takes longer than a step. 0 where it is not long.
  std::size_t tokens_needed_least();

  /// Whether `token` may be next: legal, and the text can be finished behind it in what is left.
  bool allows(Token token);

  /// The legal tokens, whether or not the text can be finished in time behind them: a token drawn
  /// from the mask needs allows() as well. Valid until the next call of any session.
  const TokenMask& mask();

  /// The tokens that begin the shortest end and are allowed; ascending, never empty. Where it
  /// accepts: the end tokens. Where a machine has left out all texts that would end in time: legal
  /// ones, behind which the text will not be complete.
  std::vector<Token> closing_tokens();

  /// Goes on behind `token`, which allows() has let pass.
  void accept(Token token);

  /// Where the session stands. Means something to rollback() of the same session alone.
  class Mark;
  Mark mark() const;
  /// Takes back what was accepted since `mark` was taken, which is as if it had never been. Where
  /// the machine was replaced meanwhile, the text up to there is read again.
  void rollback(const Mark& mark);

  /// The text may end here.
  bool may_end();
  /// The text must end here: no forward pass is needed to know that an end token follows.
  bool must_end();
  /// Some token on the way here was legal but left too few tokens to finish: the text is shorter
  /// than it would have been with more.
  bool closed_early() const { return closed_early_; }

  /// Tokens that come next whatever is chosen, canonically written, at most `tokens_max`: a draft.
  /// Those at the end that a longer token could swallow are left out (token healing), so the model
  /// keeps its habits at the border.
  std::vector<Token> forced_tokens(std::size_t tokens_max);

  /// The tokens that the answer may still have.
  std::size_t remaining() const { return remaining_; }
  /// Lowers that, but never below what the plan needs. Returns what it is now.
  std::size_t limit_remaining(std::size_t tokens);

  std::string_view text() const { return text_; }
  const TokenTrie& tokens() const { return masks_->tokens(); }
  ConstraintStatistics& statistics() { return *statistics_; }

 private:
  // Tokens of an end that fits (none: it cannot be written); nothing: not asked for so far.
  using Plan = std::optional<std::vector<Token>>;
  struct Place {
    MachineState state = kDeadState;
    Plan plan;
  };
  struct Next {
    Token token = -1;
    MachineState state = kDeadState;
    Plan plan;
  };

  void find_again();
  void read_again();
  void find_next(Token token);
  bool end_fits(MachineState state, std::size_t tokens_left, Plan& plan) const;
  bool is_writable(MachineState state) const;
  bool next_fits();
  void note_denied();
  bool leads_on(Token token);
  std::vector<Token> tokens_too_late(std::string_view end);
  bool inherit_plan();
  const std::vector<Token>& plan();
  std::optional<std::vector<Token>> write(std::string_view text) const;
  bool could_go_on(std::string_view tail, MachineState behind);
  std::size_t count_allowed(std::span<const Token> draft);

  std::shared_ptr<LiveMachine> live_;
  MaskCache* masks_;
  Tokenize tokenize_;
  ConstraintStatistics* statistics_;
  ConstraintStatistics own_statistics_;  // where none are given

  std::uint32_t generation_ = 0;
  std::size_t remaining_;
  bool closed_early_ = false;
  std::string text_;
  Place place_;
  Next next_;  // behind the token that was looked at last
};

class ConstraintSession::Mark {
  friend class ConstraintSession;

  Place place_;
  std::size_t bytes_ = 0;  // of the text
  std::size_t remaining_ = 0;
  std::uint32_t generation_ = 0;
  bool closed_early_ = false;
};

}  // namespace zerohop
