// Shortest ends in the JSON machine: what finishes the place inside of a value or name, and the
// shortest way from there (json_shortest.h).
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "constrain/content_coding.h"
#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

using White = JsonPosition::White;
using Items = JsonShortest::Items;

// White space that must come first.
std::string lead_of(White white) {
  if (white == White::kMustBlank) return " ";
  return white == White::kCarriage ? "\n" : "";
}

// The bytes up to and with the quote that ends the string whose inside `text` begins; 0: it does
// not end in it.
std::size_t json_string_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

// Of the shortest rest of a word, written canonically.
std::size_t rest_bytes(const WordPlace& place) {
  const ContentAutomaton& automaton = *place.automaton;
  if (automaton.states() > 1) {
    const std::u32string rest = automaton.shortest_end(place.state, place.count);
    return encode_content(rest, TextCoding::kJsonCanonical).size();
  }
  // From one state the same character is best again and again, perhaps 100,000 times.
  const auto letter = automaton.shortest_step(place.state, place.count, CodePointSet::all());
  if (!letter) return 0;
  const std::size_t each = encode_content({&*letter, 1}, TextCoding::kJsonCanonical).size();
  return each * automaton.shortest_length(place.state, place.count);
}

}  // namespace

void JsonMachine::Ending::offer(std::uint64_t all, std::string part) {
  if (all >= bytes) return;
  bytes = static_cast<std::uint32_t>(all);
  text = std::move(part);
}

std::size_t JsonMachine::shortest_end_bytes(MachineState state) {
  if (accepting(state) || state == kDeadState) return 0;
  if (states_[state].end_bytes == UINT32_MAX) {
    const JsonPosition at = states_[state].position;
    const std::uint32_t bytes = ending(at, Wanted::kBytes).bytes;
    states_[state].end_bytes = bytes;
  }
  return states_[state].end_bytes;
}

// Makes no states of the places on the way: ends are asked for often and seldom followed.
std::string JsonMachine::shortest_end(MachineState state) {
  std::string end;
  if (state == kDeadState) return end;
  JsonPosition at = states_[state].position;
  while (!accepts(at)) {
    const Ending next = ending(at, Wanted::kText);
    ZH_CHECK(!next.text.empty());
    end += next.text;
    const Next behind = pass(at, next.text);
    ZH_CHECK(behind.has_value());
    at = *behind;
  }
  return end;
}

// The position behind `text`.
JsonMachine::Next JsonMachine::pass(JsonPosition at, std::string_view text) {
  while (!text.empty()) {
    Next behind;
    std::size_t read = 1;
    if (at.lex == Lex::kString && at.text == kNoText && at.character.at_border()) {
      read = std::max<std::size_t>(json_string_end(text), 1);
    }
    behind = read > 1 ? pass_string(at, text.substr(0, read))
                      : next(at, static_cast<unsigned char>(text[0]));
    if (!behind) return std::nullopt;
    at = *behind;
    text.remove_prefix(read);
  }
  return at;
}

// All characters of a string to its closing quote at once, so that only the last place is kept.
JsonMachine::Next JsonMachine::pass_string(const JsonPosition& at, std::string_view text) {
  std::u32string letters;
  PartialCharacter character;
  for (const char byte : text.substr(0, text.size() - 1)) {
    const CharacterRead read =
        read_character(character, static_cast<unsigned char>(byte), options_.coding);
    if (read.step == CharacterStep::kRefused) return std::nullopt;
    if (read.step == CharacterStep::kWhole) letters.push_back(read.letter);
  }
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    Progress progress = progress_[entry.progress];
    const ContentAutomaton& automaton = string_automaton(forms_, progress);
    const std::uint32_t cap = forms_.count_cap(automaton);
    for (std::size_t i = 0; i < letters.size() && progress.a != ContentAutomaton::kNoState; ++i) {
      progress.a = automaton.step(progress.a, letters[i]);
      progress.b = std::min(progress.b + 1, cap);
    }
    if (progress.a == ContentAutomaton::kNoState) continue;
    if (automaton.accepts(progress.a, progress.b)) {
      level_.add(progress_.intern(progress), stacks_.links(entry));
    }
  }
  if (level_.empty()) return std::nullopt;
  JsonPosition last = at;
  last.stack = stacks_.replace_top(at.stack, level_);
  return end_string(last, false);
}

