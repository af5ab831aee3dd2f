#include "cache/slot_cache.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {
namespace {

SlotId id_of(std::size_t index) { return SlotId(static_cast<std::int32_t>(index)); }

}  // namespace

std::int32_t common_prefix(TokenSpan a, TokenSpan b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::int32_t>(end - a.begin());
}

SlotCache::SlotCache(const KvCapabilities& capabilities)
    : capabilities_(capabilities), slots_(capabilities.slots) {
  ZH_CHECK(capabilities.slots > 0 && capabilities.slot_cells <= capabilities.cells);
}

SlotCache::Slot& SlotCache::at(SlotId id) {
  ZH_CHECK(id.value >= 0 && static_cast<std::size_t>(id.value) < slots_.size());
  return slots_[static_cast<std::size_t>(id.value)];
}

std::uint32_t SlotCache::reserved_cells() const {
  std::uint32_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.reserved;
  return sum;
}

// Only idle slots can give their cells away whole; a running one can be shared from where the
// layout shares ranges. Among equals the lowest slot wins, which keeps running ids dense.
SlotCache::Match SlotCache::longest_match(TokenSpan prompt) const {
  Match best;
  const auto limit = static_cast<std::int32_t>(prompt.size()) - 1;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].running && !capabilities_.can_share_range) continue;
    const std::int32_t length = std::min(common_prefix(slots_[i].tokens, prompt), limit);
    if (length > best.length) best = Match{i, length};
  }
  return best;
}

// The slot that will hold the new sequence. Going on in the matching slot destroys whatever it
// holds behind the match, so that is done only when the match is most of it (the next turn of the
// same conversation). Otherwise an empty slot is better, and then the least recently used one.
std::optional<std::size_t> SlotCache::choose_slot(const Match& match) const {
  if (match.length > 0 && !slots_[match.slot].running) {
    const auto held = static_cast<std::int32_t>(slots_[match.slot].tokens.size());
    if (2 * match.length >= held) return match.slot;
  }
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].running) continue;
    if (slots_[i].tokens.empty()) return i;
    if (!best || slots_[i].last_used < slots_[*best].last_used) best = i;
  }
  // Where ranges cannot be shared, the match is only worth anything in its own slot.
  if (match.length > 0 && !capabilities_.can_share_range) return match.slot;
  return best;
}

std::optional<std::size_t> SlotCache::eviction_victim(std::size_t spared) const {
  std::optional<std::size_t> victim;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i == spared || slots_[i].running || slots_[i].tokens.empty()) continue;
    if (!victim || slots_[i].last_used < slots_[*victim].last_used) victim = i;
  }
  return victim;
}

void SlotCache::truncate(std::size_t index, std::int32_t length, CachePlan& plan) {
  Slot& slot = slots_[index];
  if (static_cast<std::int32_t>(slot.tokens.size()) <= length) return;
  slot.tokens.resize(static_cast<std::size_t>(length));
  plan.push_back(DropTail{id_of(index), length});
}

// Idle slots other than `chosen` are dropped, oldest first, until everything that is promised fits.
void SlotCache::make_room(std::size_t chosen, std::uint32_t cells_needed, CachePlan& plan) {
  if (!capabilities_.pooled) return;
  std::uint64_t wanted = std::uint64_t{reserved_cells()} + cells_needed;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i != chosen && !slots_[i].running) wanted += slots_[i].tokens.size();
  }
  while (wanted > capabilities_.cells) {
    const std::optional<std::size_t> victim = eviction_victim(chosen);
    ZH_CHECK(victim.has_value());
    wanted -= slots_[*victim].tokens.size();
    truncate(*victim, 0, plan);
  }
}

