// What all machines of one TagSet share: tables for triggers, and the shortest texts.
//
// Immutable after construction; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/stop_automaton.h"
#include "constrain/tag_machine.h"

namespace zerohop {

/// The order of shortest texts: by size, then by bytes.
bool shorter(const std::string& a, const std::string& b);

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
  /// The shortest rest of free text at a state of `triggers`.
  std::string shortest_text(std::uint32_t calls, StopAutomaton::State state) const;

  bool text_allowed(std::uint32_t calls) const;
  bool more_allowed(std::uint32_t calls) const { return calls < set.calls_max; }

  TagSet set;
  std::vector<TagGroup> groups;                   // in the order of the rules
  std::shared_ptr<const StopAutomaton> triggers;  // of the groups; none contains another one
  std::vector<std::string> read;  // by state of `triggers`: the beginning of one that was read
  /// By rule (rules.size(): the prologue) and part: the shortest text of the parts from there on;
  /// of the last part + 1: empty.
  std::vector<std::vector<std::string>> tails;
  std::string shortest_call;    // the shortest trigger with its section
  std::uint32_t calls_cap = 0;  // larger numbers of sections make no difference
};

}  // namespace zerohop
