// The parts of ECMA-262 patterns that are characters: escapes, brackets, counts. Used by
// pattern_tree.cc and regex_syntax.cc. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "constrain/code_point_set.h"
#include "constrain/regex_algebra.h"
#include "core/error.h"

namespace zerohop {

/// "at character 7: …"; the first character is 1.
Error pattern_error(std::size_t position, std::string what);

/// \w
CodePointSet word_characters();

struct PatternCount {
  std::uint32_t min = 0;
  std::uint32_t max = RegexPool::kNoBound;
};

struct PatternEscape {
  CodePointSet set;
  bool single = false;  ///< one code point (perhaps a surrogate, which no text has)
  char32_t code_point = 0;
};

class PatternReader {
 public:
  explicit PatternReader(std::u32string_view pattern) : pattern_(pattern) {}

  bool done() const { return at_ == pattern_.size(); }
  std::size_t at() const { return at_; }
  char32_t peek() const { return pattern_[at_]; }
  char32_t next() { return pattern_[at_++]; }
  bool take(char32_t letter);

  /// Behind a backslash.
  Result<PatternEscape> escape();
  /// Behind '['.
  Result<CodePointSet> bracket();
  /// *, +, ?, {n}, {n,}, {n,m}, each with or without a '?' (the language is the same); nothing when
  /// none of them comes.
  Result<std::optional<PatternCount>> count();
  /// Behind '{'.
  bool looks_like_count() const;
  /// name>
  bool group_name();

 private:
  Error error(std::string what) const;
  std::optional<std::uint32_t> hex(std::size_t digits);
  std::optional<std::uint32_t> number();
  Result<PatternEscape> unicode_escape();
  Result<PatternEscape> property(char32_t letter);
  Result<PatternEscape> bracket_member();
  static PatternEscape one(char32_t code_point);

  std::u32string_view pattern_;
  std::size_t at_ = 0;
};

}  // namespace zerohop
