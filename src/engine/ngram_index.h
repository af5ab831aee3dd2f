// Finds where the end of a text stood before, so that what came behind it then can be proposed as
// what comes next (prompt lookup decoding: Saxena, 2023; the method is that of the match finders of
// LZ77 compressors).
//
//   text      … the cat sat on the mat. The dog saw the cat sat
//                   ─────────┬                      ─────────
//                            └ what follows: " on the mat. The dog …"
//
// Every three tokens in a row are hashed; a table has the last place of each hash and a ring links
// each place to the one before with the same hash. find() looks at the latest kPlacesMax of those
// that end like the text and takes the one that agrees with most tokens before it, the latest of
// equals. Where three tokens never stood before, the last place of the last two is taken, which are
// kept in the same way. What is found is compared with the text, so that nothing depends on hashes
// but the time.
//
// Costs: 16 bytes a token of text, and of the latest kWindow tokens alone (512 KiB). The tables
// grow with the text by doubling and adding again, so a token costs O(1) amortised.
//
// Holds places, no tokens: the text is its owner's and may only grow. Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/token.h"

namespace zerohop {

class NgramIndex {
 public:
  /// Places behind the latest so many tokens are found.
  static constexpr std::int32_t kWindow = 1 << 15;
  /// Places with the same three tokens that are looked at.
  static constexpr int kPlacesMax = 16;
  /// Tokens that are compared.
  static constexpr std::int32_t kAgreeingMax = 32;
  /// Fewest tokens that a match agrees in.
  static constexpr std::int32_t kAgreeingMin = 2;

  struct Match {
    std::int32_t next = 0;  ///< index in the text of what followed there
    std::int32_t agreeing =
        0;  ///< tokens before it that end the text as well; kAgreeingMin or more
  };

  /// Adds what `text` has gained since the last call. The text before that is as it was.
  void follow(TokenSpan text);

  /// The best place for the end of `text`, which was followed; nothing where its last two tokens
  /// never stood before.
  std::optional<Match> find(TokenSpan text) const;

  /// What follows a match, `most` tokens at most. Where the text ends it goes on with itself, so a
  /// match that is p tokens back repeats those p.
  static void copy(TokenSpan text, const Match& match, std::size_t most, std::vector<Token>& out);

  std::size_t memory_bytes() const;

 private:
  static constexpr std::int32_t kNowhere = -1;

  // Places by the hash of so many tokens that end there, the latest first.
  struct Chains {
    std::int32_t order;
    std::vector<std::int32_t> latest = {};    // by hash
    std::vector<std::int32_t> previous = {};  // by place modulo its size: the one before

    void make(std::size_t entries);
    std::size_t entry_of(TokenSpan text, std::int32_t last) const;
    void add(TokenSpan text, std::int32_t last);
  };

  Match best_of(const Chains& chains, TokenSpan text, int places_max) const;

  std::int32_t added_ = 0;  // places before it are in the tables
  Chains pairs_{2};
  Chains triples_{3};
};

}  // namespace zerohop
