#include "constrain/content_coding.h"

#include <algorithm>

#include "base/check.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace zerohop {

namespace {

using Stage = ContentPlace::Stage;

constexpr std::string_view kShortEscapes = "\"\\/bfnrt";
constexpr std::u32string_view kShortEscaped = U"\"\\/\b\f\n\r\t";
constexpr std::string_view kHexDigits = "0123456789abcdef";

/// What a backslash may begin in canonical text.
constexpr CodePointRange kCanonicallyEscaped[] = {
    {0, 0x1f}, {U'"', U'"'}, {U'\\', U'\\'}, {0x80, kCodePointMax}};

bool is_json(TextCoding coding) { return coding != TextCoding::kUtf8; }

/// What may be written with \u.
std::span<const CodePointRange> hex_escaped(TextCoding coding) {
  static constexpr CodePointRange kAny[] = {{0, 0xd7ff}, {0xe000, 0xffff}};
  static constexpr CodePointRange kCanonical[] = {
      {0, 7}, {0xb, 0xb}, {0xe, 0x1f}, {0x80, 0xd7ff}, {0xe000, 0xffff}};
  if (coding == TextCoding::kJsonAny) return kAny;
  return kCanonical;
}

struct Utf8Stage {
  unsigned length;  // of the whole character
  unsigned missing;
};

Utf8Stage utf8_stage(Stage stage) {
  switch (stage) {
    case Stage::kUtf8Of2Missing1: return {2, 1};
    case Stage::kUtf8Of3Missing2: return {3, 2};
    case Stage::kUtf8Of3Missing1: return {3, 1};
    case Stage::kUtf8Of4Missing3: return {4, 3};
    case Stage::kUtf8Of4Missing2: return {4, 2};
    case Stage::kUtf8Of4Missing1: return {4, 1};
    default: return {0, 0};
  }
}

// Stages of one length follow each other, one byte after the other.
Stage next_utf8(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) + 1); }

std::string four_digits(std::uint32_t value) {
  std::string digits;
  for (int shift = 12; shift >= 0; shift -= 4) digits.push_back(kHexDigits[(value >> shift) & 15]);
  return digits;
}

void append_encoded(char32_t code_point, TextCoding coding, std::string& text) {
  if (is_json(coding) && (code_point < 0x20 || code_point == U'"' || code_point == U'\\')) {
    const std::size_t place = kShortEscaped.find(code_point);
    text += '\\';
    if (place != std::u32string_view::npos) {
      text += kShortEscapes[place];
    } else {
      text += 'u';
      text += four_digits(code_point);
    }
    return;
  }
  utf8_append(text, code_point);
}

}  // namespace

// The characters that a place inside a character can still become.
struct ContentDecoder::Ranges {
  std::array<CodePointRange, 10> list;
  std::size_t count = 0;

  void add(CodePointRange range) {
    if (range.first <= range.last) list[count++] = range;
  }
  void add_part(CodePointRange range, std::span<const CodePointRange> allowed) {
    for (const CodePointRange& part : allowed) {
      add({std::max(range.first, part.first), std::min(range.last, part.last)});
    }
  }
  std::span<const CodePointRange> span() const { return std::span(list).first(count); }
  CodePointSet set() const { return CodePointSet::of({list.begin(), list.begin() + count}); }
};

ContentDecoder::ContentDecoder(const ContentAutomaton& automaton, TextCoding coding)
    : automaton_(&automaton), coding_(coding) {}

ContentPlace ContentDecoder::start() const { return {.state = automaton_->start()}; }

