#include "constrain/partial_character.h"

#include <algorithm>
#include <string_view>

#include "base/hex.h"
#include "base/utf8.h"

namespace zerohop {

namespace {

using Stage = PartialCharacter::Stage;

constexpr std::string_view kShortEscapes = "\"\\/bfnrt";
constexpr std::u32string_view kShortEscaped = U"\"\\/\b\f\n\r\t";

// What a backslash may begin, and what may be written with one \u, in canonical text.
constexpr CodePointRange kEscapedCanonically[] = {
    {0, 0x1f}, {U'"', U'"'}, {U'\\', U'\\'}, {0x80, 0xd7ff}, {0xe000, kCodePointMax}};
constexpr CodePointRange kHexCanonically[] = {
    {0, 7}, {0xb, 0xb}, {0xe, 0x1f}, {0x80, 0xd7ff}, {0xe000, 0xffff}};
constexpr CodePointRange kHexAny[] = {{0, 0xd7ff}, {0xe000, 0xffff}};

std::span<const CodePointRange> written_with_hex(TextCoding coding) {
  if (coding == TextCoding::kJsonAny) return kHexAny;
  return kHexCanonically;
}

// Of a character in UTF-8: its length, and how many bytes of it are missing.
struct Utf8Stage {
  unsigned length = 0;
  unsigned missing = 0;
};

Utf8Stage utf8_stage(Stage stage) {
  switch (stage) {
    case Stage::kUtf8Of2Missing1: return {2, 1};
    case Stage::kUtf8Of3Missing2: return {3, 2};
    case Stage::kUtf8Of3Missing1: return {3, 1};
    case Stage::kUtf8Of4Missing3: return {4, 3};
    case Stage::kUtf8Of4Missing2: return {4, 2};
    case Stage::kUtf8Of4Missing1: return {4, 1};
    default: return {};
  }
}

// A character that can still become something stays begun.
CharacterRead begun(PartialCharacter& character, const PartialCharacter& next, TextCoding coding) {
  CharacterRead read{CharacterStep::kBegun, 0, completions(next, coding)};
  if (read.ranges.count == 0) return {};
  character = next;
  return read;
}

CharacterRead whole(PartialCharacter& character, char32_t letter) {
  if (!is_scalar_value(letter)) return {};
  character = {};
  return {CharacterStep::kWhole, letter, {}};
}

CharacterRead read_first(PartialCharacter& character, unsigned char byte, TextCoding coding) {
  const std::uint32_t lead = byte;
  if (coding != TextCoding::kUtf8) {
    if (byte < 0x20 || byte == '"') return {};
    if (byte == '\\') return begun(character, {Stage::kEscape, 0, 0}, coding);
  }
  if (byte < 0x80) return whole(character, byte);
  if (byte >= 0xc2 && byte <= 0xdf) {
    return begun(character, {Stage::kUtf8Of2Missing1, 0, lead & 0x1f}, coding);
  }
  if (byte >= 0xe0 && byte <= 0xef) {
    return begun(character, {Stage::kUtf8Of3Missing2, 0, lead & 0x0f}, coding);
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    return begun(character, {Stage::kUtf8Of4Missing3, 0, lead & 0x07}, coding);
  }
  return {};
}

CharacterRead read_escaped(PartialCharacter& character, unsigned char byte, TextCoding coding) {
  if (byte == 'u') return begun(character, {Stage::kHex, 0, 0}, coding);
  const std::size_t found = kShortEscapes.find(static_cast<char>(byte));
  if (found == std::string_view::npos) return {};
  if (byte == '/' && coding != TextCoding::kJsonAny) return {};
  return whole(character, kShortEscaped[found]);
}

CharacterRead read_hex(PartialCharacter& character, unsigned char byte, TextCoding coding) {
  const int digit = hex_digit_value(byte);
  if (digit < 0) return {};
  PartialCharacter next = character;
  next.value = character.value << 4 | static_cast<std::uint32_t>(digit);
  if (character.stage == Stage::kLowHex) {
    next.value = (character.value & 0xffff0000) | (next.value & 0xffff);
  }
  if (++next.digits < 4) return begun(character, next, coding);
  if (character.stage == Stage::kHex && next.value >= 0xd800 && next.value <= 0xdbff) {
    next.stage = Stage::kHighSurrogate;
    next.digits = 0;
    return begun(character, next, coding);
  }
  const CharacterRanges one = completions(next, coding);
  if (one.count != 1) return {};
  return whole(character, one.list[0].first);
}

CharacterRead read_continuation(PartialCharacter& character, unsigned char byte,
                                TextCoding coding) {
  if ((byte & 0xc0) != 0x80) return {};
  PartialCharacter next = character;
  next.value = character.value << 6 | (byte & 0x3fu);
  if (utf8_stage(character.stage).missing == 1) return whole(character, next.value);
  // Stages of one length follow each other, one byte after the other.
  next.stage = static_cast<Stage>(static_cast<unsigned>(character.stage) + 1);
  return begun(character, next, coding);
}

// Of the bytes [value, value + 2^open) written behind each other in hexadecimal digits.
void add_high_surrogates(CodePointRange units, CharacterRanges& ranges) {
  const char32_t first = std::max<char32_t>(units.first, 0xd800);
  const char32_t last = std::min<char32_t>(units.last, 0xdbff);
  if (first > last) return;
  ranges.add({0x10000 + ((first - 0xd800) << 10), 0x10000 + ((last - 0xd800) << 10) + 0x3ff});
}

std::string four_digits(std::uint32_t value) {
  std::string digits;
  for (int shift = 12; shift >= 0; shift -= 4) {
    digits.push_back("0123456789abcdef"[(value >> shift) & 15]);
  }
  return digits;
}

}  // namespace

void CharacterRanges::add_part(CodePointRange range, std::span<const CodePointRange> allowed) {
  for (const CodePointRange& part : allowed) {
    add({std::max(range.first, part.first), std::min(range.last, part.last)});
  }
}

bool CharacterRanges::contains(char32_t letter) const {
  return std::any_of(
      list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
      [&](const CodePointRange& range) { return range.first <= letter && letter <= range.last; });
}

CharacterRead read_character(PartialCharacter& character, unsigned char byte, TextCoding coding) {
  switch (character.stage) {
    case Stage::kBorder: return read_first(character, byte, coding);
    case Stage::kEscape: return read_escaped(character, byte, coding);
    case Stage::kHex:
    case Stage::kLowHex: return read_hex(character, byte, coding);
    case Stage::kHighSurrogate:
      if (byte != '\\') return {};
      return begun(character, {Stage::kPairEscape, 0, character.value}, coding);
    case Stage::kPairEscape:
      if (byte != 'u') return {};
      return begun(character, {Stage::kLowHex, 0, character.value << 16}, coding);
    default: return read_continuation(character, byte, coding);
  }
}

CharacterRanges completions(const PartialCharacter& character, TextCoding coding) {
  CharacterRanges ranges;
  const unsigned open = 4 * (4u - character.digits);
  switch (character.stage) {
    case Stage::kBorder: ranges.add_part({0, kCodePointMax}, kScalarValues); return ranges;
    case Stage::kEscape:
      if (coding == TextCoding::kJsonAny) {
        ranges.add_part({0, kCodePointMax}, kScalarValues);
      } else {
        for (const CodePointRange& range : kEscapedCanonically) ranges.add(range);
      }
      return ranges;
    case Stage::kHex: {
      const CodePointRange units{character.value << open,
                                 (character.value << open) + (1u << open) - 1};
      ranges.add_part(units, written_with_hex(coding));
      add_high_surrogates(units, ranges);
      return ranges;
    }
    case Stage::kHighSurrogate:
    case Stage::kPairEscape: {
      const char32_t first = 0x10000 + ((character.value - 0xd800) << 10);
      ranges.add({first, first + 0x3ff});
      return ranges;
    }
    case Stage::kLowHex: {
      const char32_t base = 0x10000 + (((character.value >> 16) - 0xd800) << 10);
      const char32_t units = (character.value & 0xffff) << open;
      const char32_t first = std::max<char32_t>(units, 0xdc00);
      const char32_t last = std::min<char32_t>(units + (1u << open) - 1, 0xdfff);
      if (first <= last) ranges.add({base + first - 0xdc00, base + last - 0xdc00});
      return ranges;
    }
    default: {
      static constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
      const auto [length, missing] = utf8_stage(character.stage);
      const unsigned bits = 6 * missing;
      const CodePointRange range{character.value << bits,
                                 (character.value << bits) + (1u << bits) - 1};
      ranges.add_part({std::max(range.first, kSmallest[length]), range.last}, kScalarValues);
      return ranges;
    }
  }
}

CharacterRanges brief_completions(const PartialCharacter& character, TextCoding coding) {
  CharacterRanges ranges;
  if (character.stage != Stage::kEscape) return ranges;
  for (const char32_t letter : kShortEscaped) {
    if (letter != U'/' || coding == TextCoding::kJsonAny) ranges.add({letter, letter});
  }
  return ranges;
}

std::string finish_character(const PartialCharacter& character, char32_t letter) {
  const Stage stage = character.stage;
  const unsigned missing = utf8_stage(stage).missing;
  if (missing > 0) {
    std::string raw;
    utf8_append(raw, letter);
    return raw.substr(raw.size() - missing);
  }
  if (stage == Stage::kEscape) {
    const std::size_t found = kShortEscaped.find(letter);
    if (found != std::u32string_view::npos) return std::string(1, kShortEscapes[found]);
  }
  // How much of "uXXXX" or "uXXXX\uXXXX" has been written.
  std::string escape;
  if (letter < 0x10000) {
    escape = "u" + four_digits(letter);
  } else {
    escape = "u" + four_digits(0xd800 + ((letter - 0x10000) >> 10)) + "\\u" +
             four_digits(0xdc00 + ((letter - 0x10000) & 0x3ff));
  }
  if (stage == Stage::kHex) return escape.substr(1u + character.digits);
  if (stage == Stage::kHighSurrogate) return escape.substr(5);
  if (stage == Stage::kPairEscape) return escape.substr(6);
  if (stage == Stage::kLowHex) return escape.substr(7u + character.digits);
  return escape;
}

void append_character(char32_t letter, TextCoding coding, std::string& text) {
  const bool json = coding != TextCoding::kUtf8;
  if (!json || (letter >= 0x20 && letter != U'"' && letter != U'\\')) {
    utf8_append(text, letter);
    return;
  }
  text += '\\';
  const std::size_t found = kShortEscaped.find(letter);
  if (found != std::u32string_view::npos) {
    text += kShortEscapes[found];
  } else {
    text += 'u';
    text += four_digits(letter);
  }
}

}  // namespace zerohop
