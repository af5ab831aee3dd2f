// Which tokens begin or go on a word of an automaton: a vocabulary's trie walked with it.
//
// The trie has some 270,000 nodes, and of a wide language nearly all are alive: 5 to 20 ns each are
// several milliseconds for one mask. Names that match none of two patterns are such a language, and
// names that match one of them another; a place where both may come asks for several masks at once.
//
// Two things make most nodes cheap. ASCII between two characters is a table (content_tables.h): the
// next state depends on state and byte alone. And most of the trie is not looked at, because most
// bytes make no difference. Take names without "[0-9]{2,}", behind 'a':
//
//   state 0 --0-9--> state 1 --0-9--> dead      home of 0: 0, by all bytes but 0-9
//     ^ |             |                         home of 1: 0, likewise
//     +-+ others <----+
//
// A state's home is where most of its bytes lead, from there to the home's home, and so on: often
// around in a circle, sometimes (letters that are counted) along a row of states. If the bytes
// below a node (trie_summary.h) are all of those that lead home at each of as many steps as there
// are levels, nothing below it can die, and where each token ends up is known from how many
// characters it has. Or the bytes below it are such that, however they follow one another, they
// lead only to states where all of them are alive: names that end in 'c' go to and fro between two
// states. That leaves the nodes in front of a byte that makes a difference, some percent. A state
// from which nothing can die at all (ContentAutomaton::open()) has all bytes lead home.
//
// Where most bytes are alive, most tokens are: then what dies is taken away from all that a text
// may begin with, and what is left out costs nothing. Otherwise what is alive is added.
//
// Words that are bounded in length cost no more. Behind n characters, with m allowed and the
// state's shortest end of s characters, a word is alive when n + s <= m; going on never makes n + s
// smaller, so a token is right when its last character is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "constrain/byte_trie.h"
#include "constrain/content_automaton.h"
#include "constrain/content_coding.h"
#include "constrain/content_tables.h"
#include "constrain/token_mask.h"
#include "constrain/trie_summary.h"

namespace zerohop {

/// A vocabulary as content is walked with.
struct ContentVocabulary {
  /// In `characters`: no text in this coding begins with this token.
  static constexpr std::uint16_t kNever = UINT16_MAX;

  const ByteTrie& trie;  ///< values are tokens
  const TrieSummary& summary;
  const TokenMask& anything;  ///< tokens that a text in this coding may begin with
  /// Of each value, in the trie's order: characters that the token begins, read between two.
  std::span<const std::uint16_t> characters;
};

/// One use; not thread-safe.
class ContentWalk {
 public:
  /// All outlive this. The automaton's characters_min() is 0 where the run is; `tables` are those
  /// of its identity() and the run's coding, and go on from walk to walk.
  ContentWalk(const ContentRun& run, const ContentVocabulary& vocabulary, ContentTables& tables);

  /// Adds the tokens that the run can go on with, those that leave it not included.
  void add_to(MaskBuilder& mask);

  /// Nodes that were looked at.
  std::size_t looked_at() const { return looked_at_; }

 private:
  // No state of the automaton: inside of a character.
  static constexpr std::uint32_t kInside = ContentAutomaton::kNoState - 1;

  /// Where the walk is, by depth.
  struct Place {
    std::uint32_t state = 0;
    std::uint32_t read = 0;  // whole characters
    ContentPlace inside;     // where `state` is kInside
  };

  bool step(const ByteTrie::Node& node);
  bool slow_step(const ByteTrie::Node& node);
  bool too_long(std::uint32_t state, std::uint32_t read) const {
    return bounded_ && read + automaton_.nearest_end(state) > run_.characters_max;
  }
  enum class Method : bool { kAdd, kRemove };
  void walk(Method method, MaskBuilder& mask);
  /// Tokens below a node that leads home from a state behind so many characters.
  struct Below {
    std::uint32_t state = 0;
    std::uint32_t read = 0;
    std::size_t node = 0;
    bool certain = false;  // whatever the bound, it is kept
  };
  std::optional<Below> left_out(const Place& place, std::size_t node);
  bool leads_home(std::uint32_t state, std::size_t node);
  bool is_safe(const Below& below);
  void add_below(const Below& below, MaskBuilder& mask);
  void remove_below(const Below& below, MaskBuilder& mask);
  void find_ends(const Below& below);
  bool too_long(const Below& below, std::uint32_t characters) const {
    const std::size_t more = characters - below.read;
    return characters + ends_[std::min(more, ends_.size() - 1)] > run_.characters_max;
  }

  const ContentRun& run_;
  const ContentVocabulary& vocabulary_;
  ContentTables& tables_;
  const ContentAutomaton& automaton_;
  const bool bounded_;
  ContentDecoder decoder_;
  std::vector<Place> places_;        // by depth
  std::vector<std::uint32_t> ends_;  // find_ends(): behind each further character
  std::size_t looked_at_ = 0;
};

}  // namespace zerohop
