#include "engine/fault_finder.h"

#include <algorithm>

namespace zerohop {
namespace {

// A first failure is repeated with everybody, a second one at the same place makes suspects.
constexpr std::uint32_t kSuspectFaults = 2;
// Failures at ever other places say little of a sequence, but must come to an end.
constexpr std::uint32_t kElsewhereMax = 8;

// Steps without room in a row that one sequence alone survives.
constexpr std::uint32_t kNoRoomsMax = 3;

bool is_suspect(const Sequence* sequence) {
  const Faults& faults = sequence->faults;
  return faults.count >= kSuspectFaults || faults.elsewhere >= kElsewhereMax;
}

bool is_older(const Sequence* a, const Sequence* b) { return a->id < b->id; }

// Cells are lost with a failed step, and on the way back to the place where it failed another step
// may fail, with which that place has nothing to do.
void accuse(Sequence& sequence) {
  Faults& faults = sequence.faults;
  const std::int32_t begin = sequence.computed;
  const std::int32_t end = begin + static_cast<std::int32_t>(sequence.step_rows);
  if (faults.any() && end <= faults.begin) {
    ++faults.elsewhere;
    return;
  }
  ++faults.count;
  faults.begin = faults.end == 0 ? begin : std::min(faults.begin, begin);
  faults.end = std::max(faults.end, end);
}

}  // namespace

std::vector<Sequence*> FaultFinder::failed(std::span<Sequence* const> batch) {
  ++failures_;
  for (Sequence* sequence : batch) accuse(*sequence);
  if (batch.size() == 1 && is_suspect(batch[0])) return {batch[0]};
  return {};
}

FaultFinder::NoRoom FaultFinder::no_room(std::size_t running) {
  ++failures_;
  ++no_rooms_;
  if (no_rooms_ == 1) return NoRoom::kDropIdle;
  if (running > 1) return NoRoom::kPark;
  return no_rooms_ < kNoRoomsMax ? NoRoom::kDropIdle : NoRoom::kGuilty;
}

bool FaultFinder::not_finite(Sequence& sequence) {
  accuse(sequence);
  return is_suspect(&sequence);
}

void FaultFinder::succeeded() { failures_ = no_rooms_ = 0; }

void FaultFinder::acquit_if_past(Sequence& sequence) {
  if (sequence.faults.any() && sequence.computed >= sequence.faults.end) sequence.faults = {};
}

void FaultFinder::choose(std::vector<Sequence*>& runnable) {
  if (circuit_open()) {
    // In turns by age: the youngest that is older than nobody who had its turn.
    std::sort(runnable.begin(), runnable.end(), is_older);
    const auto after = std::find_if(runnable.begin(), runnable.end(),
                                    [this](const Sequence* s) { return s->id > last_alone_; });
    Sequence* chosen = after == runnable.end() ? runnable.front() : *after;
    last_alone_ = chosen->id;
    runnable.assign(1, chosen);
    return;
  }
  const auto suspect = std::find_if(runnable.begin(), runnable.end(), is_suspect);
  if (suspect == runnable.end()) return;
  const bool others = !std::all_of(runnable.begin(), runnable.end(), is_suspect);
  suspects_turn_ = !suspects_turn_ || !others;
  if (suspects_turn_) {
    runnable.assign(1, *suspect);
  } else {
    std::erase_if(runnable, is_suspect);
  }
}

}  // namespace zerohop
