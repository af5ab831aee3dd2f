// Prefix reuse, the simple way: each slot remembers the tokens whose cells it holds, running or
// not, and a new prompt starts from the longest prefix that any of them shares with it.
//
// This is the whole seam between cache and engine. A plan-making cache with a radix tree, parked
// cells and a host tier can take this one's place without a change in the engine:
//
//   place()    a prompt wants a slot       → which slot, how much is reused, a plan for its cells
//   grow()     the engine computed tokens  → the books follow
//   release()  the sequence ended          → its cells stay for the next turn, or go
//
// Cell accounting. Every running sequence reserves the most cells it can ever need, so that nothing
// that was admitted runs out of room. What idle slots hold is cached and may be dropped at any
// time:
//
//   |<------------------------- cells ------------------------->|
//   | reserved (running slots) | cached (idle slots) |   free   |
//
// Ranges shared in a pooled layout are counted once for each holder: the books never claim more
// room than there is. Not thread-safe; the engine thread owns it. Pure: no model calls, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/cache_plan.h"
#include "core/kv_capabilities.h"
#include "core/token.h"

namespace zerohop {

/// A slot for a new sequence.
struct Placement {
  SlotId slot;
  std::int32_t tokens_reused = 0;  ///< cells [0, tokens_reused) of the slot match the prompt
  CachePlan plan;                  ///< to be carried out before anything is computed
};

struct CacheCounts {
  std::uint32_t slots_running = 0;
  std::uint32_t cells_reserved = 0;
  std::uint32_t cells_cached = 0;
  std::uint32_t cells_total = 0;
};

/// Tokens at the beginning of `a` and `b` that are the same.
std::int32_t common_prefix(TokenSpan a, TokenSpan b);

class SlotCache {
 public:
  explicit SlotCache(const KvCapabilities& capabilities);

  /// A slot with room for `cells_needed` cells in all (prompt and output; at most
  /// KvCapabilities::slot_cells), or nothing while running sequences hold too much. At least the
  /// last token of the prompt is left to compute, because its logits are needed.
  std::optional<Placement> place(TokenSpan prompt, std::uint32_t cells_needed);

  /// How many tokens of `prompt` a placement right now would reuse at most.
  std::int32_t match_length(TokenSpan prompt) const { return longest_match(prompt).length; }

  /// The plan of place() could not be carried out as hoped: the slot holds only `held` tokens.
  void correct(SlotId slot, std::int32_t held);

  /// `tokens` were computed and appended to the running slot.
  void grow(SlotId slot, TokenSpan tokens);

  enum class Keep : std::uint8_t { kCells, kNothing };
  /// The sequence in `slot` ended. With kNothing the returned plan drops its cells.
  CachePlan release(SlotId slot, Keep keep);

  /// Drops what all idle slots hold (the model reported that it has no room after all).
  CachePlan drop_idle();

  /// Tokens whose cells `slot` holds, running or not.
  std::int32_t held(SlotId slot) const;

  CacheCounts counts() const;

  /// The books balance; crashes where they do not.
  void check_integrity() const;

 private:
  struct Slot {
    bool running = false;
    std::uint32_t reserved = 0;   // cells; 0 when idle
    std::uint64_t last_used = 0;  // logical time of the last place or release
    std::vector<Token> tokens;    // what the cells hold, by position
  };
  struct Match {
    std::size_t slot = 0;
    std::int32_t length = 0;
  };

  Slot& at(SlotId id);
  std::uint32_t reserved_cells() const;
  Match longest_match(TokenSpan prompt) const;
  std::optional<std::size_t> choose_slot(const Match& match) const;
  std::optional<std::size_t> eviction_victim(std::size_t spared) const;
  void make_room(std::size_t chosen, std::uint32_t cells_needed, CachePlan& plan);
  std::int32_t fill_from(const Match& match, std::size_t chosen, CachePlan& plan);
  void truncate(std::size_t index, std::int32_t length, CachePlan& plan);

  const KvCapabilities capabilities_;
  std::vector<Slot> slots_;
  std::uint64_t now_ = 0;
};

}  // namespace zerohop
