// What all machines of one TagSet share: tables for triggers, and the shortest texts.
//
// Immutable after construction; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/mark_ways.h"
#include "constrain/stop_automaton.h"
#include "constrain/tag_machine.h"

namespace zerohop {

/// The order of shortest texts: by size, then by bytes.
bool shorter(const std::string& a, const std::string& b);

/// White space, in front of what stands at the beginning of a text.
bool is_tag_space(unsigned char byte);

/// The errors of make_tag_machine().
Result<void> check_tag_set(const TagSet& set);

/// The rules of one trigger, or a text that must not come.
struct TagGroup {
  std::string trigger;
  std::vector<std::uint32_t> rules;  ///< none: the text must not come
  std::string shortest;              ///< the shortest section, behind the trigger
  bool beginning = false;            ///< TagRule::Place::kBeginning
};

/// Where a part of kUntil stands in its text.
struct TagUntil {
  explicit TagUntil(const TagPart& part);

  std::shared_ptr<const StopAutomaton> marks;  ///< the end, then the texts that never come
  bool always_ends = false;                    ///< from everywhere the end can be reached
  std::vector<std::string> rest;  ///< then by state: the shortest text up to and with the end
};

struct TagPlan {
  explicit TagPlan(TagSet tags);

  /// The shortest rest behind `calls` complete sections.
  std::string shortest_behind(std::uint32_t calls) const;
  /// The shortest rest of free text at a state of `triggers`.
  std::string shortest_text(std::uint32_t calls, StopAutomaton::State state) const;

  /// No text gets stuck between marks that must not come; asked before anything else.
  bool always_ends() const;

  bool text_allowed(std::uint32_t calls) const;
  bool more_allowed(std::uint32_t calls) const { return calls < set.calls_max; }

  /// The parts of a rule; behind the rules come the prologue and the alternatives.
  const std::vector<TagPart>& parts_of(std::uint32_t rule) const;
  std::uint32_t prologue() const { return static_cast<std::uint32_t>(set.rules.size()); }
  std::uint32_t first_alternative() const { return prologue() + 1; }
  std::uint32_t rule_count() const {
    return first_alternative() + static_cast<std::uint32_t>(set.alternatives.size());
  }

  TagSet set;
  std::vector<TagGroup> groups;                   // in the order of the rules
  std::shared_ptr<const StopAutomaton> triggers;  // of the groups; none contains another one
  std::unique_ptr<const MarkWays> ways_to_calls;  // from text, where calls are asked for
  bool any_at_beginning = false;
  /// By rule as in parts_of(), and part: the shortest text of the parts from there on; of the last
  /// part + 1: empty.
  std::vector<std::vector<std::string>> tails;
  std::vector<std::vector<std::shared_ptr<const TagUntil>>> untils;  // likewise; null: another kind
  std::string shortest_call;         // the shortest trigger with its section
  std::string shortest_alternative;  // empty where there is none
  std::uint32_t calls_cap = 0;       // larger numbers of sections make no difference
  std::size_t memory_bytes = 0;      // of all these texts

 private:
  void find_ways_to_calls();
  std::size_t bytes_of_texts() const;
};

}  // namespace zerohop
