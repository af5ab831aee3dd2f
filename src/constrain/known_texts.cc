#include "constrain/known_texts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace zerohop {

namespace {

// A place, and the taken texts that begin with what was read there.
struct Fork {
  WordPlace place;
  std::vector<TextId> taken;
};

// `ranges` without the characters that taken texts go on with, and those characters with theirs.
struct Branches {
  std::vector<CodePointRange> free;
  std::map<char32_t, std::vector<TextId>> shared;
  bool ends_taken = false;  // what was read is taken itself
};

bool in(std::span<const CodePointRange> ranges, char32_t letter) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CodePointRange& range) {
    return range.first <= letter && letter <= range.last;
  });
}

Branches branches(const KnownTexts& texts, const Fork& fork,
                  std::span<const CodePointRange> ranges) {
  Branches found;
  for (const TextId text : fork.taken) {
    if (text == fork.place.text) {
      found.ends_taken = true;
      continue;
    }
    const char32_t letter = texts.letter_behind(text, fork.place.text);
    if (in(ranges, letter)) found.shared[letter].push_back(text);
  }
  for (CodePointRange range : ranges) {
    for (auto next = found.shared.lower_bound(range.first);
         next != found.shared.end() && next->first <= range.last; ++next) {
      if (next->first > range.first) found.free.push_back({range.first, next->first - 1});
      range.first = next->first + 1;
    }
    if (range.first <= range.last) found.free.push_back(range);
  }
  return found;
}

std::optional<WordPlace> behind(KnownTexts& texts, const WordPlace& place, char32_t letter) {
  const std::uint32_t next = place.automaton->step(place.state, letter);
  if (next == ContentAutomaton::kNoState || !place.automaton->live(next, place.count + 1)) {
    return std::nullopt;
  }
  return WordPlace{place.automaton, next, place.count + 1, texts.longer(place.text, letter)};
}

}  // namespace

KnownTexts::KnownTexts() : texts_(2), sets_(1) {}

TextId KnownTexts::longer(TextId text, char32_t letter) {
  const std::uint64_t hash = hash_more(text, letter);
  const std::uint32_t found = text_index_.find(hash, [&](std::uint32_t id) {
    return texts_[id].head == text && texts_[id].letter == letter;
  });
  if (found != HashIndex::kNone) return found;
  const auto id = static_cast<TextId>(texts_.size());
  texts_.push_back({text, letter, texts_[text].length + 1, kNoTexts});
  text_index_.insert(hash, id);
  return id;
}

TextId KnownTexts::of(std::u32string_view text) {
  TextId id = kEmptyText;
  for (const char32_t letter : text) id = longer(id, letter);
  return id;
}

TextId KnownTexts::of_ascii(std::string_view text) {
  TextId id = kEmptyText;
  for (const char letter : text) id = longer(id, static_cast<unsigned char>(letter));
  return id;
}

std::u32string KnownTexts::text(TextId id) const {
  std::u32string text(texts_[id].length, U'\0');
  for (; texts_[id].length > 0; id = texts_[id].head)
    text[texts_[id].length - 1] = texts_[id].letter;
  return text;
}

bool KnownTexts::begins_with(TextId whole, TextId head) const {
  if (texts_[whole].length < texts_[head].length) return false;
  while (texts_[whole].length > texts_[head].length) whole = texts_[whole].head;
  return whole == head;
}

char32_t KnownTexts::letter_behind(TextId whole, TextId head) const {
  while (texts_[whole].length > texts_[head].length + 1) whole = texts_[whole].head;
  return texts_[whole].letter;
}

TextSetId KnownTexts::with(TextSetId set, TextId member) {
  const std::uint64_t hash = hash_more(set, member);
  const std::uint32_t found = set_index_.find(hash, [&](std::uint32_t id) {
    return sets_[id].smaller == set && sets_[id].member == member;
  });
  if (found != HashIndex::kNone) return found;
  const auto id = static_cast<TextSetId>(sets_.size());
  // Where the last two steps back are equally wide, the next one is both of them and one more, as
  // in skew binary numbers: from any set, few steps lead to the part of any size.
  const Set& smaller = sets_[set];
  const Set& far = sets_[smaller.far_smaller];
  const bool even = smaller.size - far.size == far.size - sets_[far.far_smaller].size;
  const TextSetId far_smaller = even ? far.far_smaller : set;
  sets_.push_back({set, far_smaller, texts_[member].newest_with, member, smaller.size + 1});
  largest_size_ = std::max(largest_size_, sets_.back().size);
  texts_[member].newest_with = id;
  set_index_.insert(hash, id);
  return id;
}

