// What the naive twin does to the cache (prefix_cache_twin.h): prompts, failures, pressure.
#include <algorithm>
#include <array>

#include "cache/prefix_cache_twin.h"

namespace zerohop {
namespace {

std::size_t size_of(std::int32_t count) { return static_cast<std::size_t>(count); }

std::size_t common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  return same;
}

}  // namespace

std::vector<Token> CacheTwin::make_prompt() {
  std::vector<Token> prompt;
  if (!prompts_.empty() && choose_(4) != 0) {
    prompt = prompts_[choose_(prompts_.size())];
    if (choose_(2) == 0) prompt.resize(1 + choose_(prompt.size()));
  }
  const std::size_t more = choose_(options_.prompt_max / 2) + (prompt.empty() ? 1 : 0);
  for (std::size_t i = 0; i < more; ++i) {
    prompt.push_back(static_cast<Token>(choose_(options_.alphabet)));
  }
  prompt.resize(std::min<std::size_t>(prompt.size(), options_.prompt_max));
  if (prompts_.size() < 40) {
    prompts_.push_back(prompt);
  } else {
    prompts_[choose_(prompts_.size())] = prompt;
  }
  return prompt;
}

void CacheTwin::introduce(ScopeId scope, const std::vector<State>& states, std::size_t from) {
  for (std::size_t i = from; i < states.size(); ++i) introduced_[scope.value].insert(states[i]);
}

void CacheTwin::place() {
  const std::vector<Token> prompt = make_prompt();
  PlaceRequest request;
  request.tokens = prompt;
  const std::uint32_t room =
      options_.capabilities.slot_cells - static_cast<std::uint32_t>(prompt.size());
  request.cells_ahead =
      static_cast<std::uint32_t>(choose_(std::min(room, options_.prompt_max / 4) + 1));
  request.scope = ScopeId(choose_(options_.scopes));
  request.affinity = choose_(3);
  if (choose_(3) == 0) {
    request.marked_tokens = static_cast<std::uint32_t>(choose_(prompt.size() + 1));
    request.mark_lifetime = std::chrono::seconds(choose_(20));
  }
  request.now = now_;
  const std::vector<Token> prefix(prompt.begin(), prompt.end() - 1);
  const std::int32_t device = cache_.match(request.scope, prefix).device_tokens;
  const PlaceResult result = cache_.place(request);
  if (!result.placement) {
    check_refusal(request, result.refusal);
    return;
  }
  obey(result.placement->plan);
  const SlotId slot = result.placement->slot;
  const std::size_t there = cells(slot).size();
  const std::size_t reused = size_of(result.placement->tokens_reused);
  Sequence sequence{slot, request.scope, prompt, prompt, 0};
  sequence.tokens.resize(reused);
  sequence.reserved = static_cast<std::uint32_t>(prompt.size() - reused) + request.cells_ahead;
  if (there < reused) {
    check(options_.surprises, "the slot holds less than was promised");
    const auto held = static_cast<std::int32_t>(there);
    if (held < cache_.held(slot)) cache_.correct(slot, held);
    sequence.tokens.resize(there);
    sequence.reserved = 0;  // asked for again before it grows
  } else {
    check_placement(request, *result.placement, device);
  }
  slot_scopes_[slot.value] = request.scope;
  running_.push_back(sequence);
  if (choose_(4) != 0) grow_by(running_.back(), prompt.size() - there);
}

void CacheTwin::check_placement(const PlaceRequest& request, const Placement& placement,
                                std::int32_t device_before) {
  const std::vector<Token> prompt(request.tokens.begin(), request.tokens.end());
  const std::vector<State> wanted = states_of(prompt);
  const std::vector<Cell>& held = cells(placement.slot);
  check(held.size() == size_of(placement.tokens_reused), "the slot holds another length");
  check(held.size() < prompt.size(), "nothing is left to compute");
  for (std::size_t i = 0; i < held.size(); ++i) {
    check(held[i].state == wanted[i], "the slot holds other tokens");
    const bool seen =
        introduced_[0].contains(wanted[i]) || introduced_[request.scope.value].contains(wanted[i]);
    check(seen, "a prefix of another scope was given away");
  }
  if (options_.capabilities.can_copy_whole) {
    check(placement.tokens_reused >= device_before, "less was reused than was in cells");
  }
  check(placement.tokens_restored <= placement.tokens_reused, "more was restored than reused");
}

