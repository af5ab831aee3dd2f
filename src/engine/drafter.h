// What one sequence may propose as its next tokens, and what its proposals are worth.
//
// Proposals come from its own text (ngram_index.h). What they are worth is learned from those that
// were tried, by how many tokens the text agrees in before the proposed one: after "the cat sat"
// the next word is a guess, twenty tokens into a copied paragraph it is nearly certain. The more of
// a draft is accepted, the more agrees before the rest of it, so a draft of k tokens behind a match
// of n is worth
//
//   gain(j) = c(n) · c(n + 1) · … · c(n + j)       the chance that token j is accepted
//
// with c learned by classes of n. So drafts get longer where they are accepted and shorter, or
// none, where they are not; how many of them pay at the present load is decided by draft_planner.h.
//
//   trying ──kFailuresMax drafts in a row without an accepted token──▶ resting, kRestMin tokens,
//     ▲                                                                twice as many each time
//     └──────────────────── half of what was learned is forgotten ─────────────┘
//
// A resting sequence does not even read its new tokens. One whose proposals are not worth a try
// (they were declined) forgets half of what it learned every kDeclinedMax of them, or it would
// never try again.
//
// Memory: that of the index. Engine thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/token.h"
#include "engine/ngram_index.h"

namespace zerohop {

class Drafter {
 public:
  static constexpr std::uint32_t kFailuresMax = 3;
  static constexpr std::uint32_t kRestMin = 16;
  static constexpr std::uint32_t kRestMax = 512;
  static constexpr std::uint32_t kDeclinedMax = 48;

  /// Looks for a proposal of at most `most` tokens behind `text`, which has only grown since the
  /// last call. What tokens() and gains() show is of this call.
  void propose(TokenSpan text, std::size_t most);

  /// The proposal; empty: none.
  std::span<const Token> tokens() const { return tokens_; }
  /// Of each of its tokens: the chance that it and all before it are accepted; descending.
  std::span<const double> gains() const { return gains_; }

  /// Only the first `count` tokens of the proposal can be used.
  void shorten(std::size_t count);

  /// The proposal was not tried.
  void declined();
  /// Its first `drafted` tokens were tried and the first `accepted` of them taken. `parted`: the
  /// next one was not; otherwise nothing is known about it.
  struct Outcome {
    std::size_t drafted = 0;
    std::size_t accepted = 0;
    bool parted = false;
  };
  void learn(const Outcome& outcome);

  /// The chance that a proposed token is taken that follows so many agreeing ones.
  double chance(std::int32_t agreeing) const;

  bool resting() const { return rest_ > 0; }
  std::size_t memory_bytes() const { return index_.memory_bytes(); }

 private:
  static constexpr std::size_t kClasses = 6;

  struct Evidence {
    double taken = 0;
    double tried = 0;
  };

  static std::size_t class_of(std::int32_t agreeing);
  void note(std::int32_t agreeing, double taken);
  void forget_half();

  NgramIndex index_;
  std::vector<Token> tokens_;
  std::vector<double> gains_;
  std::size_t text_size_ = 0;  // of the last proposal
  std::int32_t agreeing_ = 0;  // of the match that the proposal came from
  std::array<Evidence, kClasses> evidence_{};
  std::uint32_t failures_ = 0;  // in a row
  std::uint32_t declined_ = 0;  // since the last forgetting
  std::size_t rest_ = 0;        // a text of that size ends the rest; 0: none
  std::uint32_t next_rest_ = kRestMin;
};

}  // namespace zerohop
