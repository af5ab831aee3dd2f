// Forced bytes in the JSON machine: what comes next whatever is chosen.
#include <algorithm>

#include "base/utf8.h"
#include "constrain/json_machine_parts.h"

namespace zerohop {

namespace {

using Lex = JsonPosition::Lex;

constexpr std::string_view kWhiteBytes = " \n\r\t";

// Bytes that may go on with a character that has begun.
constexpr std::string_view kEscapeBytes = "nu\"\\/bfrt";
constexpr std::string_view kHexBytes = "0123456789abcdefABCDEF";

std::vector<unsigned char> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<unsigned char> bytes_between(unsigned first, unsigned last) {
  std::vector<unsigned char> bytes;
  for (unsigned byte = first; byte <= last; ++byte) {
    bytes.push_back(static_cast<unsigned char>(byte));
  }
  return bytes;
}

std::vector<unsigned char> inside_character(const PartialCharacter& character) {
  switch (character.stage) {
    case PartialCharacter::Stage::kEscape: return bytes_of(kEscapeBytes);
    case PartialCharacter::Stage::kHex:
    case PartialCharacter::Stage::kLowHex: return bytes_of(kHexBytes);
    case PartialCharacter::Stage::kHighSurrogate: return {'\\'};
    case PartialCharacter::Stage::kPairEscape: return {'u'};
    default: return bytes_between(0x80, 0xbf);
  }
}

// The first bytes of `letter`, as it may be written.
std::string first_bytes_of(char32_t letter, TextCoding coding) {
  if (letter < 0x20 || letter == U'"' || letter == U'\\') return "\\";
  std::string text;
  utf8_append(text, letter);
  text.resize(1);
  if (letter >= 0x80 || coding == TextCoding::kJsonAny) text += '\\';
  return text;
}

}  // namespace

// Characters of a string or name that can be next in the entry: one, or two where there are more.
// The end of a name counts as a quote.
void JsonMachine::add_letters(const Progress& entry, std::u32string& letters, bool& may_end) {
  if (entry.kind == Progress::Kind::kKeyDeclared) {
    const std::vector<std::uint64_t>& possible = progress_.next_declared(entry.a);
    const std::vector<std::u32string>& names = forms_.object(entry.form).names;
    for (std::uint32_t rank = entry.b; rank < entry.c; ++rank) {
      if ((possible[rank / 64] >> (rank % 64) & 1) == 0) continue;
      const bool ends = names[rank].size() == entry.d;
      may_end = may_end || ends;
      if (!ends) letters.push_back(names[rank][entry.d]);
    }
    return;
  }
  const bool other = entry.kind == Progress::Kind::kKeyOther;
  const ContentAutomaton& automaton = other ? *forms_.object(entry.form).form->others[entry.b].names
                                            : string_automaton(forms_, entry);
  const std::uint32_t state = other ? entry.c : entry.a;
  const std::uint32_t count = other ? entry.d : entry.b;
  may_end = may_end || automaton.accepts(state, count);
  const auto letter = automaton.shortest_step(state, count, CodePointSet::all());
  if (!letter) return;
  letters.push_back(*letter);
  const CodePointSet others = CodePointSet{{*letter, *letter}}.complement();
  if (const auto more = automaton.shortest_step(state, count, others)) letters.push_back(*more);
}

// At the border of a character: all bytes that are possible, or of many, two. Where words must not
// come again nothing is left out.
std::vector<unsigned char> JsonMachine::letter_candidates(const JsonPosition& at) {
  std::u32string letters;
  bool may_end = false;
  for (const StackEntry& entry : stacks_.entries(at.stack)) {
    add_letters(Progress(progress_[entry.progress]), letters, may_end);
  }
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  std::string bytes(may_end ? "\"" : "");
  for (const char32_t letter : letters) bytes += first_bytes_of(letter, options_.coding);
  // Several characters that begin with one byte say nothing about those that were not listed.
  const bool same = letters.size() > 1 && bytes.find_first_not_of(bytes[0]) == std::string::npos;
  if (at.text != kNoText || same) return bytes_between(0x20, 0xf4);
  return bytes_of(bytes);
}

// All bytes that could be possible, most likely ones first; some more than are.
std::vector<unsigned char> JsonMachine::candidates(const JsonPosition& at) {
  const std::string white(at.white == JsonPosition::White::kNone ? "" : kWhiteBytes);
  switch (at.lex) {
    case Lex::kBegin:
    case Lex::kValue:
    case Lex::kFirstItem: return bytes_of(white + "\"1-02tnf[{]3456789");
    case Lex::kFirstKey:
    case Lex::kKey: return bytes_of(white + "\"}");
    case Lex::kColon: return {':'};
    case Lex::kAfter:
    case Lex::kBeforeClose: return bytes_of(white + ",]}");
    case Lex::kLiteral:
      return {static_cast<unsigned char>(kJsonLiterals[at.number / 16][at.number % 16])};
    case Lex::kNumber: return bytes_of(",]}\n\r0123456789.eE+-");
    case Lex::kDone: return {};
    default:
      if (at.character.at_border()) return bytes_between(0x20, 0xf4);
      return inside_character(at.character);
  }
}

std::optional<unsigned char> JsonMachine::only_byte(MachineState state) {
  const JsonPosition at = states_[state].position;
  const bool word = at.lex == Lex::kString || at.lex == Lex::kKeyText;
  const bool letters = word && at.character.at_border();
  std::optional<unsigned char> found;
  for (const unsigned char byte : letters ? letter_candidates(at) : candidates(at)) {
    const bool known = states_[state].row != 0;
    const bool alive = known ? step(state, byte) != kDeadState : next(at, byte).has_value();
    if (!alive) continue;
    if (found) return std::nullopt;
    found = byte;
  }
  return found;
}

std::string JsonMachine::forced(MachineState state, std::size_t bytes_max) {
  std::string bytes;
  while (bytes.size() < bytes_max && state != kDeadState && !accepting(state)) {
    const std::optional<unsigned char> byte = only_byte(state);
    if (!byte) break;
    bytes.push_back(static_cast<char>(*byte));
    state = step(state, *byte);
  }
  return bytes;
}

}  // namespace zerohop
