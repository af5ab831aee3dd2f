// Names of properties in the JSON machine.
//
// Declared names are sorted, so those that begin with what was read are a range of ranks: reading a
// character narrows it. All others are followed by the automata of their classes.
#include <algorithm>
#include <utility>

#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

bool any_bit(const std::vector<std::uint64_t>& bits, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; i = (i / 64 + 1) * 64) {
    std::uint64_t word = bits[i / 64] >> (i % 64);
    if (end - i < 64 && end / 64 == i / 64) word &= (std::uint64_t{1} << (end - i)) - 1;
    if (word != 0) return true;
  }
  return false;
}

}  // namespace

JsonMachine::Next JsonMachine::begin_key(const JsonPosition& at) {
  JsonPosition behind{.lex = Lex::kKeyText};
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const ProgressId object = entry.progress;
    const AlternativeId form = progress_[object].form;
    const ObjectFacts& facts = forms_.object(form);
    Progress key{.kind = Progress::Kind::kKeyDeclared, .form = form, .a = object};
    if (progress_.can_have_declared(object)) {
      key.c = static_cast<std::uint32_t>(facts.names.size());
      level_.add(progress_.intern(key), stacks_.links(entry));
    }
    key.kind = Progress::Kind::kKeyOther;
    for (std::uint32_t i = 0; i < facts.form->others.size(); ++i) {
      if (!progress_.can_have_other(object, i)) continue;
      key.b = i;
      key.c = facts.form->others[i].names->start();
      level_.add(progress_.intern(key), stacks_.links(entry));
      behind.text = kEmptyText;
    }
  }
  if (level_.empty()) return std::nullopt;
  behind.stack = stacks_.replace_top(at.stack, level_);
  return behind;
}

// The key when some name can go on with a character of `ranges`.
ProgressId JsonMachine::key_declared(const Progress& key, const CharacterRanges& ranges) {
  const std::vector<std::uint64_t>& possible = progress_.next_declared(key.a);
  const std::vector<std::u32string>& names = forms_.object(key.form).names;
  for (std::uint32_t rank = key.b; rank < key.c; ++rank) {
    if (!any_bit(possible, rank, rank + 1) || names[rank].size() == key.d) continue;
    if (ranges.contains(names[rank][key.d])) return progress_.intern(key);
  }
  return kNoProgress;
}

ProgressId JsonMachine::key_declared_longer(const Progress& key, char32_t letter) {
  const std::vector<std::u32string>& names = forms_.object(key.form).names;
  const auto begin = names.begin() + static_cast<std::ptrdiff_t>(key.b);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(key.c);
  const auto first = std::partition_point(begin, end, [&](const std::u32string& name) {
    return name.size() == key.d || name[key.d] < letter;
  });
  const auto last = std::partition_point(
      first, end, [&](const std::u32string& name) { return name[key.d] == letter; });
  Progress longer = key;
  longer.b = static_cast<std::uint32_t>(first - names.begin());
  longer.c = static_cast<std::uint32_t>(last - names.begin());
  ++longer.d;
  if (!any_bit(progress_.next_declared(key.a), longer.b, longer.c)) return kNoProgress;
  return progress_.intern(longer);
}

// Whether another name of the class, none that is used, can be made of `text`. `ranges`: what the
// next character can be; empty: anything or none.
bool JsonMachine::other_possible(const Progress& key, TextId text,
                                 std::span<const CodePointRange> ranges) {
  const ContentAutomaton& names = *forms_.object(key.form).form->others[key.b].names;
  const TextSetId used = progress_[key.a].c;
  if (texts_.size(used) == 0) {
    if (ranges.empty()) return names.live(key.c, key.d);
    return std::any_of(ranges.begin(), ranges.end(), [&](const CodePointRange& range) {
      return names.can_step(key.c, key.d, range.first, range.last);
    });
  }
  return other_word_exists(texts_, {&names, key.c, key.d, text}, used, ranges);
}

JsonMachine::Next JsonMachine::key(const JsonPosition& at, unsigned char byte) {
  if (byte == '"' && at.character.at_border()) return end_key(at);
  JsonPosition behind = at;
  const CharacterRead read = read_character(behind.character, byte, options_.coding);
  if (read.step == CharacterStep::kRefused) return std::nullopt;
  const bool whole = read.step == CharacterStep::kWhole;
  const TextId text = whole && at.text != kNoText ? texts_.longer(at.text, read.letter) : at.text;
  behind.text = kNoText;
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    Progress key = progress_[entry.progress];
    ProgressId longer = kNoProgress;
    if (key.kind == Progress::Kind::kKeyDeclared) {
      longer = whole ? key_declared_longer(key, read.letter) : key_declared(key, read.ranges);
    } else if (whole) {
      const ContentAutomaton& names = *forms_.object(key.form).form->others[key.b].names;
      key.c = names.step(key.c, read.letter);
      if (key.c == ContentAutomaton::kNoState) continue;
      key.d = capped(names, key.d + 1);
      if (!names.live(key.c, key.d) || !other_possible(key, text, {})) continue;
      longer = progress_.intern(key);
      behind.text = text;
    } else if (other_possible(key, text, read.ranges.span())) {
      longer = entry.progress;
      behind.text = text;
    }
    if (longer != kNoProgress) level_.add(longer, stacks_.links(entry));
  }
  if (level_.empty()) return std::nullopt;
  behind.stack = stacks_.replace_top(at.stack, level_);
  return behind;
}

JsonMachine::Next JsonMachine::end_key(const JsonPosition& at) {
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const Progress key = progress_[entry.progress];
    const ObjectFacts& facts = forms_.object(key.form);
    ProgressId keyed = kNoProgress;
    if (key.kind == Progress::Kind::kKeyDeclared) {
      // The name that ends here is the first of those that begin like it.
      const bool ends = facts.names[key.b].size() == key.d;
      if (!ends || !any_bit(progress_.next_declared(key.a), key.b, key.b + 1)) continue;
      keyed = progress_.keyed(key.a, facts.by_rank[key.b], kNoText);
    } else {
      const ObjectForm& form = *facts.form;
      if (!form.others[key.b].names->accepts(key.c, key.d)) continue;
      if (texts_.contains(progress_[key.a].c, at.text)) continue;
      keyed = progress_.keyed(key.a, static_cast<Slot>(form.declared.size()) + key.b, at.text);
    }
    level_.add(keyed, stacks_.links(entry));
  }
  if (level_.empty()) return std::nullopt;
  JsonPosition behind{.lex = Lex::kColon};
  behind.stack = stacks_.replace_top(at.stack, level_);
  return behind;
}

}  // namespace zerohop
