// Finds marks (tags, control tokens' texts) in text that comes in pieces: the first one, and of
// those that begin at the same byte the longest. A byte that no mark begins with costs almost
// nothing: memchr when all marks begin alike, as those of one model do.
//
// Immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

enum class MarkKind : std::uint8_t { kThinkingOpen, kThinkingClose, kCallOpen, kEnd, kFrame };

struct Mark {
  std::string text;
  MarkKind kind = MarkKind::kFrame;
};

enum class TextEnd : std::uint8_t { kOpen, kFinal };

class MarkScanner {
 public:
  struct Found {
    std::size_t begin = 0;       ///< bytes in front: text. All bytes when nothing was found
    const Mark* mark = nullptr;  ///< null: none, or not decided without more bytes
  };

  /// Adds a mark; an empty one, or one that is there already, is left out.
  void add(std::string_view text, MarkKind kind);

  /// The first mark in `text`. With kOpen, text that may become a mark (or a longer one) is not
  /// decided: it begins at `begin`, before the end of `text`.
  Found find(std::string_view text, TextEnd end) const;

 private:
  struct Match {
    const Mark* mark = nullptr;
    bool may_grow = false;
  };
  Match match_at(std::string_view rest) const;
  std::size_t next_first_byte(std::string_view text, std::size_t from) const;

  std::vector<Mark> marks_;
  std::array<bool, 256> first_{};  // bytes that marks begin with
  char only_first_ = 0;            // the one, when there is one
  std::size_t first_count_ = 0;
};

}  // namespace zerohop
