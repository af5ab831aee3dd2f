// What is open around a place of the text: for each level the alternatives that are alive there.
//
//   {"a": [1, 2           level 3  number     {integer, any number}
//                         level 2  array      {list of integers, list of anything}
//                         level 1  object     {this one at "a", that one at "a"}
//                         level 0  document
//
// An entry of a level is a progress with links: the entries of the level outside that it would be
// a value of, and what it would count for there. Different ways to the same progress are one entry
// with several links, so the number of entries is bounded by the forms, not by the number of ways.
// Stacks are interned: equal levels on equal stacks are one stack.
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "constrain/hash_index.h"
#include "constrain/json_progress.h"

namespace zerohop {

using StackId = std::uint32_t;

/// Outside of everything.
inline constexpr StackId kNoStack = UINT32_MAX;

struct StackLink {
  std::uint32_t outer = 0;  ///< index of the entry of the level outside
  std::uint32_t hits = 0;

  friend auto operator<=>(const StackLink&, const StackLink&) = default;
};

struct StackEntry {
  ProgressId progress = kNoProgress;
  std::uint32_t links_begin = 0;
  std::uint32_t links = 0;
};

/// A level that is being made.
class StackLevel {
 public:
  void add(ProgressId progress, StackLink link) { pairs_.push_back({progress, link}); }
  void add(ProgressId progress, std::span<const StackLink> links) {
    for (const StackLink& link : links) add(progress, link);
  }
  bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }

 private:
  friend class JsonStacks;
  struct Pair {
    ProgressId progress = kNoProgress;
    StackLink link;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  std::vector<Pair> pairs_;
};

class JsonStacks {
 public:
  /// `level` (not empty; it is emptied) inside of `outside`, with `depth` open containers.
  StackId intern(StackId outside, std::uint32_t depth, StackLevel& level);

  /// `level` instead of the top level of `stack`.
  StackId replace_top(StackId stack, StackLevel& level) {
    return intern(outside(stack), depth(stack), level);
  }

  StackId outside(StackId stack) const { return stacks_[stack].outside; }
  std::uint32_t depth(StackId stack) const { return stacks_[stack].depth; }
  /// Sorted by progress. Valid until the next intern(), as are links.
  std::span<const StackEntry> entries(StackId stack) const {
    return std::span(entries_).subspan(stacks_[stack].entries_begin, stacks_[stack].entries);
  }
  std::span<const StackLink> links(const StackEntry& entry) const {
    return std::span(links_).subspan(entry.links_begin, entry.links);
  }
  const StackEntry& entry(StackId stack, std::uint32_t index) const {
    return entries_[stacks_[stack].entries_begin + index];
  }
  /// A number for the entry, below entry_count().
  std::size_t entry_number(StackId stack, std::uint32_t index) const {
    return stacks_[stack].entries_begin + index;
  }
  std::size_t entry_count() const { return entries_.size(); }

  std::size_t memory_bytes() const;

 private:
  struct Stack {
    StackId outside = kNoStack;
    std::uint32_t depth = 0;
    std::uint32_t entries_begin = 0;
    std::uint32_t entries = 0;
  };

  bool same(StackId stack, const Stack& wanted, const std::vector<StackLevel::Pair>& pairs) const;

  std::vector<Stack> stacks_;
  std::vector<StackEntry> entries_;
  std::vector<StackLink> links_;
  HashIndex index_;
};

}  // namespace zerohop
