// What stands below each node of a trie: which classes of bytes, and how deep.
//
// Whoever walks a trie with an automaton can leave out all that is below a node when nothing there
// can make a difference (content_walk.h). For that it need not know the bytes exactly, only a set
// that holds them all, so bytes are put into 56 classes, and a node takes 8 bytes:
//
//   strings ab, ab3, a.c     below 'a' (1st node): {b, digits 3, dots, c}, 2 levels
//
// Lower-case letters and digits are classes of their own: patterns tell these apart. Upper-case
// letters are so in twos. What strings and texts end with (controls, '"', '\') is in a class of its
// own, which nothing may be left out for.
//
// Immutable; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "constrain/byte_trie.h"

namespace zerohop {

class TrieSummary {
 public:
  static constexpr std::uint8_t kClasses = 56;
  static constexpr std::uint8_t kControls = 54;  ///< the class of controls, '"' and '\'
  static constexpr std::uint8_t kWide = 55;      ///< the class of bytes from 0x80 on
  static constexpr std::uint8_t kDeep = 255;     ///< levels(): so many or more

  using ClassSet = std::uint64_t;  ///< bit i: class i
  static constexpr ClassSet kAllClasses = (ClassSet{1} << kClasses) - 1;

  /// The class of an ASCII byte.
  static std::uint8_t class_of(unsigned char byte);

  explicit TrieSummary(const ByteTrie& trie);

  /// Classes of all bytes below a node, its own not included.
  ClassSet below(std::size_t node) const { return nodes_[node] & kAllClasses; }
  /// Of nodes below a node, at most kDeep; 0: there are none.
  std::uint8_t levels(std::size_t node) const {
    return static_cast<std::uint8_t>(nodes_[node] >> kClasses);
  }

  std::size_t depth() const { return depth_; }  ///< of the deepest node

  std::size_t memory_bytes() const { return nodes_.capacity() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> nodes_;  // levels, then classes
  std::size_t depth_ = 0;
};

}  // namespace zerohop
