// One character inside a JSON string, read byte by byte, whoever wants to know it.
//
// content_coding.h follows one automaton; here several alternatives stand inside the same
// character, so what has been read of it is kept once, and each alternative asks what the character
// can still become. The stages are those of ContentPlace (see the drawing there).
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
#include "constrain/content_coding.h"

namespace zerohop {

/// What has been read of the character that has begun. Equal ones have equal members.
struct JsonCharacter {
  ContentPlace::Stage stage = ContentPlace::Stage::kBorder;
  std::uint8_t digits = 0;  ///< hexadecimal digits read
  std::uint32_t value = 0;

  bool at_border() const { return stage == ContentPlace::Stage::kBorder; }
  friend bool operator==(const JsonCharacter&, const JsonCharacter&) = default;
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
};

enum class CharacterStep : std::uint8_t { kRefused, kBegun, kWhole };

/// Reads `byte`, in a JSON coding. kWhole: `letter` is the character, and `character` is at the
/// border again. kRefused: nothing has changed; also for the closing quote.
CharacterStep read_character(JsonCharacter& character, unsigned char byte, TextCoding coding,
                             char32_t& letter);

/// What `character` can become; at the border: everything.
CharacterRanges completions(const JsonCharacter& character, TextCoding coding);

/// Those of completions() that a short escape finishes; none but behind a backslash.
CharacterRanges brief_completions(const JsonCharacter& character, TextCoding coding);

/// The bytes that make `letter`, one of completions(), of a character that has begun.
std::string finish_character(const JsonCharacter& character, char32_t letter);

}  // namespace zerohop
