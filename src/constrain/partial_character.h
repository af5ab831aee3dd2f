// One character as it is written, read byte by byte: in UTF-8, or inside a JSON string.
//
// Whoever follows characters keeps this beside its own place and asks what the character that has
// begun can still become: content_coding.h for one automaton, the JSON machine for all alternatives
// that stand inside the same character.
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
// Values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "constrain/code_point_set.h"
#include "constrain/constraint_machine.h"

namespace zerohop {

/// What has been read of the character that has begun. Equal ones have equal members (what a stage
/// does not use is 0), so they can be hash keys.
struct PartialCharacter {
  /// kUtf8OfN_R: of N bytes R are missing.
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

  Stage stage = Stage::kBorder;
  std::uint8_t digits = 0;  ///< hexadecimal digits read
  std::uint32_t value = 0;  ///< bits of the character

  bool at_border() const { return stage == Stage::kBorder; }
  friend bool operator==(const PartialCharacter&, const PartialCharacter&) = default;
};

/// The characters that one can still become: sorted by nothing, disjoint.
struct CharacterRanges {
  std::array<CodePointRange, 10> list;
  std::size_t count = 0;

  void add(CodePointRange range) {
    if (range.first <= range.last) list[count++] = range;
  }
  void add_part(CodePointRange range, std::span<const CodePointRange> allowed);
  bool contains(char32_t letter) const;
  std::span<const CodePointRange> span() const { return std::span(list).first(count); }
  CodePointSet set() const { return CodePointSet::of({list.begin(), list.begin() + count}); }
};

enum class CharacterStep : std::uint8_t { kRefused, kBegun, kWhole };

struct CharacterRead {
  CharacterStep step = CharacterStep::kRefused;
  char32_t letter = 0;     ///< of kWhole: the character
  CharacterRanges ranges;  ///< of kBegun: completions()
};

/// Reads `byte`. kWhole: `character` is at the border again. kRefused: nothing has changed; in a
/// JSON coding also for the closing quote.
CharacterRead read_character(PartialCharacter& character, unsigned char byte, TextCoding coding);

/// What `character` can become; at the border: everything.
CharacterRanges completions(const PartialCharacter& character, TextCoding coding);

/// Those of completions() that a short escape finishes; none but behind a backslash.
CharacterRanges brief_completions(const PartialCharacter& character, TextCoding coding);

/// The bytes that make `letter`, one of completions(), of a character that has begun.
std::string finish_character(const PartialCharacter& character, char32_t letter);

/// A whole character: JSON codings canonically (ASCII with the escapes that it needs, the rest
/// raw).
void append_character(char32_t letter, TextCoding coding, std::string& text);

}  // namespace zerohop