JsonMachine::Ending JsonMachine::ending(const JsonPosition& at, Wanted wanted) {
  const std::string lead = lead_of(at.white);
  switch (at.lex) {
    case Lex::kBegin:
    case Lex::kValue: return value_ending(at, lead, wanted);
    case Lex::kColon: return value_ending(at, shortest_.colon(), wanted);
    case Lex::kFirstItem:
    case Lex::kFirstKey:
    case Lex::kKey:
    case Lex::kAfter:
    case Lex::kBeforeClose: return container_ending(at, lead, wanted);
    case Lex::kKeyText: return key_ending(at);
    case Lex::kString: return string_ending(at, wanted);
    case Lex::kNumber: return number_ending(at, wanted);
    case Lex::kLiteral: {
      Ending best;
      const std::string rest(kJsonLiterals[at.number / 16].substr(at.number % 16));
      for (const StackEntry& entry : stacks_.entries(at.stack)) {
        for (const StackLink& link : stacks_.links(entry)) {
          const StackId outer = stacks_.outside(at.stack);
          const std::uint64_t behind =
              shortest_.behind_value(outer, link.outer, link.hits, at.text);
          best.offer(rest.size() + behind, rest);
        }
      }
      return best;
    }
    default: return {0, {}};
  }
}

JsonMachine::Ending JsonMachine::value_ending(const JsonPosition& at, const std::string& lead,
                                              Wanted wanted) {
  JsonShortest::Value best;
  const auto count = static_cast<std::uint32_t>(stacks_.entries(at.stack).size());
  for (std::uint32_t i = 0; i < count; ++i) {
    JsonShortest::Value value = shortest_.best_value(at.stack, i);
    if (value.bytes < best.bytes) best = std::move(value);
  }
  Ending ending;
  ending.offer(std::uint64_t{best.bytes} + lead.size(), lead);
  const bool exists = ending.bytes < JsonShortest::kEndless;
  if (exists && wanted == Wanted::kText) ending.text += shortest_.value_text(best);
  return ending;
}

JsonMachine::Ending JsonMachine::container_ending(const JsonPosition& at, const std::string& lead,
                                                  Wanted wanted) {
  Ending best;
  std::uint32_t best_index = 0;
  const auto count = static_cast<std::uint32_t>(stacks_.entries(at.stack).size());
  const Items items = at.lex == Lex::kAfter ? Items::kSome : Items::kNone;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ProgressId container = stacks_.entry(at.stack, i).progress;
    const std::uint64_t around = lead.size() + std::uint64_t{shortest_.outside(at.stack, i)};
    const std::uint32_t before = best.bytes;
    if (at.lex == Lex::kBeforeClose) {
      best.offer(around + 1, in_array(at.stack) ? "]" : "}");
    } else if (at.lex == Lex::kKey) {
      JsonShortest::Property property = shortest_.best_property(container);
      best.offer(around + property.bytes, std::move(property.text));
    } else {
      best.offer(around + shortest_.finish_bytes(container, items), {});
      if (best.bytes < before) best_index = i;
    }
  }
  if (wanted == Wanted::kText && best.text.empty() && best.bytes < JsonShortest::kEndless) {
    best.text = shortest_.finish_text(stacks_.entry(at.stack, best_index).progress, items);
  }
  best.text.insert(0, lead);
  return best;
}

// --- Inside of names and strings.

// The shortest rest of a word, from the character that has begun on.
std::optional<std::u32string> JsonMachine::word_rest(const JsonPosition& at, const WordPlace& place,
                                                     TextSetId taken) {
  const ContentAutomaton& automaton = *place.automaton;
  const bool free = taken == kNoTexts;
  if (at.character.at_border()) {
    if (!free) return shortest_other_word(texts_, place, taken, {});
    return automaton.shortest_end(place.state, place.count);
  }
  const CharacterRanges ranges = completions(at.character, options_.coding);
  const CharacterRanges brief = brief_completions(at.character, options_.coding);
  const auto best = [&](std::span<const CodePointRange> first) -> std::optional<std::u32string> {
    if (first.empty()) return std::nullopt;
    if (!free) return shortest_other_word(texts_, place, taken, first);
    const auto wanted = CodePointSet::of({first.begin(), first.end()});
    const auto letter = automaton.shortest_step(place.state, place.count, wanted);
    if (!letter) return std::nullopt;
    const std::uint32_t state = automaton.step(place.state, *letter);
    return *letter + automaton.shortest_end(state, place.count + 1);
  };
  const auto any = best(ranges.span());
  const auto with_brief = best(brief.span());
  return with_brief && any && with_brief->size() <= any->size() ? with_brief : any;
}

// `word`, whose first character may have begun, as bytes.
std::string JsonMachine::written(const JsonPosition& at, std::u32string_view word) {
  std::string text;
  if (!at.character.at_border()) {
    text = finish_character(at.character, word[0]);
    word.remove_prefix(1);
  }
  return text + encode_content(word, TextCoding::kJsonCanonical);
}

