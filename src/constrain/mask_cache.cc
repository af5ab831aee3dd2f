#include "constrain/mask_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace zerohop {

MaskCache::MaskCache(std::shared_ptr<const TokenTrie> trie, std::size_t bytes_max,
                     const Clock* clock)
    : trie_(std::move(trie)), clock_(clock), store_(bytes_max), walk_(*trie_, store_) {
  ZH_CHECK(trie_->covers_bytes().ok());
}

MachineState MaskCache::step(ConstraintMachine& machine, MachineState state, Token token) const {
  const std::string_view bytes = trie_->bytes(token);
  if (bytes.empty()) return kDeadState;
  return step_all(machine, state, bytes);
}

bool MaskCache::allows(ConstraintMachine& machine, MachineState state, Token token) const {
  if (trie_->is_end(token)) return machine.accepting(state);
  return step(machine, state, token) != kDeadState;
}

const TokenMask& MaskCache::mask(ConstraintMachine& machine, std::uint64_t machine_id,
                                 MachineState state) {
  const MaskKey key{.owner = machine_id, .state = state, .kind = MaskKey::Kind::kWhole};
  current_ = store_.find(key);
  if (current_) {
    ++statistics_.cache_hits;
    return current_->mask;
  }
  const TimePoint begin = clock_ ? clock_->now() : TimePoint{};
  KeptMask made;
  made.mask = walk_.find(machine, machine_id, state);
  current_ = store_.keep(key, std::move(made));
  ++statistics_.built;
  if (walk_.ended_early()) ++statistics_.ended_early;
  if (clock_) {
    const auto spent = static_cast<std::uint64_t>((clock_->now() - begin).count());
    statistics_.nanoseconds += spent;
    statistics_.nanoseconds_max = std::max(statistics_.nanoseconds_max, spent);
  }
  return current_->mask;
}

}  // namespace zerohop
