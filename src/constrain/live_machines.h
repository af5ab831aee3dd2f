// The machines of an engine: one for all requests with the same constraint, so that they share its
// states and masks, and kept for the next one as long as there is room.
//
//                 follow()                      the last user goes
//   (not there) ───────────▶ followed by users ───────────────────▶ idle ──────▶ (dropped)
//                                  ▲                                 │    tidy()
//                                  └──────────── follow() ───────────┘
//
// Machines with users are never dropped; each is bounded by itself (live_machine.h). Idle ones go
// when they take more than a limit in bytes or in number, the one that has been idle for longest
// first, and their masks with them.
//
// An idle machine does not change, so what it takes is added up once: tidy() looks only at those
// that were asked for since they were last seen idle, however many are kept.
//
// Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "constrain/compiled_constraint.h"
#include "constrain/live_machine.h"
#include "constrain/mask_cache.h"

namespace zerohop {

struct LiveMachinesOptions {
  std::size_t machine_bytes_max = LiveMachine::kBytesMax;  ///< of one; see LiveMachine
  std::size_t idle_bytes_max = std::size_t{64} << 20;      ///< of all without users
  std::size_t idle_max = 256;                              ///< machines without users
};

class LiveMachines {
 public:
  using Options = LiveMachinesOptions;

  /// `masks` outlives this object.
  explicit LiveMachines(MaskCache& masks, Options options = {});

  /// The machine of `constraint`, the same one for all with its id. Whoever holds it is a user.
  std::shared_ptr<LiveMachine> follow(const CompiledConstraint& constraint);

  /// Looks who has become idle, and drops idle machines beyond the limits: to be called when users
  /// have gone.
  void tidy();

  std::size_t size() const { return by_id_.size(); }
  std::size_t in_use() const;
  /// Of all tables, as of the last follow() or tidy().
  std::size_t memory_bytes() const { return followed_bytes_ + idle_bytes_; }

 private:
  struct Entry {
    std::uint64_t id = 0;
    std::shared_ptr<LiveMachine> machine;
    std::size_t bytes = 0;  // counted so far
    bool idle = false;      // in which of the two lists it stands

    bool has_users() const { return machine.use_count() > 1; }
  };
  using Entries = std::list<Entry>;

  void take_up(Entries::iterator entry);
  void look_at_followed();
  void drop_last_idle();

  MaskCache& masks_;
  const Options options_;
  Entries followed_;  // by users, or they have just gone; asked for most recently first
  Entries idle_;      // the one that became idle last first
  std::unordered_map<std::uint64_t, Entries::iterator> by_id_;
  std::size_t followed_bytes_ = 0;
  std::size_t idle_bytes_ = 0;
};

}  // namespace zerohop
