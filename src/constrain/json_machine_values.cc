// Values of the JSON machine: where they begin and what is behind them.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

// How texts of items begin, so that "1" and 1 are two; number_value() adds '#'.
constexpr char32_t kStringMark = U's';
constexpr char32_t kNumberMark = U'd';  // of one that is being read, as it is written

bool is_number_byte(unsigned char byte) { return byte == '-' || (byte >= '0' && byte <= '9'); }

}  // namespace

// Finds the entry's outer containers again behind the value: an outer one goes on when some
// alternative that was its value accepts.
template <typename Accepts>
JsonMachine::Next JsonMachine::end_value(StackId stack, const Accepts& accepts, TextId value) {
  const StackId outer = stacks_.outside(stack);
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(stack)) {
    if (!accepts(entry.progress)) continue;
    for (const StackLink& link : stacks_.links(entry)) {
      const StackEntry& holder = stacks_.entry(outer, link.outer);
      TextId item = kNoText;
      if (value != kNoText && progress_.tracks_values(holder.progress)) {
        if (texts_.contains(progress_[holder.progress].c, value)) continue;
        item = value;
      }
      const ProgressId next = progress_.behind_value(holder.progress, link.hits, item);
      if (next != kNoProgress) level_.add(next, stacks_.links(holder));
    }
  }
  if (level_.empty()) return std::nullopt;
  JsonPosition behind{.lex = Lex::kAfter, .white = white_of(White::kBreak)};
  behind.stack = stacks_.replace_top(outer, level_);
  if (stacks_.entry(behind.stack, 0).progress == kDoneProgress) {
    behind.lex = Lex::kDone;
    behind.white = White::kNone;
  }
  return behind;
}

JsonMachine::Next JsonMachine::close(const JsonPosition& at, unsigned char byte) {
  if (byte != (in_array(at.stack) ? ']' : '}')) return std::nullopt;
  const auto accepts = [&](ProgressId container) { return progress_.can_close(container); };
  return end_value(at.stack, accepts, kNoText);
}

// --- The first byte.

// The alternative when it is a scalar that may begin with `byte`.
ProgressId JsonMachine::scalar_begun(AlternativeId form, unsigned char byte) {
  const SchemaAlternative& alternative = forms_.alternative(form);
  if (byte == 'n') {
    return std::holds_alternative<NullForm>(alternative) ? kLiteralProgress : kNoProgress;
  }
  if (byte == 't' || byte == 'f') {
    const auto* boolean = std::get_if<BooleanForm>(&alternative);
    const bool allowed =
        boolean != nullptr && (byte == 't' ? boolean->allows_true : boolean->allows_false);
    return allowed ? kLiteralProgress : kNoProgress;
  }
  if (byte == '"') {
    const auto* string = std::get_if<StringForm>(&alternative);
    if (string == nullptr) return kNoProgress;
    return progress_.intern(
        {.kind = Progress::Kind::kString, .form = form, .a = string->content->start()});
  }
  const auto* number = std::get_if<NumberForm>(&alternative);
  if (number == nullptr) return kNoProgress;
  const std::uint32_t state = number->language->step(number->language->start(), byte);
  if (state == NumberLanguage::kNoState) return kNoProgress;
  return progress_.intern({.kind = Progress::Kind::kNumber, .form = form, .a = state});
}