void CacheTwin::check_refusal(const PlaceRequest& request, PlaceRefusal refusal) {
  if (refusal == PlaceRefusal::kNoSequence) {
    check(running_.size() == options_.capabilities.sequences, "refuses with a sequence free");
    return;
  }
  check(options_.capabilities.pooled, "refuses for cells that are not shared");
  if (!pinned_.empty()) return;
  const CacheCounts counts = cache_.counts();
  const std::uint64_t most = std::uint64_t{counts.cells_active} + counts.cells_reserved +
                             request.tokens.size() + request.cells_ahead;
  check(most > options_.capabilities.cells, "refuses with cells to spare");
}

void CacheTwin::grow() {
  if (running_.empty()) return;
  Sequence& sequence = running_[choose_(running_.size())];
  if (sequence.reserved == 0) return;
  grow_by(sequence, 1 + choose_(sequence.reserved));
}

// What is missing of the prompt is computed first, then any tokens.
void CacheTwin::grow_by(Sequence& sequence, std::size_t count) {
  count = std::min<std::size_t>(count, sequence.reserved);
  std::vector<Token> more;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = sequence.tokens.size() + i;
    more.push_back(at < sequence.prompt.size() ? sequence.prompt[at]
                                               : static_cast<Token>(choose_(options_.alphabet)));
  }
  sequence.tokens.insert(sequence.tokens.end(), more.begin(), more.end());
  const std::vector<State> states = states_of(sequence.tokens);
  introduce(sequence.scope, states, states.size() - more.size());
  for (std::size_t i = states.size() - more.size(); i < states.size(); ++i) {
    add_cell(sequence.slot, Cell{next_cell_++, states[i]});
  }
  sequence.reserved -= static_cast<std::uint32_t>(more.size());
  cache_.grow(sequence.slot, more, now_);
}

void CacheTwin::reserve() {
  if (running_.empty()) return;
  Sequence& sequence = running_[choose_(running_.size())];
  const auto ahead = static_cast<std::uint32_t>(choose_(options_.prompt_max / 4));
  const CacheCounts before = cache_.counts();
  const auto plan = cache_.reserve(sequence.slot, ahead, now_);
  if (plan) {
    obey(*plan);
    sequence.reserved = ahead;
    return;
  }
  const bool window = sequence.tokens.size() + ahead > options_.capabilities.slot_cells;
  const std::uint64_t most =
      std::uint64_t{before.cells_active} + before.cells_reserved + before.cells_pinned + ahead;
  check(window || most > options_.capabilities.cells, "refuses a promise with cells to spare");
}

void CacheTwin::release() {
  if (running_.empty()) return;
  const std::size_t pick = choose_(running_.size());
  const Keep keep =
      std::array{Keep::kCells, Keep::kCells, Keep::kParked, Keep::kNothing}[choose_(4)];
  obey(cache_.release(running_[pick].slot, keep, now_));
  if (keep == Keep::kNothing) expect_nothing_of_pins();
  prompts_.push_back(running_[pick].tokens.empty() ? std::vector<Token>{0} : running_[pick].tokens);
  prompts_.back().resize(std::min<std::size_t>(prompts_.back().size(), options_.prompt_max));
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(pick));
}

// What the cache finds is what a search through everything that is held finds.
void CacheTwin::look_up() {
  const std::vector<Token> prompt = make_prompt();
  const ScopeId scope(choose_(options_.scopes));
  const std::vector<State> wanted = states_of(prompt);
  const bool exact = !options_.capabilities.can_cut_tail;
  std::size_t device = 0;
  std::size_t own = 0;  // in slots whose last sequence was of this scope or public
  for (const auto& [slot, held] : slots_) {
    std::vector<State> states;
    for (const Cell& cell : held) states.push_back(cell.state);
    const std::size_t same = common(states, wanted);
    if (exact && same < states.size()) continue;
    device = std::max(device, same);
    if (slot_scopes_[slot] == scope || slot_scopes_[slot] == kPublicScope) {
      own = std::max(own, same);
    }
  }
  std::size_t longest = device;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [id, saved] : blobs_) {
      const std::size_t same = common(saved.states, wanted);
      if (exact && same < saved.states.size()) continue;
      if (size_of(saved.range.begin) > longest || same <= longest) continue;
      longest = same;
      more = true;
    }
  }
  const PrefixMatch match = cache_.match(scope, prompt);
  check(size_of(match.device_tokens) <= device, "finds more than is in cells");
  check(size_of(match.device_tokens) >= own, "finds less than its scope has in cells");
  check(size_of(match.tokens) <= longest, "finds more than there is");
  check(match.tokens >= match.device_tokens, "the parts exceed the whole");
  for (std::int32_t i = 0; i < match.tokens; ++i) {
    const State state = wanted[size_of(i)];
    check(introduced_[0].contains(state) || introduced_[scope.value].contains(state),
          "shows a prefix of another scope");
  }
  if (options_.scopes > 1) return;
  check(size_of(match.device_tokens) == device, "finds less than is in cells");
  if (!adopted_) check(size_of(match.tokens) == longest, "finds less than there is");
}

