#include "constrain/content_coding.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

ContentDecoder::ContentDecoder(const ContentAutomaton& automaton, TextCoding coding)
    : automaton_(&automaton), coding_(coding) {}

ContentPlace ContentDecoder::start() const { return {.state = automaton_->start()}; }

// Whether anything can come of a character inside of which it would stand.
bool ContentDecoder::can_become(const ContentPlace& place, const CharacterRanges& ranges) const {
  return std::ranges::any_of(ranges.span(), [&](const CodePointRange& range) {
    return automaton_->can_step(place.state, place.count, range.first, range.last);
  });
}

bool ContentDecoder::finish(ContentPlace& place, char32_t letter) const {
  const std::uint32_t next = automaton_->step(place.state, letter);
  if (next == ContentAutomaton::kNoState || !automaton_->live(next, place.count + 1)) return false;
  place = {.state = next, .count = place.count + 1};
  return true;
}

bool ContentDecoder::step(ContentPlace& place, unsigned char byte) const {
  PartialCharacter next = place.character;
  const CharacterRead read = read_character(next, byte, coding_);
  switch (read.step) {
    case CharacterStep::kRefused: return false;
    case CharacterStep::kBegun:
      if (!can_become(place, read.ranges)) return false;
      place.character = next;
      return true;
    case CharacterStep::kWhole: break;
  }
  return finish(place, read.letter);
}

bool ContentDecoder::accepts(const ContentPlace& place) const {
  return at_character_border(place) && automaton_->accepts(place.state, place.count);
}

std::string ContentDecoder::shortest_end(const ContentPlace& place) const {
  if (at_character_border(place)) {
    return encode_content(automaton_->shortest_end(place.state, place.count), coding_);
  }
  const char32_t letter = shortest_letter(place);
  std::string end = finish_character(place.character, letter);
  end += encode_content(
      automaton_->shortest_end(automaton_->step(place.state, letter), place.count + 1), coding_);
  return end;
}

// The character that finishes `place` on the shortest way; of equally long ones one with a short
// escape.
char32_t ContentDecoder::shortest_letter(const ContentPlace& place) const {
  const auto among = [&](const CharacterRanges& ranges) {
    return automaton_->shortest_step(place.state, place.count, ranges.set());
  };
  const auto best = among(completions(place.character, coding_));
  ZH_CHECK(best.has_value());
  const auto short_one = among(brief_completions(place.character, coding_));
  if (!short_one) return *best;
  const auto length_behind = [&](char32_t letter) {
    const std::uint32_t next = automaton_->step(place.state, letter);
    return automaton_->shortest_length(next, place.count + 1);
  };
  return length_behind(*short_one) == length_behind(*best) ? *short_one : *best;
}

std::string encode_content(std::u32string_view word, TextCoding coding) {
  std::string text;
  for (const char32_t letter : word) append_character(letter, coding, text);
  return text;
}

}  // namespace zerohop
