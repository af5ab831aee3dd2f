// How a text in bytes is read as the characters of a content automaton: plain UTF-8, or the inside
// of a JSON string (without its quotes), byte by byte.
//
// A place is a few numbers: the automaton's state behind the last whole character, how many
// characters were read, and what is known of the character that has begun. Places are values, so
// going back and forking are copies. A byte is refused as soon as no completion of the character
// that it begins or goes on with leads to a word; so a place that step() reached can always be
// finished.
//
// A decoder is two pointers' worth of value, owns nothing and never changes; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "constrain/constraint_machine.h"
#include "constrain/content_automaton.h"
#include "constrain/partial_character.h"

namespace zerohop {

/// Equal places have equal members, so they can be hash keys.
struct ContentPlace {
  std::uint32_t state = 0;          ///< of the automaton, behind the last whole character
  std::uint32_t count = 0;          ///< whole characters read
  PartialCharacter character = {};  ///< what is known of the one that has begun

  friend bool operator==(const ContentPlace&, const ContentPlace&) = default;
};

class ContentDecoder {
 public:
  /// `automaton` is not empty() and outlives the decoder.
  ContentDecoder(const ContentAutomaton& automaton, TextCoding coding);

  ContentPlace start() const;

  /// Reads `byte`. False: no word is written like that; then `place` is as before. In a JSON coding
  /// the closing quote is no content, so it is refused: the caller looks for it, where accepts().
  bool step(ContentPlace& place, unsigned char byte) const;

  bool at_character_border(const ContentPlace& place) const { return place.character.at_border(); }

  /// At a border, and what was read is a word.
  bool accepts(const ContentPlace& place) const;

  /// The bytes of the shortest rest: fewest characters, then the most readable ones; characters
  /// that have not begun are written canonically. Empty exactly where accepts(). Reading its first
  /// byte leads to the place whose shortest rest is its rest.
  std::string shortest_end(const ContentPlace& place) const;

  TextCoding coding() const { return coding_; }

 private:
  bool finish(ContentPlace& place, char32_t letter) const;
  bool can_become(const ContentPlace& place, const CharacterRanges& ranges) const;
  char32_t shortest_letter(const ContentPlace& place) const;

  const ContentAutomaton* automaton_;
  TextCoding coding_;
};

/// `word` as text: JSON codings canonically (ASCII with the escapes that it needs, the rest raw).
std::string encode_content(std::u32string_view word, TextCoding coding);

}  // namespace zerohop
