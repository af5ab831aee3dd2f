// What masks ask the JSON machine, so that they need not step through it (mask_walk.h,
// trie_walk.h).
//
// Inside of a string or name, one entry of the stack is a run of one automaton. Several are a
// union: a name may be a declared one or another, a string that of one alternative or of another.
// Then each entry alone is a part. Words that must not come again do not disturb a run as long as
// the automaton cannot run out of others: the run lists the used ones, and goes on with a word that
// is not named.
#include <algorithm>
#include <utility>

#include "constrain/content_coding.h"
#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

// Words that were used, and those that an end still needs: both fit the choices.
constexpr std::uint32_t kWordsMax = ContentAutomaton::kPlainChoices / 2;

}  // namespace

// Words that must not come again; `text` has been read.
struct JsonMachine::Used {
  TextSetId words = kNoTexts;
  TextId text = kNoText;
};

std::optional<ContentRun> JsonMachine::content(MachineState state) {
  if (state == kDeadState) return std::nullopt;
  const JsonPosition& at = states_[state].position;
  if (!at.character.at_border()) return std::nullopt;
  if (at.lex == Lex::kString) return string_run(JsonPosition(at));
  if (at.lex == Lex::kKeyText) return name_run(JsonPosition(at));
  return std::nullopt;
}

// Several entries are one run where they stand at the same place of the same automaton.
std::optional<ContentRun> JsonMachine::string_run(const JsonPosition& at) {
  const std::span<const StackEntry> entries = stacks_.entries(at.stack);
  const Progress& first = progress_[entries.front().progress];
  const ContentAutomaton& automaton = string_automaton(forms_, first);
  for (const StackEntry& entry : entries.subspan(1)) {
    const Progress& other = progress_[entry.progress];
    if (&string_automaton(forms_, other) != &automaton || other.a != first.a ||
        other.b != first.b) {
      return std::nullopt;
    }
  }
  if (automaton.characters_min(first.a, first.b) != 0) return std::nullopt;
  ContentRun run{.automaton = &automaton,
                 .state = first.a,
                 .characters_max = automaton.characters_max(first.b),
                 .coding = options_.coding,
                 .leaving = '"',
                 .count = first.b};
  JsonPosition unnamed = at;
  if (at.text != kNoText) {
    if (entries.size() > 1 || entries.front().links != 1) return std::nullopt;
    const StackLink link = stacks_.links(entries.front()).front();
    const TextSetId used = progress_[holder(at, link).progress].c;
    if (!note_used({used, at.text}, run)) return std::nullopt;
    unnamed.text = kNoText;
  }
  if (const Next behind = end_string(unnamed, true)) run.behind = intern(*behind);
  return run;
}

std::optional<ContentRun> JsonMachine::name_run(const JsonPosition& at) {
  const std::span<const StackEntry> entries = stacks_.entries(at.stack);
  const Progress key = progress_[entries.front().progress];
  if (entries.size() != 1 || key.kind != Progress::Kind::kKeyOther) return std::nullopt;
  const ObjectForm& form = *forms_.object(key.form).form;
  const ContentAutomaton& names = *form.others[key.b].names;
  if (names.characters_min(key.c, key.d) != 0) return std::nullopt;
  ContentRun run{.automaton = &names,
                 .state = key.c,
                 .characters_max = names.characters_max(key.d),
                 .coding = options_.coding,
                 .leaving = '"',
                 .count = key.d};
  if (!note_used({progress_[key.a].c, at.text}, run)) return std::nullopt;
  const auto slot = static_cast<Slot>(form.declared.size()) + key.b;
  level_.clear();
  level_.add(progress_.keyed(key.a, slot, kNoText), stacks_.links(entries.front()));
  JsonPosition behind{.lex = Lex::kColon};
  behind.stack = stacks_.replace_top(at.stack, level_);
  run.behind = intern(behind);
  return run;
}

// False: words may run out, so that one that is used gets in the way of others.
bool JsonMachine::note_used(const Used& used, ContentRun& run) {
  if (!run.automaton->endless()) return false;
  run.forgets = true;
  for (const TextId word : texts_.beginning_with(used.words, used.text)) {
    const std::u32string rest = texts_.text(word).substr(texts_.length(used.text));
    std::string written = encode_content(rest, options_.coding);
    if (written.find('\\') == std::string::npos) run.taken.push_back(std::move(written));
  }
  return true;
}

