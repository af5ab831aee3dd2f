#include "constrain/content_tables.h"

#include <algorithm>

namespace zerohop {

ContentTables::ContentTables(const ContentAutomaton& automaton, TextCoding coding)
    : automaton_(&automaton), coding_(coding), row_of_(automaton.states(), 0), rows_(1) {}

std::uint32_t ContentTables::make_row(std::uint32_t state) {
  row_of_[state] = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.emplace_back();
  const bool json = coding_ != TextCoding::kUtf8;
  for (std::uint32_t byte = 0; byte < row.next.size(); ++byte) {
    if (json && (byte < 0x20 || byte == '"')) {
      row.next[byte] = ContentAutomaton::kNoState;
    } else {
      row.next[byte] = json && byte == '\\' ? kAsk : automaton_->step(state, byte);
    }
  }
  find_targets(state, row);
  find_home(state, row);
  return row_of_[state];
}

void ContentTables::find_targets(std::uint32_t state, Row& row) {
  using ClassSet = TrieSummary::ClassSet;
  const std::size_t begin = targets_.size();
  const auto add = [&](std::uint32_t next, std::uint8_t which, unsigned bytes) {
    std::size_t i = begin;
    while (i < targets_.size() && targets_[i].state != next) ++i;
    if (i == targets_.size()) targets_.push_back({.state = next});
    targets_[i].bytes += bytes;
    targets_[i].classes |= ClassSet{1} << which;
  };
  row.alive = TrieSummary::kAllClasses & ~(ClassSet{1} << TrieSummary::kControls);
  for (std::uint32_t byte = 0; byte < row.next.size(); ++byte) {
    const auto which = TrieSummary::class_of(static_cast<unsigned char>(byte));
    if (row.next[byte] == ContentAutomaton::kNoState || row.next[byte] == kAsk) {
      row.alive &= ~(ClassSet{1} << which);
    } else {
      add(row.next[byte], which, 1);
    }
  }
  const bool wide = automaton_->beyond_ascii(state, beyond_);
  for (const std::uint32_t next : beyond_) add(next, TrieSummary::kWide, 0);
  if (!wide) row.alive &= ~(ClassSet{1} << TrieSummary::kWide);
  row.targets_begin = static_cast<std::uint32_t>(begin);
  row.targets_end = static_cast<std::uint32_t>(targets_.size());
}

void ContentTables::find_home(std::uint32_t state, Row& row) const {
  row.home = state;
  if (automaton_->open(state)) {
    row.to_home = row.alive = TrieSummary::kAllClasses;
    return;
  }
  const Target* most = nullptr;
  for (std::uint32_t i = row.targets_begin; i < row.targets_end; ++i) {
    if (most == nullptr || targets_[i].bytes > most->bytes) most = &targets_[i];
  }
  if (most == nullptr) return;
  row.home = most->state;
  row.to_home = row.alive & most->classes;
  for (std::uint32_t i = row.targets_begin; i < row.targets_end; ++i) {
    if (&targets_[i] != most) row.to_home &= ~targets_[i].classes;
  }
}

// All states that words made of `classes` lead to, if they are few.
bool ContentTables::reach(std::uint32_t state, TrieSummary::ClassSet classes) {
  constexpr std::size_t kReachMax = 32;
  reached_.assign(1, state);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Row& here = row(reached_[i]);
    for (std::uint32_t target = here.targets_begin; target < here.targets_end; ++target) {
      if ((targets_[target].classes & classes) == 0) continue;
      const std::uint32_t next = targets_[target].state;
      if (std::find(reached_.begin(), reached_.end(), next) != reached_.end()) continue;
      if (reached_.size() == kReachMax) return false;
      reached_.push_back(next);
    }
  }
  return true;
}

// Classes that are alive wherever they lead themselves: fewer and fewer, until that is so.
const ContentTables::Row& ContentTables::safe_row(std::uint32_t state) {
  if (row(state).safe_known) return row(state);
  TrieSummary::ClassSet safe = row(state).alive;
  for (TrieSummary::ClassSet before = 0; safe != before;) {
    before = safe;
    if (!reach(state, safe)) safe = 0;
    for (const std::uint32_t other : reached_) safe &= row(other).alive;
  }
  std::uint32_t end = 0;
  for (const std::uint32_t other : reached_) end = std::max(end, automaton_->nearest_end(other));
  Row& here = row(state);
  here.safe_known = true;
  here.safe = safe;
  here.safe_end = end;
  return here;
}

std::size_t ContentTables::memory_bytes() const {
  return sizeof(*this) + row_of_.capacity() * sizeof(std::uint32_t) +
         rows_.capacity() * sizeof(Row) + targets_.capacity() * sizeof(Target) +
         (beyond_.capacity() + reached_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace zerohop
