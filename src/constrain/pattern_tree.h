// An ECMA-262 pattern as a tree: what the parser makes and regex_syntax.cc turns into terms.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "constrain/code_point_set.h"
#include "core/error.h"

namespace zerohop {

struct PatternNode {
  enum class Kind : std::uint8_t {
    kSet,       ///< one character
    kSequence,  ///< children one behind the other; none: the empty word
    kChoice,    ///< one of the children
    kRepeat,    ///< the only child, min to max times
    kStart,     ///< ^
    kEnd,       ///< $
    kBorder,    ///< \b
    kNoBorder,  ///< \B
    kAhead,     ///< (?=…), and so on: the only child
    kNotAhead,
    kBehind,
    kNotBehind,
  };

  Kind kind = Kind::kSequence;
  bool plain = true;  ///< no assertion in it
  CodePointSet set;
  std::vector<PatternNode> children;
  std::uint32_t min = 0;
  std::uint32_t max = 0;     ///< RegexPool::kNoBound: no bound
  std::size_t position = 0;  ///< in code points
};

inline constexpr std::size_t kPatternBytesMax = 256 << 10;

/// `pattern`: the code points of it.
Result<PatternNode> parse_pattern_tree(std::u32string_view pattern);

}  // namespace zerohop