JsonMachine::Next JsonMachine::begin_value(const JsonPosition& at, unsigned char byte) {
  if (byte == '[' || byte == '{') return begin_container(at, byte);
  JsonPosition behind;
  if (byte == '"') {
    behind.lex = Lex::kString;
  } else if (is_number_byte(byte)) {
    behind.lex = Lex::kNumber;
  } else if (byte == 'n' || byte == 't' || byte == 'f') {
    behind.lex = Lex::kLiteral;
    behind.number = (byte == 'n' ? 0u : byte == 't' ? 16u : 32u) + 1;
  } else {
    return std::nullopt;
  }
  JsonPosition tracked = behind;
  tracked.stack = at.stack;
  tracked.text = texts_.longer(kEmptyText, behind.lex == Lex::kString   ? kStringMark
                                           : behind.lex == Lex::kNumber ? kNumberMark
                                                                        : char32_t{byte});
  if (behind.lex == Lex::kNumber) tracked.text = texts_.longer(tracked.text, byte);
  level_.clear();
  const std::span<const StackEntry> entries = stacks_.entries(at.stack);
  for (std::uint32_t outer = 0; outer < entries.size(); ++outer) {
    const ProgressId holder = entries[outer].progress;
    const bool tracks = progress_.tracks_values(holder);
    for (const ValueChoice& choice : progress_.choices(holder)) {
      if (progress_.behind_value(holder, choice.hits, kNoText) == kNoProgress) continue;
      const StackLink link{outer, choice.hits};
      work_ += forms_.end(choice.node) - forms_.first(choice.node);
      for (AlternativeId id = forms_.first(choice.node); id < forms_.end(choice.node); ++id) {
        const ProgressId begun = scalar_begun(id, byte);
        if (begun == kNoProgress) continue;
        if (tracks) {
          if (!is_new(tracked, progress_[begun], link)) continue;
          behind.text = tracked.text;
        }
        level_.add(begun, link);
      }
    }
  }
  if (level_.empty()) return std::nullopt;
  behind.stack = stacks_.intern(at.stack, stacks_.depth(at.stack), level_);
  return behind;
}

JsonMachine::Next JsonMachine::begin_container(const JsonPosition& at, unsigned char byte) {
  const bool array = byte == '[';
  const std::uint32_t depth = stacks_.depth(at.stack) + 1;
  if (depth > shortest_.depth_max()) return std::nullopt;
  const std::uint32_t room = shortest_.depth_max() - depth;
  level_.clear();
  const std::span<const StackEntry> entries = stacks_.entries(at.stack);
  for (std::uint32_t outer = 0; outer < entries.size(); ++outer) {
    const ProgressId holder = entries[outer].progress;
    for (const ValueChoice& choice : progress_.choices(holder)) {
      if (progress_.behind_value(holder, choice.hits, kNoText) == kNoProgress) continue;
      work_ += forms_.end(choice.node) - forms_.first(choice.node);
      for (AlternativeId id = forms_.first(choice.node); id < forms_.end(choice.node); ++id) {
        const SchemaAlternative& alternative = forms_.alternative(id);
        ProgressId begun = kNoProgress;
        if (array && std::holds_alternative<ArrayForm>(alternative)) {
          begun = progress_.begin_array(shortest_.fitting(id, room));
        } else if (!array && std::holds_alternative<ObjectForm>(alternative)) {
          begun = progress_.begin_object(shortest_.fitting(id, room));
        }
        if (begun != kNoProgress) level_.add(begun, StackLink{outer, choice.hits});
      }
    }
  }
  if (level_.empty()) return std::nullopt;
  JsonPosition behind{.lex = array ? Lex::kFirstItem : Lex::kFirstKey,
                      .white = white_of(White::kBreak)};
  behind.stack = stacks_.intern(at.stack, depth, level_);
  return behind;
}

// Whether what was read can become an item that the array of `link`, whose items differ, does not
// have yet. `at` stands inside of the item, or its stack is still the array's.
bool JsonMachine::is_new(const JsonPosition& at, const Progress& scalar, StackLink link) {
  const bool begins = progress_[stacks_.entry(at.stack, 0).progress].kind == Progress::Kind::kArray;
  const StackId arrays = begins ? at.stack : stacks_.outside(at.stack);
  const ProgressId holder = stacks_.entry(arrays, link.outer).progress;
  if (!progress_.tracks_values(holder)) return true;
  const TextSetId taken = progress_[holder].c;
  if (texts_.size(taken) == 0 && scalar.kind != Progress::Kind::kNumber) return true;
  if (scalar.kind == Progress::Kind::kLiteral) return !texts_.contains(taken, at.text);
  if (scalar.kind == Progress::Kind::kString) {
    const WordPlace place{&string_automaton(forms_, scalar), scalar.a, scalar.b, at.text};
    if (at.character.at_border()) return other_word_exists(texts_, place, taken, {});
    const CharacterRanges ranges = completions(at.character, options_.coding);
    return other_word_exists(texts_, place, taken, ranges.span());
  }
  // Of the first one too the value must be known, which a large exponent prevents.
  constexpr std::uint32_t kShort = 8;
  if (texts_.size(taken) == 0 && texts_.length(at.text) <= kShort) return true;
  const std::u32string written = texts_.text(at.text);
  const NumberPlace place{&number_language(forms_, scalar), scalar.a,
                          std::string(written.begin() + 1, written.end())};
  return numbers_.shortest(place, taken).has_value();
}

