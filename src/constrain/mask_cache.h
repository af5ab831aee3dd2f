// Which tokens of a vocabulary may come next, for all constraints of one model.
//
// Verify first: allows() walks one token's bytes through the machine, a few steps. Only when the
// sampled token is not allowed a mask is made (mask_walk.h). Whole masks are kept by machine and
// state, their parts by what these depend on, in one store with a limit in bytes.
//
// Engine thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "constrain/constraint_machine.h"
#include "constrain/mask_store.h"
#include "constrain/mask_walk.h"
#include "constrain/token_mask.h"
#include "constrain/token_trie.h"

namespace zerohop {

struct MaskStatistics {
  std::uint64_t built = 0;
  std::uint64_t ended_early = 0;  ///< of these: legal tokens are missing (walk_budget.h)
  std::uint64_t cache_hits = 0;
  std::uint64_t nanoseconds = 0;      ///< for masks that were made; 0 without a clock
  std::uint64_t nanoseconds_max = 0;  ///< of one mask
};

class MaskCache {
 public:
  /// `trie`->covers_bytes() holds. `clock` (may be null) measures, and decides nothing.
  MaskCache(std::shared_ptr<const TokenTrie> trie, std::size_t bytes_max,
            const Clock* clock = nullptr);

  /// Where `token` leads; kDeadState: it is not allowed, or has no bytes (end tokens).
  MachineState step(ConstraintMachine& machine, MachineState state, Token token) const;

  /// Whether the token's bytes keep the machine alive. End tokens: whether it accepts.
  bool allows(ConstraintMachine& machine, MachineState state, Token token) const;

  /// All that may come next, end tokens included where the machine accepts. Valid until the next
  /// call. Not empty unless the machine asks for a control character that no token has
  /// (TokenTrie::covers_controls()), or finding it took too long: then tokens may be missing, and
  /// perhaps all of them are.
  const TokenMask& mask(ConstraintMachine& machine, std::uint64_t machine_id, MachineState state);

  /// Forgets a machine: to be called in front of LiveMachine::trim(), and when one is dropped.
  void forget(std::uint64_t machine_id) { store_.forget_machine(machine_id); }

  const TokenTrie& tokens() const { return *trie_; }
  const MaskStatistics& statistics() const { return statistics_; }
  std::size_t memory_bytes() const { return store_.memory_bytes() + walk_.memory_bytes(); }

 private:
  std::shared_ptr<const TokenTrie> trie_;
  const Clock* clock_;
  MaskStore store_;
  MaskWalk walk_;
  std::shared_ptr<const KeptMask> current_;  // what mask() has given out last
  MaskStatistics statistics_;
};

}  // namespace zerohop
