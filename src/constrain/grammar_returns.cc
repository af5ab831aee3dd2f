#include "constrain/grammar_returns.h"

#include <algorithm>
#include <limits>

namespace zerohop {

GrammarReturns::GrammarReturns(const GrammarTables& tables)
    : tables_(tables), drafts_(tables.rules()) {
  nodes_.push_back({.bytes = 0});
}

// Whether the rule can hand on one return of those that wait for it. An item that waits for the
// rule at its own end and goes back to the same rule says nothing.
bool GrammarReturns::find_alias(std::uint32_t rule) {
  Draft& draft = drafts_[rule];
  if (draft.alias_progress == Progress::kDone) return draft.has_alias;
  if (draft.alias_progress == Progress::kOpen) return false;  // a cycle: somebody must be a node
  draft.alias_progress = Progress::kOpen;
  bool same = true;
  bool found = false;
  GrammarReturn common = 0;
  for (const GrammarFrame& frame : draft.waiting->frames) {
    GrammarReturn back = frame.back;
    const bool tail = tables_.symbol(frame.position) == GrammarTables::Symbol::kEnd;
    if (tail && back == kHere + rule) continue;
    if (tail && back >= kHere && find_alias(back - kHere)) back = drafts_[back - kHere].alias;
    if (!tail || back == kHere + rule || (found && back != common)) same = false;
    if (!same) break;
    common = back;
    found = true;
  }
  draft.has_alias = same && found;
  draft.alias = common;
  draft.alias_progress = Progress::kDone;
  return draft.has_alias;
}

// An alias names an older return, or a rule without one: find_alias() has looked through others.
GrammarReturn GrammarReturns::resolve(GrammarReturn back) {
  if (back >= kHere && drafts_[back - kHere].has_alias) back = drafts_[back - kHere].alias;
  return back < kHere ? back : make(back - kHere);
}

GrammarReturn GrammarReturns::reserve() {
  nodes_.emplace_back();
  return static_cast<GrammarReturn>(nodes_.size() - 1);
}

void GrammarReturns::fill(GrammarReturn node, const std::vector<GrammarFrame>& frames) {
  nodes_[node].first = static_cast<std::uint32_t>(frames_.size());
  nodes_[node].count = static_cast<std::uint32_t>(frames.size());
  for (const GrammarFrame& frame : frames) {
    frames_.push_back({frame.position, frame.back == kSelf ? node : frame.back});
  }
}

// Nodes are found by their frames, in which a node names itself kSelf. Longer cycles (rules that
// are left-recursive through others) are made anew for each state.
GrammarReturn GrammarReturns::make(std::uint32_t rule) {
  Draft& draft = drafts_[rule];
  if (draft.progress == Progress::kDone) return draft.node;
  if (draft.progress == Progress::kOpen) {
    if (draft.node == kUnmade) draft.node = reserve();
    return draft.node;
  }
  draft.progress = Progress::kOpen;
  std::vector<GrammarFrame> frames;
  for (const GrammarFrame& frame : draft.waiting->frames) {
    const bool self = frame.back == kHere + rule;
    if (self && tables_.symbol(frame.position) == GrammarTables::Symbol::kEnd) continue;
    frames.push_back({frame.position, self ? kSelf : resolve(frame.back)});
  }
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  draft.progress = Progress::kDone;
  if (draft.node != kUnmade) {
    fill(draft.node, frames);
    return draft.node;
  }
  const auto [place, added] = known_.try_emplace(frames, static_cast<GrammarReturn>(nodes_.size()));
  if (added) fill(reserve(), frames);
  return draft.node = place->second;
}

// The shortest rest of each new node. Frames go back to older nodes, or to new ones in a circle
// that only adds bytes; so a few rounds settle all.
void GrammarReturns::measure(std::size_t first_new) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = first_new; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      for (std::uint32_t frame = 0; frame < node.count; ++frame) {
        const GrammarFrame& next = frames_[node.first + frame];
        if (nodes_[next.back].bytes == UINT32_MAX) continue;
        const std::uint64_t sum =
            std::uint64_t{tables_.bytes(next.position)} + nodes_[next.back].bytes;
        const auto bytes = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(sum, std::numeric_limits<std::int32_t>::max()));
        if (bytes >= node.bytes) continue;
        node.bytes = bytes;
        node.best = frame;
        changed = true;
      }
    }
  }
}

std::vector<GrammarReturn> GrammarReturns::add(const std::vector<Waiting>& waiting) {
  const std::size_t first_new = nodes_.size();
  for (const Waiting& entry : waiting) drafts_[entry.rule] = Draft{.waiting = &entry};
  for (const Waiting& entry : waiting) find_alias(entry.rule);
  std::vector<GrammarReturn> result;
  result.reserve(waiting.size());
  for (const Waiting& entry : waiting) result.push_back(resolve(kHere + entry.rule));
  measure(first_new);
  return result;
}

void GrammarReturns::append_text(std::string& text, GrammarReturn back) const {
  while (back != kWhole) {
    const GrammarFrame& next = frames_[nodes_[back].first + nodes_[back].best];
    tables_.append_text(text, next.position);
    back = next.back;
  }
}

std::size_t GrammarReturns::memory_bytes() const {
  constexpr std::size_t kMapNodeBytes = 80;
  return nodes_.capacity() * sizeof(Node) + frames_.capacity() * sizeof(GrammarFrame) * 2 +
         known_.size() * kMapNodeBytes + drafts_.capacity() * sizeof(Draft);
}

}  // namespace zerohop
