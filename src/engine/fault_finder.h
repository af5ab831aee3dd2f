// After a step failed: who may be in the next one, and who is at fault.
//
// A forward pass fails as a whole and does not say because of whom. Most failures pass: the step is
// undone and tried once more, with everybody. When it fails again at the same place of a sequence,
// that one is a suspect. Each suspect is computed alone, in turns with all others together, until
// it is past the place (acquitted) or fails once more (guilty: it ends with an error). So one
// poisoned request of eight costs the others repeated work and no text.
//
//            step failed                 failed again, in a batch
//   clear ───────────────▶ doubtful ─────────────────────────────▶ suspect, runs alone
//     ▲                       │                                        │
//     └──── computed again ───┴───────── computed again, alone ────────┤
//                                                                      ▼ failed, alone
//   (one that was alone when it failed twice)  ────────────────────▶ guilty
//
// Without room (the library found no cells although the books have some) nobody is at fault: the
// engine gives cells away until it works. Only one that is alone, with everything else given away
// and still without room, is guilty.
//
// Circuit breaker: after kCircuitFailures failed steps in a row everything is computed one sequence
// at a time, until a step succeeds. A dead device then costs each request two failed steps instead
// of failing everybody at once, and one that recovers has lost nobody.
//
// Pure; the engine thread owns it. The state of each accused is in Sequence::faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sequence.h"

namespace zerohop {

class FaultFinder {
 public:
  /// A step with `batch` failed for good. Their step_rows are still set. Those that are guilty.
  std::vector<Sequence*> failed(std::span<Sequence* const> batch);

  /// A step found no room, while `running` sequences had slots.
  enum class NoRoom : std::uint8_t {
    kDropIdle,  ///< give away what nobody uses
    kPark,      ///< and then somebody's place
    kGuilty,    ///< there is nothing left to give
  };
  NoRoom no_room(std::size_t running);
  /// The model has less room than the books: nobody new may start.
  bool short_of_room() const { return no_rooms_ > 0; }

  /// The logits of `sequence` were no numbers, although the step did not fail. True: guilty.
  bool not_finite(Sequence& sequence);

  /// A step was computed.
  void succeeded();
  /// `sequence` has been computed as far as Sequence::computed.
  static void acquit_if_past(Sequence& sequence);

  /// Of `runnable`, which is not empty, those that may be in the next step; at least one.
  void choose(std::vector<Sequence*>& runnable);

  bool circuit_open() const { return failures_ >= kCircuitFailures; }

  static constexpr std::uint32_t kCircuitFailures = 5;

 private:
  std::uint32_t failures_ = 0;  // in a row
  std::uint32_t no_rooms_ = 0;  // in a row
  bool suspects_turn_ = false;
  EngineRequestId last_alone_{};
};

}  // namespace zerohop
