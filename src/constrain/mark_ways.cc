#include "constrain/mark_ways.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

// Bytes in the order in which they are taken, all else being equal: what can be read first.
std::vector<unsigned char> in_order() {
  std::vector<unsigned char> bytes;
  for (unsigned byte = 0x20; byte < 0x7f; ++byte) bytes.push_back(static_cast<unsigned char>(byte));
  for (unsigned byte = 0; byte < 0x100; ++byte) {
    if (byte < 0x20 || byte >= 0x7f) bytes.push_back(static_cast<unsigned char>(byte));
  }
  return bytes;
}

// The bytes of the marks, and one of all others: these are the same to the automaton.
std::vector<unsigned char> bytes_to_try(const StopAutomaton& marks) {
  std::bitset<256> in_marks;
  for (std::size_t i = 0; i < marks.stop_count(); ++i) {
    for (const char byte : marks.stop(i)) in_marks.set(static_cast<unsigned char>(byte));
  }
  std::vector<unsigned char> bytes;
  bool other = false;
  for (const unsigned char byte : in_order()) {
    if (!in_marks[byte] && std::exchange(other, true)) continue;
    bytes.push_back(byte);
  }
  return bytes;
}

}  // namespace

MarkWays::MarkWays(std::shared_ptr<const StopAutomaton> marks,
                   std::vector<std::optional<std::string>> behind)
    : marks_(std::move(marks)),
      behind_(std::move(behind)),
      bytes_(marks_->state_count(), kNone),
      step_(marks_->state_count(), 0) {
  ZH_CHECK(behind_.size() == marks_->stop_count());
  const std::vector<unsigned char> bytes = bytes_to_try(*marks_);
  while (shorten(bytes)) {
  }
  for (State state = 0; state < bytes_.size(); ++state) {
    never_stuck_ = never_stuck_ && (marks_->match(state) || bytes_[state] != kNone);
  }
}

// Of what is still to come when `state` has been reached.
std::size_t MarkWays::cost(State state) const {
  const std::optional<std::size_t> mark = marks_->match(state);
  if (!mark) return bytes_[state];
  return behind_[*mark] ? behind_[*mark]->size() : kNone;
}

// One round: ways of one byte more. False: nothing has become shorter.
bool MarkWays::shorten(std::span<const unsigned char> bytes) {
  bool shorter = false;
  for (State state = 0; state < bytes_.size(); ++state) {
    if (marks_->match(state)) continue;
    std::size_t best = kNone;
    for (const unsigned char byte : bytes) {
      const std::size_t rest = cost(marks_->next(state, byte));
      if (rest >= best) continue;
      best = rest;
      step_[state] = byte;
    }
    if (best == kNone || best + 1 >= bytes_[state]) continue;
    bytes_[state] = best + 1;
    shorter = true;
  }
  return shorter;
}

std::string MarkWays::from(State state) const {
  std::string text;
  for (;;) {
    if (const std::optional<std::size_t> mark = marks_->match(state)) {
      return text + behind_[*mark].value();
    }
    ZH_CHECK(bytes_[state] != kNone);
    text.push_back(static_cast<char>(step_[state]));
    state = marks_->next(state, step_[state]);
  }
}

}  // namespace zerohop
