// How a text in bytes is read as the characters of a content automaton: plain UTF-8, or the inside
// of a JSON string (without its quotes), byte by byte.
//
// A place is a few numbers: the automaton's state behind the last whole character, how many
// characters were read, and what is known of the character that has begun. Places are values, so
// going back and forking are copies. A byte is refused as soon as no completion of the character
// that it begins or goes on with leads to a word; so a place that step() reached can always be
// finished.
//
//            lead byte                    continuation bytes
//   border ------------> kUtf8Of… ------------------------------------> border
//     |  '\'             short escape
//     +-----> kEscape -------------------------------------------------> border
//                |  'u'        4 hex digits, no surrogate
//                +-----> kHex -----------------------------------------> border
//                          |   high surrogate       '\'            'u'         4 hex digits
//                          +-----> kHighSurrogate ------> kPairEscape --> kLowHex ------> border
//
// A decoder is two pointers' worth of value, owns nothing and never changes; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "constrain/constraint_machine.h"
#include "constrain/content_automaton.h"

namespace zerohop {

/// Equal places have equal members (what a stage does not use is 0), so they can be hash keys.
struct ContentPlace {
  /// Where inside a character. kUtf8OfN_R: of N bytes R are missing.
  enum class Stage : std::uint8_t {
    kBorder,
    kUtf8Of2Missing1,
    kUtf8Of3Missing2,
    kUtf8Of3Missing1,
    kUtf8Of4Missing3,
    kUtf8Of4Missing2,
    kUtf8Of4Missing1,
    kEscape,         ///< behind a backslash
    kHex,            ///< behind \u; `digits` were read, `value` is their number
    kHighSurrogate,  ///< `value` is the high surrogate
    kPairEscape,     ///< behind the backslash behind it
    kLowHex,         ///< `value` is high surrogate × 65536 + the digits read so far
  };

  std::uint32_t state = 0;  ///< of the automaton, behind the last whole character
  std::uint32_t count = 0;  ///< whole characters read
  std::uint32_t value = 0;  ///< bits of the character that has begun
  Stage stage = Stage::kBorder;
  std::uint8_t digits = 0;  ///< hexadecimal digits read

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

  bool at_character_border(const ContentPlace& place) const {
    return place.stage == ContentPlace::Stage::kBorder;
  }

  /// At a border, and what was read is a word.
  bool accepts(const ContentPlace& place) const;

  /// The bytes of the shortest rest: fewest characters, then the most readable ones; characters
  /// that have not begun are written canonically. Empty exactly where accepts(). Reading its first
  /// byte leads to the place whose shortest rest is its rest.
  std::string shortest_end(const ContentPlace& place) const;

  TextCoding coding() const { return coding_; }

 private:
  struct Ranges;
  Ranges completions(const ContentPlace& place) const;
  bool begin(ContentPlace& place, unsigned char byte) const;
  bool escape(ContentPlace& place, unsigned char byte) const;
  bool hex(ContentPlace& place, unsigned char byte) const;
  bool finish(ContentPlace& place, char32_t code_point) const;
  bool go_to(ContentPlace& place, const ContentPlace& next) const;
  std::optional<char32_t> shortest_letter(const ContentPlace& place) const;
  std::string finish_character(const ContentPlace& place, char32_t letter) const;

  const ContentAutomaton* automaton_;
  TextCoding coding_;
};

/// `word` as text: JSON codings canonically (ASCII with the escapes that it needs, the rest raw).
std::string encode_content(std::u32string_view word, TextCoding coding);

}  // namespace zerohop
