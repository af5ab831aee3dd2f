// What all machines of one TagSet share: tables for triggers, and the shortest texts.
//
// Immutable after construction; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "constrain/tag_machine.h"

namespace zerohop {

/// Follows free text up to the first complete one of several patterns (Aho and Corasick, 1975),
/// none of which contains another.
class PatternTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit PatternTable(const std::vector<std::string>& patterns);
  std::uint32_t step(std::uint32_t node, unsigned char byte) const { return next_[node][byte]; }
  /// The pattern that is complete at `node`.
  std::uint32_t hit(std::uint32_t node) const { return hits_[node]; }
  /// How much of `pattern` has been read at `node`.
  std::size_t read_of(std::uint32_t node, const std::string& pattern) const;
  std::size_t memory_bytes() const { return next_.size() * (sizeof(next_[0]) + 8); }

 private:
  std::vector<std::array<std::uint32_t, 256>> next_;
  std::vector<std::uint32_t> hits_;
  std::vector<std::string> read_;  // the longest beginning of a pattern, by node
};

/// The rules of one trigger.
struct TagGroup {
  std::string trigger;
  std::vector<std::uint32_t> rules;
  std::string shortest;  ///< the shortest section, behind the trigger
};

struct TagPlan {
  explicit TagPlan(TagSet tags);

  /// The shortest rest behind `calls` complete sections.
  std::string shortest_behind(std::uint32_t calls) const;
  /// The shortest rest of free text at `node`.
  std::string shortest_text(std::uint32_t calls, std::uint32_t node) const;

  bool text_allowed(std::uint32_t calls) const;
  bool more_allowed(std::uint32_t calls) const { return calls < set.calls_max; }

  TagSet set;
  std::vector<TagGroup> groups;  // in the order of the rules
  PatternTable triggers;
  /// By rule (rules.size(): the prologue) and part: the shortest text of the parts from there on;
  /// of the last part + 1: empty.
  std::vector<std::vector<std::string>> tails;
  std::uint32_t calls_cap = 0;  // larger numbers of sections make no difference
};

}  // namespace zerohop
