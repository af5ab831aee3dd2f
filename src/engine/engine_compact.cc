// Compaction: scattered cells are moved together, a slice between two steps. See engine_loop.h and
// cache/prefix_cache_compact.cc, which says what moves.
//
// Whoever runs or waits for a slot waits for a slice as well, so each slice is charged to all of
// them: it takes at most CompactionOptions::slice, and nobody waits for more than per_request in
// all. When one has waited for that, there is no further slice until it has gone, and it goes on
// with the cells as they are.
//
// Slices end when fragmentation falls below the lower mark of its rung, when nothing can be moved,
// or when nobody is there: they are never a reason for a step, so an idle engine stays idle however
// scattered its cells are.

#include <algorithm>

#include "engine/engine_loop.h"

namespace zerohop {
namespace {

// Of the time that a slice may take, the part it is planned for: copies differ in how long they
// take.
constexpr double kPlannedPart = 0.75;

}  // namespace

void EngineLoop::compact() {
  const std::vector<Sequence*> waiting = who_waits();
  if (waiting.empty()) return;
  Duration time = options_.compaction.slice;
  for (const Sequence* sequence : waiting) {
    time = std::min(time, options_.compaction.per_request - sequence->compacting);
  }
  if (time <= Duration::zero()) return;
  const std::uint32_t cells =
      executor_.cells_moved_within(from_seconds(to_seconds(time) * kPlannedPart));
  CompactionReport report{clock_.now(), {}, 0};
  const Compaction compaction = cache_.compact(cells, context_->top_cell());
  if (compaction.plan.empty() && compaction.moves.empty()) return;
  executor_.carry_out(compaction.plan);
  for (const SlotMove& move : compaction.moves) follow(move);
  // A tail that could not be saved or did not come back is computed again.
  for (const SequencePtr& sequence : running_) trust_books(*sequence);
  report.duration = clock_.now() - report.begin;
  report.cells = compaction.cells;
  for (Sequence* sequence : waiting) sequence->compacting += report.duration;
  ++state_.compactions;
  if (options_.on_compaction) options_.on_compaction(report);
}

// Everybody whom a slice holds up: not those who wait for a reader or for somebody's prompt, and
// not warm prefixes, for which nobody waits.
std::vector<Sequence*> EngineLoop::who_waits() const {
  std::vector<Sequence*> waiting;
  for (const SequencePtr& sequence : running_) {
    if (!sequence->lagging_since && !sequence->warm) waiting.push_back(sequence.get());
  }
  waiting_.for_each([&waiting](Sequence& sequence) {
    if (!sequence.aside && !sequence.warm) waiting.push_back(&sequence);
  });
  return waiting;
}

void EngineLoop::follow(const SlotMove& move) {
  const auto moved = std::find_if(running_.begin(), running_.end(),
                                  [&move](const SequencePtr& s) { return s->slot == move.from; });
  ZH_CHECK(moved != running_.end());
  (*moved)->slot = move.to;
}

}  // namespace zerohop
