// Positions, cuts, copies, and what attention has to look over.

#include <algorithm>
#include <new>

#include "model/llama_context_impl.h"
#include "model/state_layout.h"

namespace zerohop {

PositionRange LlamaContext::positions(SlotId slot) const {
  check_slot(slot);
  if (memory_ == nullptr) return {};
  const llama_pos last = llama_memory_seq_pos_max(memory_, id_of(slot));
  if (last < 0) return {};
  return {llama_memory_seq_pos_min(memory_, id_of(slot)), last + 1};
}

void LlamaContext::drop(SlotId slot) {
  if (memory_ != nullptr) llama_memory_seq_rm(memory_, id_of(slot), -1, -1);
  if (mirrored_) mirror_.cut(slot, 0);
}

void LlamaContext::cut(SlotId slot, std::int32_t from) {
  llama_memory_seq_rm(memory_, id_of(slot), from, -1);
  if (mirrored_) mirror_.cut(slot, from);
}

bool LlamaContext::remove(SlotId slot, PositionRange range) {
  const PositionRange held = positions(slot);
  if (held.empty() || range.empty() || range.begin >= held.end) return true;
  // Where layers differ, some reach back to 0: only a cut at 0 takes everything.
  const bool whole = range.begin <= (starts_late_ ? 0 : held.begin) && range.end >= held.end;
  if (whole) {
    drop(slot);
    return true;
  }
  if (range.end <= held.begin) return !starts_late_;
  if (range.end < held.end || recurrent_) return false;
  if (!window_survives({held.begin, range.begin, window_})) return false;
  cut(slot, range.begin);
  return true;
}

bool LlamaContext::copy(SlotId from, SlotId to, PositionRange range) {
  check_slot(to);
  ZH_CHECK(from != to && positions(to).empty());
  const PositionRange held = positions(from);
  if (held.empty() || range.empty()) return true;
  if (range.end <= held.begin) return false;  // a window has left it behind
  range = {std::max(range.begin, held.begin), std::min(range.end, held.end)};
  ZH_CHECK(range.begin == held.begin);  // or `to` would begin with a hole
  const bool whole = range == held;
  if (!whole && !capabilities_.can_share_range) return false;
  if (!whole && !window_survives({held.begin, range.end, window_})) return false;
  // A window that forgets never takes back a cell that two sequences hold, so nothing is shared.
  if (!capabilities_.pooled || forgets_) return copy_state(from, to);
  llama_memory_seq_cp(memory_, id_of(from), id_of(to), -1, whole ? -1 : range.end);
  if (mirrored_) mirror_.share(from, to, {0, range.end});
  return true;
}

bool LlamaContext::copy_state(SlotId from, SlotId to) try {
  staging_.resize(llama_state_seq_get_size(context_.get(), id_of(from)));
  const std::size_t size =
      llama_state_seq_get_data(context_.get(), staging_.data(), staging_.size(), id_of(from));
  if (size == 0 || size != staging_.size()) return false;
  std::optional<StateLayout> layout;
  if (mirrored_) {
    layout = parse_state(std::as_bytes(std::span(staging_)));
    if (!layout || layout->positions.size() > mirror_.free()) return false;
  }
  if (llama_state_seq_set_data(context_.get(), staging_.data(), size, id_of(to)) != size) {
    drop(to);
    return false;
  }
  if (mirrored_) mirror_.restore(to, layout->positions, {0, positions(to).end});
  return true;
} catch (const std::bad_alloc&) {  // a process that has reached its limit goes on without the copy
  drop(to);
  return false;
}

std::optional<TopCell> LlamaContext::top_cell() const {
  return mirrored_ ? mirror_.top_cell() : std::nullopt;
}

CellScan LlamaContext::scan() const {
  if (!mirrored_) return {};
  const std::uint32_t tiles = (mirror_.top() + kLlamaCellTile - 1) / kLlamaCellTile;
  return {std::min(capabilities_.cells, tiles * kLlamaCellTile), mirror_.used()};
}

}  // namespace zerohop