// What `set` was when it had so many members.
TextSetId KnownTexts::part_of_size(TextSetId set, std::uint32_t size) const {
  while (sets_[set].size > size) {
    const TextSetId far = sets_[set].far_smaller;
    set = sets_[far].size >= size ? far : sets_[set].smaller;
  }
  return set;
}

bool KnownTexts::contains(TextSetId set, TextId member) const {
  constexpr std::uint32_t kSmall = 16;
  if (sets_[set].size <= kSmall) {
    for (; set != kNoTexts; set = sets_[set].smaller) {
      if (sets_[set].member == member) return true;
    }
    return false;
  }
  for (TextSetId with = texts_[member].newest_with; with != kNoTexts;
       with = sets_[with].older_with) {
    if (part_of_size(set, sets_[with].size) == with) return true;
  }
  return false;
}

std::vector<TextId> KnownTexts::beginning_with(TextSetId set, TextId head) const {
  std::vector<TextId> found;
  for (; set != kNoTexts; set = sets_[set].smaller) {
    if (begins_with(sets_[set].member, head)) found.push_back(sets_[set].member);
  }
  return found;
}

std::size_t KnownTexts::memory_bytes() const {
  return texts_.capacity() * sizeof(Text) + sets_.capacity() * sizeof(Set) +
         text_index_.memory_bytes() + set_index_.memory_bytes();
}

bool other_word_exists(KnownTexts& texts, const WordPlace& place, TextSetId taken,
                       std::span<const CodePointRange> first) {
  bool may_end = first.empty();
  if (may_end) {
    // More words than are taken: most often, endlessly many.
    const std::size_t enough = std::size_t{texts.size(taken)} + 1;
    if (place.automaton->count_words(place.state, place.count, enough) >= enough) return true;
  }
  std::vector<Fork> open{{place, texts.beginning_with(taken, place.text)}};
  std::span<const CodePointRange> ranges = may_end ? kScalarValues : first;
  while (!open.empty()) {
    const Fork fork = std::move(open.back());
    open.pop_back();
    const WordPlace& here = fork.place;
    const Branches next = branches(texts, fork, ranges);
    if (may_end && !next.ends_taken && here.automaton->accepts(here.state, here.count)) return true;
    for (const CodePointRange& range : next.free) {
      if (here.automaton->can_step(here.state, here.count, range.first, range.last)) return true;
    }
    for (const auto& [letter, sharing] : next.shared) {
      if (const auto there = behind(texts, here, letter)) open.push_back({*there, sharing});
    }
    may_end = true;
    ranges = kScalarValues;
  }
  return false;
}

std::optional<std::u32string> shortest_other_word(KnownTexts& texts, const WordPlace& place,
                                                  TextSetId taken,
                                                  std::span<const CodePointRange> first) {
  std::vector<Fork> open{{place, texts.beginning_with(taken, place.text)}};
  std::optional<std::u32string> best;
  TextId best_from = place.text;  // what was read in front of `best`
  std::size_t best_length = SIZE_MAX;
  const auto offer = [&](TextId from, std::u32string rest) {
    const std::size_t length = texts.length(from) + rest.size();
    if (length >= best_length) return;
    best_length = length;
    best_from = from;
    best = std::move(rest);
  };
  bool may_end = first.empty();
  std::span<const CodePointRange> ranges = may_end ? kScalarValues : first;
  while (!open.empty()) {
    const Fork fork = std::move(open.back());
    open.pop_back();
    const WordPlace& here = fork.place;
    const ContentAutomaton& automaton = *here.automaton;
    const Branches next = branches(texts, fork, ranges);
    if (may_end && !next.ends_taken && automaton.accepts(here.state, here.count)) {
      offer(here.text, {});
    }
    if (const auto letter =
            automaton.shortest_step(here.state, here.count, CodePointSet::of(next.free))) {
      const std::uint32_t state = automaton.step(here.state, *letter);
      offer(here.text, *letter + automaton.shortest_end(state, here.count + 1));
    }
    for (const auto& [letter, sharing] : next.shared) {
      const auto there = behind(texts, here, letter);
      if (there && texts.length(there->text) < best_length) open.push_back({*there, sharing});
    }
    may_end = true;
    ranges = kScalarValues;
  }
  if (!best) return std::nullopt;
  return texts.text(best_from).substr(texts.length(place.text)) + *best;
}

}  // namespace zerohop
