// The requests of an engine that have no slot: new ones and parked ones. The fair queue says whose
// turn it is; here is who they are, and who stands aside for a while without losing its place:
//
//          admit()                     start(), leave()
//   ───────────────▶ in the queue ──────────────────────▶ (gets a slot, or ends)
//                     │        ▲
//      stand_aside()  ▼        │  call_up()
//                     stands aside: for a prefix that another sequence computes right now,
//                                   or until its reader has room again
//
// Whoever stands aside holds up nobody. Engine thread only; owns the sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/fair_queue.h"
#include "engine/sequence.h"

namespace zerohop {

class WaitingRoom {
 public:
  /// `queue` outlives this object; running sequences are in it as well.
  explicit WaitingRoom(FairQueue& queue) : queue_(queue) {}

  /// A new or parked sequence takes its place by its arrival. `start_by`: when it has to leave to
  /// meet its deadline, if that is known.
  Sequence& admit(SequencePtr sequence, std::optional<TimePoint> start_by = {});

  /// Whose turn it is; null when it is nobody's, or no sequence is free for them.
  Sequence* next(TimePoint now) const { return find(queue_.next(now)); }
  /// Whose turn it would be if sequences were plenty.
  Sequence* head(TimePoint now) const { return find(queue_.head(now)); }

  /// `sequence` gets a slot; the queue counts it as running from `now` on.
  SequencePtr start(Sequence& sequence, TimePoint now);
  /// `sequence` ends here.
  SequencePtr leave(Sequence& sequence);

  /// For something that Sequence::aside names. It must be called up one day.
  void stand_aside(Sequence& sequence);
  template <class Ready>
  void call_up(Ready ready) {
    if (aside_ == 0) return;
    for (auto& [id, sequence] : waiting_) {
      if (sequence->aside && ready(*sequence)) take_back(*sequence);
    }
  }

  /// In order of arrival; `look` may not change the room.
  template <class Look>
  void for_each(Look look) const {
    for (const auto& [id, sequence] : waiting_) look(*sequence);
  }

  /// Of the new ones; null when there is none.
  const Sequence* oldest_new() const;

  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  std::size_t aside() const { return aside_; }
  std::size_t parked() const { return parked_; }

  void check_integrity() const;

 private:
  Sequence* find(std::optional<WorkId> id) const;
  SequencePtr take(Sequence& sequence);
  void take_back(Sequence& sequence);

  FairQueue& queue_;
  std::map<WorkId, SequencePtr> waiting_;  // in order of arrival
  std::size_t aside_ = 0;
  std::size_t parked_ = 0;
};

}  // namespace zerohop
