#include "constrain/grammar_lexicon.h"

#include <algorithm>

#include "base/random.h"

namespace zerohop {

GrammarLexicon::GrammarLexicon(const std::vector<GrammarTerminal>& terminals)
    : terminals_(terminals), starts_(terminals.size(), kNone) {}

std::size_t GrammarLexicon::KeyHash::operator()(const Key& key) const {
  const std::uint64_t first = (std::uint64_t{key.terminal} << 32) | key.place.state;
  const PartialCharacter& character = key.place.character;
  const std::uint64_t second = (std::uint64_t{key.place.count} << 32) | character.value;
  const auto stage = static_cast<std::uint64_t>(character.stage);
  return mix64(first ^ mix64(second ^ (stage << 8) ^ character.digits));
}

ContentDecoder GrammarLexicon::decoder(std::uint32_t terminal) const {
  return ContentDecoder(*terminals_[terminal].automaton, TextCoding::kUtf8);
}

std::uint32_t GrammarLexicon::intern(std::uint32_t terminal, const ContentPlace& place) {
  const auto next = static_cast<std::uint32_t>(entries_.size());
  const auto [found, added] = places_.try_emplace({terminal, place}, next);
  if (!added) return found->second;
  const ContentDecoder reader = decoder(terminal);
  Entry entry{.terminal = terminal, .place = place};
  entry.accepts = reader.accepts(place);
  entry.rest_bytes = static_cast<std::uint32_t>(reader.shortest_end(place).size());
  entries_.push_back(entry);
  return next;
}

std::uint32_t GrammarLexicon::start(std::uint32_t terminal) {
  std::uint32_t& known = starts_[terminal];
  if (known == kNone) known = intern(terminal, decoder(terminal).start());
  return known;
}

std::uint32_t GrammarLexicon::step(std::uint32_t place, unsigned char byte) {
  const auto [found, added] = steps_.try_emplace(std::uint64_t{place} << 8 | byte, kNone);
  if (!added) return found->second;
  const std::uint32_t terminal = entries_[place].terminal;
  ContentPlace next = entries_[place].place;
  if (!decoder(terminal).step(next, byte)) return kNone;
  // Where only a least length is asked for, counting stops at it, so that places meet again.
  const ContentAutomaton::Length& length = terminals_[terminal].length;
  if (length.max == ContentAutomaton::kUnbounded) next.count = std::min(next.count, length.min);
  return found->second = intern(terminal, next);
}

const std::bitset<256>& GrammarLexicon::bytes(std::uint32_t place) {
  if (!entries_[place].bytes_known) {
    ContentDecoder reader = decoder(entries_[place].terminal);
    std::bitset<256> allowed;
    for (unsigned byte = 0; byte < 256; ++byte) {
      ContentPlace next = entries_[place].place;
      allowed[byte] = reader.step(next, static_cast<unsigned char>(byte));
    }
    entries_[place].bytes = allowed;
    entries_[place].bytes_known = true;
  }
  return entries_[place].bytes;
}

std::string GrammarLexicon::shortest_end(std::uint32_t place) const {
  return decoder(entries_[place].terminal).shortest_end(entries_[place].place);
}

std::size_t GrammarLexicon::memory_bytes() const {
  constexpr std::size_t kNodeBytes = 32;  // of a hash map, about
  return entries_.capacity() * sizeof(Entry) + places_.size() * (sizeof(Key) + kNodeBytes) +
         steps_.size() * (sizeof(std::uint64_t) + kNodeBytes);
}

}  // namespace zerohop
