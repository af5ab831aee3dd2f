// Finds the texts that a tokenizer would turn into special tokens, such as "<|im_end|>". Immutable
// after construction; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/stop_automaton.h"

namespace zerohop {

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// One occurrence of a special text.
struct SpecialOccurrence {
  ByteRange range;
  std::size_t index = 0;  ///< into the texts given to the finder
  friend bool operator==(const SpecialOccurrence&, const SpecialOccurrence&) = default;
};

class SpecialTextFinder {
 public:
  /// `texts`: longest first, as Tokenizer::special_texts() gives them; empty ones are ignored.
  explicit SpecialTextFinder(std::span<const std::string> texts);

  const std::string& text(std::size_t index) const { return automaton_->stop(index); }
  std::size_t count() const { return automaton_->stop_count(); }

  /// The occurrences in `text` that a tokenizer would take: all of the longest text first, then of
  /// the next one in what is left, and so on; in the order of their positions. 2.3 ns a byte.
  std::vector<SpecialOccurrence> find(std::string_view text) const;

  /// Whether some occurrence, taken or not, overlaps one of `ranges` (ascending, disjoint, none
  /// empty).
  bool touches(std::string_view text, std::span<const ByteRange> ranges) const;

  /// The occurrences of find() in each of the gaps that `ranges` (ascending, disjoint) leave: what
  /// stands in the text without any help of those ranges.
  std::vector<SpecialOccurrence> find_between(std::string_view text,
                                              std::span<const ByteRange> ranges) const;

 private:
  template <class Visit>
  void scan(std::string_view text, Visit visit) const;

  std::shared_ptr<const StopAutomaton> automaton_;
};

}  // namespace zerohop