ContentDecoder::Ranges ContentDecoder::completions(const ContentPlace& place) const {
  Ranges ranges;
  switch (place.stage) {
    case Stage::kBorder: ranges.add({0, kCodePointMax}); return ranges;
    case Stage::kEscape:
      if (coding_ == TextCoding::kJsonAny) {
        ranges.add({0, kCodePointMax});
      } else {
        for (const CodePointRange& range : kCanonicallyEscaped) ranges.add(range);
      }
      return ranges;
    case Stage::kHex: {
      const unsigned open = 4 * (4u - place.digits);
      const CodePointRange units{place.value << open, (place.value << open) + (1u << open) - 1};
      ranges.add_part(units, hex_escaped(coding_));
      const char32_t high_first = std::max<char32_t>(units.first, 0xd800);
      const char32_t high_last = std::min<char32_t>(units.last, 0xdbff);
      if (high_first <= high_last) {
        ranges.add({0x10000 + ((high_first - 0xd800) << 10),
                    0x10000 + ((high_last - 0xd800) << 10) + 0x3ff});
      }
      return ranges;
    }
    case Stage::kHighSurrogate:
    case Stage::kPairEscape: {
      const char32_t first = 0x10000 + ((place.value - 0xd800) << 10);
      ranges.add({first, first + 0x3ff});
      return ranges;
    }
    case Stage::kLowHex: {
      const unsigned open = 4 * (4u - place.digits);
      const char32_t base = 0x10000 + (((place.value >> 16) - 0xd800) << 10);
      const char32_t units = (place.value & 0xffff) << open;
      const char32_t first = std::max<char32_t>(units, 0xdc00);
      const char32_t last = std::min<char32_t>(units + (1u << open) - 1, 0xdfff);
      if (first <= last) ranges.add({base + first - 0xdc00, base + last - 0xdc00});
      return ranges;
    }
    default: {
      static constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
      const auto [length, missing] = utf8_stage(place.stage);
      const unsigned open = 6 * missing;
      const CodePointRange range{place.value << open, (place.value << open) + (1u << open) - 1};
      static constexpr CodePointRange kScalars[] = {{0, 0xd7ff}, {0xe000, kCodePointMax}};
      ranges.add_part({std::max(range.first, kSmallest[length]), range.last}, kScalars);
      return ranges;
    }
  }
}

// Goes on to a place inside a character, if anything can come of it.
bool ContentDecoder::go_to(ContentPlace& place, const ContentPlace& next) const {
  for (const CodePointRange& range : completions(next).span()) {
    if (!automaton_->can_step(next.state, next.count, range.first, range.last)) continue;
    place = next;
    return true;
  }
  return false;
}

bool ContentDecoder::finish(ContentPlace& place, char32_t code_point) const {
  const std::uint32_t next = automaton_->step(place.state, code_point);
  if (next == ContentAutomaton::kNoState || !automaton_->live(next, place.count + 1)) return false;
  place = {.state = next, .count = place.count + 1};
  return true;
}

bool ContentDecoder::begin(ContentPlace& place, unsigned char byte) const {
  ContentPlace next{.state = place.state, .count = place.count};
  if (byte < 0x80) {
    if (is_json(coding_)) {
      if (byte < 0x20 || byte == '"') return false;
      if (byte == '\\') {
        next.stage = Stage::kEscape;
        return go_to(place, next);
      }
    }
    return finish(place, byte);
  }
  if (byte >= 0xc2 && byte <= 0xdf) {
    next.stage = Stage::kUtf8Of2Missing1;
    next.value = byte & 0x1f;
  } else if (byte >= 0xe0 && byte <= 0xef) {
    next.stage = Stage::kUtf8Of3Missing2;
    next.value = byte & 0x0f;
  } else if (byte >= 0xf0 && byte <= 0xf4) {
    next.stage = Stage::kUtf8Of4Missing3;
    next.value = byte & 0x07;
  } else {
    return false;
  }
  return go_to(place, next);
}

// Behind a backslash.
bool ContentDecoder::escape(ContentPlace& place, unsigned char byte) const {
  ContentPlace next{.state = place.state, .count = place.count};
  if (byte == 'u') {
    next.stage = Stage::kHex;
    return go_to(place, next);
  }
  const std::size_t found = kShortEscapes.find(static_cast<char>(byte));
  if (found == std::string_view::npos) return false;
  if (byte == '/' && coding_ != TextCoding::kJsonAny) return false;
  return finish(place, kShortEscaped[found]);
}

bool ContentDecoder::hex(ContentPlace& place, unsigned char byte) const {
  const int digit = hex_digit_value(byte);
  if (digit < 0) return false;
  ContentPlace next = place;
  next.value = place.value << 4 | static_cast<std::uint32_t>(digit);
  if (place.stage == Stage::kLowHex) {
    next.value = (place.value & 0xffff0000) | (next.value & 0xffff);
  }
  if (++next.digits < 4) return go_to(place, next);
  if (place.stage == Stage::kHex && next.value >= 0xd800 && next.value <= 0xdbff) {
    next.stage = Stage::kHighSurrogate;
    next.digits = 0;
    return go_to(place, next);
  }
  const Ranges whole = completions(next);
  return whole.count == 1 && finish(place, whole.list[0].first);
}