void CacheTwin::pin() {
  if (!options_.pins) return;
  if (!pinned_.empty() && (choose_(2) == 0 || pinned_.size() > 2)) {
    const std::size_t pick = choose_(pinned_.size());
    cache_.unpin(pinned_[pick].scope, pinned_[pick].tokens);
    pinned_.erase(pinned_.begin() + static_cast<std::ptrdiff_t>(pick));
    return;
  }
  std::vector<Token> prompt = make_prompt();
  prompt.resize(std::min<std::size_t>(prompt.size(), options_.prompt_max / 4));
  const ScopeId scope(choose_(options_.scopes));
  cache_.pin(scope, prompt);
  pinned_.push_back({scope, prompt, 0});
}

void CacheTwin::adopt() {
  const std::vector<Token> prompt = make_prompt();
  const ScopeId scope(choose_(options_.scopes));
  const std::uint64_t bytes = prompt.size() * options_.capabilities.bytes_per_cell;
  const std::optional<BlobId> blob = cache_.adopt(scope, prompt, bytes);
  if (!blob) return;
  adopted_ = true;
  SavedState saved;
  saved.range = {0, static_cast<std::int32_t>(prompt.size())};
  saved.states = states_of(prompt);
  saved.bytes = bytes;
  introduce(scope, saved.states, 0);
  blobs_.emplace(blob->value, saved);
}

void CacheTwin::press() {
  switch (choose_(4)) {
    case 0:
      obey(cache_.park_idle(static_cast<std::uint32_t>(choose_(options_.prompt_max)), now_));
      return;
    case 1: obey(cache_.compress(choose_(1000))); return;
    case 2:
      if (choose_(8) != 0) return;
      obey(cache_.drop_idle());
      expect_nothing_of_pins();
      return;
    default: compact(); return;
  }
}

void CacheTwin::compact() {
  std::optional<TopCell> top;
  if (!slots_.empty()) {
    auto picked = slots_.begin();
    std::advance(picked, static_cast<std::ptrdiff_t>(choose_(slots_.size())));
    const auto held = static_cast<std::int32_t>(picked->second.size());
    if (held > 0) {
      const auto from_end =
          static_cast<std::int32_t>(choose_(std::min<std::size_t>(picked->second.size(), 64)));
      top = TopCell{SlotId(picked->first), held - 1 - from_end};
    }
  }
  const Compaction compaction =
      cache_.compact(static_cast<std::uint32_t>(choose_(options_.prompt_max)), top);
  obey(compaction.plan);
  for (const SlotMove& move : compaction.moves) {
    for (Sequence& sequence : running_) {
      if (sequence.slot == move.from) sequence.slot = move.to;
    }
    slot_scopes_[move.to.value] = slot_scopes_[move.from.value];
  }
  // A slot may have lost its tail when its state could not be saved.
  for (Sequence& sequence : running_) {
    const std::size_t there = cells(sequence.slot).size();
    if (there == sequence.tokens.size()) continue;
    check(options_.surprises, "compaction loses cells");
    sequence.tokens.resize(there);
    sequence.reserved = 0;
  }
  for (auto& [slot, held] : slots_) {
    const SlotId id(slot);
    if (static_cast<std::size_t>(cache_.held(id)) == held.size()) continue;
    check(options_.surprises, "compaction loses cells");
    cache_.correct(id, static_cast<std::int32_t>(held.size()));
  }
}

// A step failed and the state of a sequence is unknown, or bytes cannot be read.
void CacheTwin::fail() {
  if (!options_.surprises) return;
  if (choose_(2) == 0 && !blobs_.empty()) {
    auto picked = blobs_.begin();
    std::advance(picked, static_cast<std::ptrdiff_t>(choose_(blobs_.size())));
    const BlobId blob(picked->first);
    blobs_.erase(picked);
    cache_.lost(blob);
    return;
  }
  if (running_.empty() || !options_.capabilities.can_cut_tail) return;
  Sequence& sequence = running_[choose_(running_.size())];
  const std::size_t left = choose_(sequence.tokens.size() + 1);
  sequence.tokens.resize(left);
  sequence.reserved = 0;
  cut(sequence.slot, left);
  cache_.correct(sequence.slot, static_cast<std::int32_t>(left));
}

}  // namespace zerohop
