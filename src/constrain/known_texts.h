// Texts that must not come twice: names of an object, items of an array whose items differ.
//
// A text is its last character behind a shorter text, a set is its newest member in a smaller set,
// both interned: a text that grows by a character and a set that grows by a member cost one entry.
// Whether a large set has a member is asked the other way around: of the few sets that this text
// was added to, is one a part of it? Sets have a second link far back for that, so it takes
// logarithmic time.
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/content_automaton.h"
#include "constrain/hash_index.h"

namespace zerohop {

using TextId = std::uint32_t;
using TextSetId = std::uint32_t;

inline constexpr TextId kNoText = 0;
inline constexpr TextId kEmptyText = 1;
inline constexpr TextSetId kNoTexts = 0;

class KnownTexts {
 public:
  KnownTexts();

  TextId longer(TextId text, char32_t letter);
  TextId of(std::u32string_view text);
  TextId of_ascii(std::string_view text);
  std::u32string text(TextId id) const;
  std::uint32_t length(TextId id) const { return texts_[id].length; }
  /// `whole` begins with `head`.
  bool begins_with(TextId whole, TextId head) const;
  /// The character of `whole` behind `head`, which it begins with and differs from.
  char32_t letter_behind(TextId whole, TextId head) const;

  TextSetId with(TextSetId set, TextId member);
  bool contains(TextSetId set, TextId member) const;
  /// Members that begin with `head`.
  std::vector<TextId> beginning_with(TextSetId set, TextId head) const;
  std::uint32_t size(TextSetId set) const { return sets_[set].size; }
  std::uint32_t largest_size() const { return largest_size_; }  ///< of all sets

  std::size_t memory_bytes() const;

 private:
  struct Text {
    TextId head = kNoText;
    char32_t letter = 0;
    std::uint32_t length = 0;
    TextSetId newest_with = kNoTexts;  // of the sets that it was added last to
  };
  struct Set {
    TextSetId smaller = kNoTexts;
    TextSetId far_smaller = kNoTexts;  // some set further back
    TextSetId older_with = kNoTexts;   // the set before with the same newest member
    TextId member = kNoText;
    std::uint32_t size = 0;
  };

  TextSetId part_of_size(TextSetId set, std::uint32_t size) const;

  std::vector<Text> texts_;
  std::vector<Set> sets_;
  HashIndex text_index_;
  HashIndex set_index_;
  std::uint32_t largest_size_ = 0;
};

/// A place in a word of `automaton`: `text` has been read, which leads to `state` with `count`
/// characters. `text` may hold more than the word, in front of it.
struct WordPlace {
  const ContentAutomaton* automaton = nullptr;
  std::uint32_t state = 0;
  std::uint32_t count = 0;
  TextId text = kEmptyText;
};

/// Whether some word goes on with one of the characters `first` and makes a text that is none of
/// `taken`. Without `first` (empty): or ends here.
bool other_word_exists(KnownTexts& texts, const WordPlace& place, TextSetId taken,
                       std::span<const CodePointRange> first);

/// The rest of a shortest such word; nothing: there is none.
std::optional<std::u32string> shortest_other_word(KnownTexts& texts, const WordPlace& place,
                                                  TextSetId taken,
                                                  std::span<const CodePointRange> first);

}  // namespace zerohop