// Brings the matching cells into the chosen slot; returns how many it then holds.
std::int32_t SlotCache::fill_from(const Match& match, std::size_t chosen, CachePlan& plan) {
  if (match.length == 0) {
    truncate(chosen, 0, plan);
    return 0;
  }
  if (match.slot == chosen) {
    truncate(chosen, match.length, plan);
    return match.length;
  }
  if (!capabilities_.can_share_range) {
    truncate(chosen, 0, plan);
    return 0;
  }
  truncate(chosen, 0, plan);
  const std::vector<Token>& source = slots_[match.slot].tokens;
  slots_[chosen].tokens.assign(source.begin(), source.begin() + match.length);
  plan.push_back(ShareHead{id_of(match.slot), id_of(chosen), match.length});
  return match.length;
}

std::optional<Placement> SlotCache::place(TokenSpan prompt, std::uint32_t cells_needed) {
  ZH_CHECK(!prompt.empty() && cells_needed >= prompt.size());
  ZH_CHECK(cells_needed <= capabilities_.slot_cells);
  if (capabilities_.pooled &&
      std::uint64_t{reserved_cells()} + cells_needed > capabilities_.cells) {
    return std::nullopt;
  }
  const Match match = longest_match(prompt);
  const std::optional<std::size_t> chosen = choose_slot(match);
  if (!chosen) return std::nullopt;

  Placement placement;
  placement.slot = id_of(*chosen);
  // Sharing comes first: making room may drop the very slot that the prefix is shared from, and
  // shared cells live on in the new holder.
  placement.tokens_reused = fill_from(match, *chosen, placement.plan);
  make_room(*chosen, cells_needed, placement.plan);
  Slot& slot = slots_[*chosen];
  slot.running = true;
  slot.reserved = cells_needed;
  slot.last_used = ++now_;
  return placement;
}

void SlotCache::correct(SlotId id, std::int32_t held) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running && held <= static_cast<std::int32_t>(slot.tokens.size()));
  slot.tokens.resize(static_cast<std::size_t>(held));
}

void SlotCache::grow(SlotId id, TokenSpan tokens) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running && slot.tokens.size() + tokens.size() <= slot.reserved);
  slot.tokens.insert(slot.tokens.end(), tokens.begin(), tokens.end());
}

CachePlan SlotCache::release(SlotId id, Keep keep) {
  Slot& slot = at(id);
  ZH_CHECK(slot.running);
  slot.running = false;
  slot.reserved = 0;
  slot.last_used = ++now_;
  CachePlan plan;
  if (keep == Keep::kNothing) {
    slot.tokens.clear();
    plan.push_back(DropTail{id, 0});
  }
  return plan;
}

CachePlan SlotCache::drop_idle() {
  CachePlan plan;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].running) truncate(i, 0, plan);
  }
  return plan;
}

std::int32_t SlotCache::held(SlotId id) const {
  ZH_CHECK(id.value >= 0 && static_cast<std::size_t>(id.value) < slots_.size());
  return static_cast<std::int32_t>(slots_[static_cast<std::size_t>(id.value)].tokens.size());
}

CacheCounts SlotCache::counts() const {
  CacheCounts counts;
  counts.cells_total = capabilities_.cells;
  for (const Slot& slot : slots_) {
    if (slot.running) {
      ++counts.slots_running;
      counts.cells_reserved += slot.reserved;
    } else {
      counts.cells_cached += static_cast<std::uint32_t>(slot.tokens.size());
    }
  }
  return counts;
}

void SlotCache::check_integrity() const {
  std::uint64_t promised = 0;
  for (const Slot& slot : slots_) {
    ZH_CHECK(slot.running == (slot.reserved > 0));
    ZH_CHECK(slot.tokens.size() <= capabilities_.slot_cells);
    ZH_CHECK(!slot.running || slot.tokens.size() <= slot.reserved);
    ZH_CHECK(slot.last_used <= now_);
    promised += slot.running ? slot.reserved : slot.tokens.size();
  }
  ZH_CHECK(promised <= capabilities_.cells);
}

}  // namespace zerohop