bool ContentDecoder::step(ContentPlace& place, unsigned char byte) const {
  ContentPlace next = place;
  switch (place.stage) {
    case Stage::kBorder: return begin(place, byte);
    case Stage::kEscape: return escape(place, byte);
    case Stage::kHex:
    case Stage::kLowHex: return hex(place, byte);
    case Stage::kHighSurrogate:
      if (byte != '\\') return false;
      next.stage = Stage::kPairEscape;
      place = next;  // as possible as it was
      return true;
    case Stage::kPairEscape:
      if (byte != 'u') return false;
      next.stage = Stage::kLowHex;
      next.value = place.value << 16;
      place = next;
      return true;
    default: {
      if ((byte & 0xc0) != 0x80) return false;
      next.value = place.value << 6 | (byte & 0x3f);
      if (utf8_stage(place.stage).missing > 1) {
        next.stage = next_utf8(place.stage);
        return go_to(place, next);
      }
      return finish(place, next.value);
    }
  }
}

bool ContentDecoder::accepts(const ContentPlace& place) const {
  return at_character_border(place) && automaton_->accepts(place.state, place.count);
}

std::string ContentDecoder::shortest_end(const ContentPlace& place) const {
  if (at_character_border(place)) {
    return encode_content(automaton_->shortest_end(place.state, place.count), coding_);
  }
  const std::optional<char32_t> letter = shortest_letter(place);
  ZH_CHECK(letter.has_value());
  std::string end = finish_character(place, *letter);
  end += encode_content(
      automaton_->shortest_end(automaton_->step(place.state, *letter), place.count + 1), coding_);
  return end;
}

// The character that finishes `place` on the shortest way; of equally long ones one with a short
// escape.
std::optional<char32_t> ContentDecoder::shortest_letter(const ContentPlace& place) const {
  const auto best = automaton_->shortest_step(place.state, place.count, completions(place).set());
  if (place.stage != Stage::kEscape || !best) return best;
  Ranges brief;
  for (const char32_t letter : kShortEscaped) {
    if (letter != U'/' || coding_ == TextCoding::kJsonAny) brief.add({letter, letter});
  }
  const auto short_one = automaton_->shortest_step(place.state, place.count, brief.set());
  if (!short_one) return best;
  const auto length_behind = [&](char32_t letter) {
    const std::uint32_t next = automaton_->step(place.state, letter);
    return automaton_->shortest_length(next, place.count + 1);
  };
  return length_behind(*short_one) == length_behind(*best) ? short_one : best;
}

std::string ContentDecoder::finish_character(const ContentPlace& place, char32_t letter) const {
  std::string whole;
  switch (place.stage) {
    case Stage::kEscape: {
      const std::size_t found = kShortEscaped.find(letter);
      if (found != std::u32string_view::npos) return std::string(1, kShortEscapes[found]);
      break;
    }
    case Stage::kHex:
    case Stage::kHighSurrogate:
    case Stage::kPairEscape:
    case Stage::kLowHex: break;
    default: {
      utf8_append(whole, letter);
      return whole.substr(whole.size() - utf8_stage(place.stage).missing);
    }
  }
  if (letter < 0x10000) {
    whole = "u" + four_digits(letter);
  } else {
    whole = "u" + four_digits(0xd800 + ((letter - 0x10000) >> 10)) + "\\u" +
            four_digits(0xdc00 + ((letter - 0x10000) & 0x3ff));
  }
  // How much of "uXXXX" or "uXXXX\uXXXX" has been written.
  switch (place.stage) {
    case Stage::kHex: return whole.substr(1u + place.digits);
    case Stage::kHighSurrogate: return whole.substr(5);
    case Stage::kPairEscape: return whole.substr(6);
    case Stage::kLowHex: return whole.substr(7u + place.digits);
    default: return whole;
  }
}

std::string encode_content(std::u32string_view word, TextCoding coding) {
  std::string text;
  for (const char32_t letter : word) append_encoded(letter, coding, text);
  return text;
}

}  // namespace zerohop