// --- Literals.

JsonMachine::Next JsonMachine::literal(const JsonPosition& at, unsigned char byte) {
  const std::string_view word = kJsonLiterals[at.number / 16];
  if (byte != static_cast<unsigned char>(word[at.number % 16])) return std::nullopt;
  JsonPosition behind = at;
  ++behind.number;
  if (behind.number % 16 < word.size()) return behind;
  return end_value(
      at.stack, [](ProgressId) { return true; }, at.text);
}

// --- Numbers.

bool JsonMachine::number_ends(const Progress& progress) const {
  const SchemaAlternative& alternative = forms_.alternative(progress.form);
  return std::get<NumberForm>(alternative).language->accepts(progress.a);
}

JsonMachine::Next JsonMachine::end_number(const JsonPosition& at) {
  TextId value = kNoText;
  if (at.text != kNoText) {
    const std::u32string written = texts_.text(at.text);
    value = number_value(texts_, std::string(written.begin() + 1, written.end()));
  }
  return end_value(
      at.stack, [&](ProgressId progress) { return number_ends(progress_[progress]); }, value);
}

JsonMachine::Next JsonMachine::number(const JsonPosition& at, unsigned char byte) {
  if (byte == ',' || byte == ']' || byte == '}' || byte == '\n' || byte == '\r') {
    const Next behind = end_number(at);
    if (!behind || behind->lex == Lex::kDone) return std::nullopt;
    return next(*behind, byte);
  }
  JsonPosition behind = at;
  if (at.text != kNoText) behind.text = texts_.longer(at.text, byte);
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    Progress progress = progress_[entry.progress];
    progress.a = number_language(forms_, progress).step(progress.a, byte);
    if (progress.a == NumberLanguage::kNoState) continue;
    const ProgressId longer = progress_.intern(progress);
    for (const StackLink& link : stacks_.links(entry)) {
      if (at.text == kNoText || is_new(behind, progress, link)) level_.add(longer, link);
    }
  }
  if (level_.empty()) return std::nullopt;
  behind.stack = stacks_.replace_top(at.stack, level_);
  return behind;
}

// --- Strings.

JsonMachine::Next JsonMachine::end_string(const JsonPosition& at, bool whatever_was_read) {
  const auto accepts = [&](ProgressId id) {
    const Progress& progress = progress_[id];
    return whatever_was_read || string_automaton(forms_, progress).accepts(progress.a, progress.b);
  };
  return end_value(at.stack, accepts, at.text);
}

std::uint32_t JsonMachine::capped(const ContentAutomaton& automaton, std::uint32_t count) {
  return std::min(count, forms_.count_cap(automaton));
}

JsonMachine::Next JsonMachine::string(const JsonPosition& at, unsigned char byte) {
  if (byte == '"' && at.character.at_border()) return end_string(at, false);
  JsonPosition behind = at;
  const CharacterRead read = read_character(behind.character, byte, options_.coding);
  if (read.step == CharacterStep::kRefused) return std::nullopt;
  const bool whole = read.step == CharacterStep::kWhole;
  if (whole && at.text != kNoText) behind.text = texts_.longer(at.text, read.letter);
  level_.clear();
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    Progress progress = progress_[entry.progress];
    const ContentAutomaton& automaton = string_automaton(forms_, progress);
    if (whole) {
      progress.a = automaton.step(progress.a, read.letter);
      if (progress.a == ContentAutomaton::kNoState) continue;
      progress.b = capped(automaton, progress.b + 1);
      if (!automaton.live(progress.a, progress.b)) continue;
    } else if (std::ranges::none_of(read.ranges.span(), [&](const CodePointRange& range) {
                 return automaton.can_step(progress.a, progress.b, range.first, range.last);
               })) {
      continue;
    }
    const ProgressId longer = whole ? progress_.intern(progress) : entry.progress;
    for (const StackLink& link : stacks_.links(entry)) {
      if (at.text == kNoText || is_new(behind, progress, link)) level_.add(longer, link);
    }
  }
  if (level_.empty()) return std::nullopt;
  behind.stack = stacks_.replace_top(at.stack, level_);
  return behind;
}

}  // namespace zerohop
