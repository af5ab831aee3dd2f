// Places inside terminals, numbered: what a grammar machine's items say about the terminal that has
// begun.
//
// Owned by one machine; its thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "constrain/content_coding.h"
#include "constrain/grammar.h"

namespace zerohop {

class GrammarLexicon {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// `terminals` outlive it.
  explicit GrammarLexicon(const std::vector<GrammarTerminal>& terminals);

  /// In front of the terminal's first byte. Not of an empty one.
  std::uint32_t start(std::uint32_t terminal);
  /// The place behind `byte`; kNone when the terminal does not go on so.
  std::uint32_t step(std::uint32_t place, unsigned char byte);
  /// What was read is a whole text of the terminal. Of starts: as if it were not.
  bool accepts(std::uint32_t place) const { return entries_[place].accepts; }
  /// Some byte leads on.
  bool goes_on(std::uint32_t place) { return bytes(place).any(); }
  /// The bytes that lead on.
  const std::bitset<256>& bytes(std::uint32_t place);
  /// The shortest rest, not empty at starts.
  std::string shortest_end(std::uint32_t place) const;
  std::uint32_t shortest_end_bytes(std::uint32_t place) const { return entries_[place].rest_bytes; }
  std::size_t memory_bytes() const;

 private:
  struct Entry {
    std::uint32_t terminal = 0;
    std::uint32_t rest_bytes = 0;
    ContentPlace place;
    bool accepts = false;
    bool bytes_known = false;
    std::bitset<256> bytes;
  };
  struct Key {
    std::uint32_t terminal = 0;
    ContentPlace place;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  ContentDecoder decoder(std::uint32_t terminal) const;
  std::uint32_t intern(std::uint32_t terminal, const ContentPlace& place);

  const std::vector<GrammarTerminal>& terminals_;
  std::vector<std::uint32_t> starts_;
  std::vector<Entry> entries_;
  std::unordered_map<Key, std::uint32_t, KeyHash> places_;
  std::unordered_map<std::uint64_t, std::uint32_t> steps_;  // place × 256 + byte
};

}  // namespace zerohop