// The position with one part of the entries on top of its stack.
MachineState JsonMachine::only(const JsonPosition& at, StackLevel& level, TextId text) {
  JsonPosition part = at;
  part.text = text;
  part.stack = stacks_.replace_top(at.stack, level);
  return intern(part);
}

std::vector<MachineState> JsonMachine::parts(MachineState state) {
  if (state == kDeadState) return {};
  const JsonPosition at = states_[state].position;
  const bool name = at.lex == Lex::kKeyText;
  if (at.lex != Lex::kString && !name) return {};
  work_ += stacks_.entries(at.stack).size();
  struct Part {
    ProgressId progress = kNoProgress;
    std::vector<StackLink> links;
  };
  std::vector<Part> singles;
  StackLevel declared;
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const std::span<const StackLink> links = stacks_.links(entry);
    if (name && progress_[entry.progress].kind == Progress::Kind::kKeyDeclared) {
      declared.add(entry.progress, links);
    } else if (name || at.text == kNoText) {
      singles.push_back({entry.progress, {links.begin(), links.end()}});
    } else {
      for (const StackLink& link : links) singles.push_back({entry.progress, {link}});
    }
  }
  if (singles.size() + (declared.empty() ? 0 : 1) < 2) return {};
  std::vector<MachineState> parts;
  if (!declared.empty()) parts.push_back(only(at, declared, kNoText));
  for (const Part& single : singles) {
    StackLevel level;
    level.add(single.progress, single.links);
    parts.push_back(only(at, level, at.text));
  }
  return parts;
}

// The first bytes of declared names; nothing where others are possible.
std::optional<std::bitset<256>> JsonMachine::name_bytes(const JsonPosition& at) {
  constexpr std::uint32_t kNamesMax = 64;
  std::bitset<256> bytes;
  bytes.set('"').set('\\');
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    const Progress& key = progress_[entry.progress];
    if (key.kind != Progress::Kind::kKeyDeclared || key.c - key.b > kNamesMax) return std::nullopt;
    const std::vector<std::u32string>& names = forms_.object(key.form).names;
    for (std::uint32_t rank = key.b; rank < key.c; ++rank) {
      if (names[rank].size() == key.d) continue;
      const char32_t letter = names[rank][key.d];
      if (letter < 0x80) {
        bytes.set(letter);
      } else {
        for (unsigned byte = 0xc2; byte < 0xf5; ++byte) bytes.set(byte);
      }
    }
  }
  return bytes;
}

bool JsonMachine::is_plain(const SchemaAlternative& alternative) const {
  if (const auto* text = std::get_if<StringForm>(&alternative)) return text->content->plain();
  if (const auto* array = std::get_if<ArrayForm>(&alternative)) {
    return !array->unique || array->items_min < kWordsMax;
  }
  const auto* object = std::get_if<ObjectForm>(&alternative);
  if (object == nullptr) return true;
  if (!object->others.empty() && object->properties_min >= kWordsMax) return false;
  const auto plain_name = [](const ObjectForm::Property& property) {
    return std::none_of(property.name.begin(), property.name.end(), [](char letter) {
      const auto byte = static_cast<unsigned char>(letter);
      return byte == 0x7f || (byte >= 0xf1 && byte <= 0xf2);
    });
  };
  return std::all_of(object->declared.begin(), object->declared.end(), plain_name) &&
         std::all_of(object->others.begin(), object->others.end(),
                     [](const auto& others) { return others.names->plain(); });
}

// Where words must not come twice, an end may need as many others as were used. Control characters
// are escaped in JSON, but for U+007F.
bool JsonMachine::plain_ends() {
  if (!plain_) {
    const auto& nodes = forms_.form().nodes;
    plain_ = std::all_of(nodes.begin(), nodes.end(), [&](const auto& alternatives) {
      return std::all_of(alternatives.begin(), alternatives.end(),
                         [&](const auto& alternative) { return is_plain(alternative); });
    });
  }
  return *plain_ && texts_.largest_size() < kWordsMax;
}

std::bitset<256> JsonMachine::first_bytes(MachineState state) {
  std::bitset<256> bytes;
  if (state == kDeadState) return bytes;
  const JsonPosition& at = states_[state].position;
  if (at.lex == Lex::kKeyText && at.character.at_border()) {
    if (const auto found = name_bytes(at)) return *found;
  }
  for (const unsigned char byte : candidates(at)) bytes.set(byte);
  return bytes;
}

}  // namespace zerohop