JsonMachine::Ending JsonMachine::string_ending(const JsonPosition& at, Wanted wanted) {
  Ending best;
  const StackId outer = stacks_.outside(at.stack);
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const Progress& progress = progress_[entry.progress];
    const WordPlace place{&string_automaton(forms_, progress), progress.a, progress.b, at.text};
    for (const StackLink& link : stacks_.links(entry)) {
      const ProgressId array = holder(at, link).progress;
      const bool tracks = progress_.tracks_values(array);
      if (wanted == Wanted::kBytes && !tracks && at.character.at_border()) {
        const std::uint64_t all = shortest_.behind_value(outer, link.outer, link.hits, kNoText);
        best.offer(all + rest_bytes(place) + 1, {});
        continue;
      }
      const auto word = word_rest(at, place, tracks ? progress_[array].c : kNoTexts);
      if (!word) continue;
      TextId value = tracks ? at.text : kNoText;
      for (std::size_t i = 0; tracks && i < word->size(); ++i) {
        value = texts_.longer(value, (*word)[i]);
      }
      std::string rest = written(at, *word) + '"';
      const std::uint64_t behind = shortest_.behind_value(outer, link.outer, link.hits, value);
      const std::uint64_t all = rest.size() + behind;
      best.offer(all, std::move(rest));
    }
  }
  return best;
}

JsonMachine::Ending JsonMachine::number_ending(const JsonPosition& at, Wanted wanted) {
  Ending best;
  const StackId outer = stacks_.outside(at.stack);
  std::string so_far;
  if (at.text != kNoText) {
    const std::u32string read = texts_.text(at.text);
    so_far.assign(read.begin() + 1, read.end());
  }
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const Progress& progress = progress_[entry.progress];
    const NumberLanguage& language = number_language(forms_, progress);
    for (const StackLink& link : stacks_.links(entry)) {
      const ProgressId array = holder(at, link).progress;
      std::string rest = language.shortest_end(progress.a);
      TextId value = kNoText;
      if (progress_.tracks_values(array)) {
        const auto other = numbers_.shortest({&language, progress.a, so_far}, progress_[array].c);
        if (!other) continue;
        rest = *other;
        value = number_value(texts_, so_far + rest);
      }
      const std::uint64_t behind = shortest_.behind_value(outer, link.outer, link.hits, value);
      const std::uint64_t all = rest.size() + behind;
      // A number has no end of its own: what is behind it comes along.
      if (all >= best.bytes) continue;
      best.offer(all, std::move(rest));
    }
  }
  if (!best.text.empty() || best.bytes == 0) return best;
  const Next behind = end_number(at);
  ZH_CHECK(behind.has_value());
  return ending(*behind, wanted);
}

void JsonMachine::offer_declared(const JsonPosition& at, std::uint32_t index, Ending& best) {
  const Progress key = progress_[stacks_.entry(at.stack, index).progress];
  const ObjectFacts& facts = forms_.object(key.form);
  const std::vector<std::uint64_t>& possible = progress_.next_declared(key.a);
  const CharacterRanges ranges = completions(at.character, options_.coding);
  const std::uint64_t around = shortest_.outside(at.stack, index);
  for (std::uint32_t rank = key.b; rank < key.c; ++rank) {
    if ((possible[rank / 64] >> (rank % 64) & 1) == 0) continue;
    const std::u32string_view rest = std::u32string_view(facts.names[rank]).substr(key.d);
    if (!at.character.at_border() && (rest.empty() || !ranges.contains(rest[0]))) continue;
    std::string text = written(at, rest) + '"';
    const std::uint64_t all = around + text.size() + shortest_.colon().size();
    if (all >= best.bytes) continue;
    const ProgressId keyed = progress_.keyed(key.a, facts.by_rank[rank], kNoText);
    best.offer(all + shortest_.keyed_bytes(keyed), std::move(text));
  }
}

void JsonMachine::offer_other(const JsonPosition& at, std::uint32_t index, Ending& best) {
  const Progress key = progress_[stacks_.entry(at.stack, index).progress];
  const ObjectForm& form = *forms_.object(key.form).form;
  const WordPlace place{form.others[key.b].names.get(), key.c, key.d, at.text};
  const auto word = word_rest(at, place, progress_[key.a].c);
  if (!word) return;
  TextId name = at.text;
  for (const char32_t letter : *word) name = texts_.longer(name, letter);
  const auto slot = static_cast<Slot>(form.declared.size()) + key.b;
  const std::uint64_t value = shortest_.keyed_bytes(progress_.keyed(key.a, slot, name));
  std::string text = written(at, *word) + '"';
  const std::uint64_t all =
      text.size() + shortest_.colon().size() + value + shortest_.outside(at.stack, index);
  best.offer(all, std::move(text));
}

JsonMachine::Ending JsonMachine::key_ending(const JsonPosition& at) {
  Ending best;
  const auto count = static_cast<std::uint32_t>(stacks_.entries(at.stack).size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const ProgressId key = stacks_.entry(at.stack, i).progress;
    if (progress_[key].kind == Progress::Kind::kKeyDeclared) {
      offer_declared(at, i, best);
    } else {
      offer_other(at, i, best);
    }
  }
  return best;
}

}  // namespace zerohop
