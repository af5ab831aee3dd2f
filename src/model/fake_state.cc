// Saved states of the fake model. Behind the envelope (saved_state.h):
//
//   u64 prefix hash in front of the first cell | cells
//   plain cell (16 bytes):      i32 token, u32 0, u64 prefix hash
//   compressed cell (8 bytes):  i32 token, the lower half of its prefix hash
//
// The hashes of compressed cells follow from the first one, so nothing is lost; cells whose hashes
// do not follow from each other (damaged by a fatal decode, or restored at a wrong place) cannot be
// compressed.

#include <cstring>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "model/fake_context.h"
#include "model/saved_state.h"

namespace zerohop {
namespace {

struct PlainCell {
  Token token = 0;
  std::uint32_t zero = 0;
  std::uint64_t prefix_hash = 0;
};
static_assert(sizeof(PlainCell) == kFakeCellBytes);

struct SmallCell {
  Token token = 0;
  std::uint32_t hash_half = 0;
};

Error refusal(const char* message) { return Error{ErrorCode::kInternal, message, "", {}}; }

template <class Item>
void put(std::vector<std::byte>& state, std::size_t at, const Item& item) {
  std::memcpy(state_payload(state).data() + at, &item, sizeof item);
}

template <class Item>
Item get(std::span<const std::byte> payload, std::size_t at) {
  Item item;
  std::memcpy(&item, payload.data() + at, sizeof item);
  return item;
}

}  // namespace

std::vector<std::byte> FakeContext::pack(SlotId slot, PositionRange range) const {
  const auto count = static_cast<std::size_t>(range.size());
  std::vector<std::byte> state = make_state(sizeof(std::uint64_t) + count * sizeof(PlainCell));
  put(state, 0, hash_before(slot, range.begin));
  std::size_t at = sizeof(std::uint64_t);
  for (std::int32_t position = range.begin; position < range.end; ++position) {
    const Cell& cell = cell_at(slot, position);
    put(state, at, PlainCell{cell.token, 0, cell.prefix_hash});
    at += sizeof(PlainCell);
  }
  seal_state(state, {StateForm::kPlain, fingerprint_, range});
  return state;
}

std::optional<FakeContext::SavedCells> FakeContext::unpack(std::span<const std::byte> state) const {
  const std::optional<OpenedState> opened = open_state(state, fingerprint_);
  if (!opened) return std::nullopt;
  const bool plain = opened->form == StateForm::kPlain;
  const std::size_t cell_bytes = plain ? sizeof(PlainCell) : sizeof(SmallCell);
  const auto count = static_cast<std::size_t>(opened->positions.size());
  std::size_t at = sizeof(std::uint64_t);
  if (opened->payload.size() != at + count * cell_bytes) return std::nullopt;
  SavedCells saved{opened->positions, get<std::uint64_t>(opened->payload, 0), {}, plain};
  saved.cells.reserve(count);
  std::uint64_t hash = saved.before;
  for (std::size_t i = 0; i < count; ++i, at += cell_bytes) {
    if (plain) {
      const auto cell = get<PlainCell>(opened->payload, at);
      saved.cells.push_back({cell.token, cell.prefix_hash});
      continue;
    }
    const auto cell = get<SmallCell>(opened->payload, at);
    hash = fake_prefix_hash(hash, cell.token);
    if (cell.hash_half != static_cast<std::uint32_t>(hash)) return std::nullopt;
    saved.cells.push_back({cell.token, hash});
  }
  return saved;
}

Result<std::vector<std::byte>> FakeContext::save(SlotId slot) const {
  const PositionRange range = positions(slot);
  if (state_fails({FakeStateCallKind::kSave, slot, range})) return refusal("saving failed");
  spend_on_state(range.size());
  return pack(slot, range);
}

Result<std::vector<std::byte>> FakeContext::save_range(SlotId slot, PositionRange range) {
  ZH_CHECK(range.begin >= 0 && range.begin <= range.end && range.end <= held(slot));
  ZH_CHECK(capabilities_.can_save_range || range == positions(slot));
  if (state_fails({FakeStateCallKind::kSave, slot, range})) return refusal("saving failed");
  spend_on_state(range.size());
  return pack(slot, range);
}

Result<void> FakeContext::restore(SlotId slot, std::span<const std::byte> state) {
  pool_.cut(slot, 0);
  const std::optional<SavedCells> saved = unpack(state);
  if (!saved || saved->positions.begin != 0) {
    return refusal("saved state does not fit this context");
  }
  if (state_fails({FakeStateCallKind::kRestore, slot, saved->positions})) {
    return refusal("restoring failed");
  }
  return place(slot, saved->positions, *saved);
}

Result<void> FakeContext::restore_range(SlotId slot, PositionRange range,
                                        std::span<const std::byte> state) {
  ZH_CHECK(range.begin >= 0 && range.begin == held(slot) && range.begin <= range.end);
  ZH_CHECK(capabilities_.can_save_range || range.begin == 0);
  const std::optional<SavedCells> saved = unpack(state);
  if (!saved) return refusal("saved state does not fit this context");
  ZH_CHECK(saved->positions.begin <= range.begin && range.end <= saved->positions.end);
  ZH_CHECK(capabilities_.can_cut_tail || range == saved->positions);
  if (state_fails({FakeStateCallKind::kRestore, slot, range})) return refusal("restoring failed");
  return place(slot, range, *saved);
}

// The cells of `range`, behind what the slot holds. For a moment all saved cells need room.
Result<void> FakeContext::place(SlotId slot, PositionRange range, const SavedCells& saved) {
  if (static_cast<std::uint32_t>(range.end) > capabilities_.slot_cells ||
      saved.cells.size() > pool_.free()) {
    return refusal("no room for a saved state");
  }
  spend_on_state(static_cast<std::int32_t>(saved.cells.size()));
  const std::int32_t first = saved.positions.begin;
  const auto saved_at = [&saved, first](std::int32_t position) {
    return saved.cells[static_cast<std::size_t>(position - first)];
  };
  const std::uint64_t expected =
      range.begin == first ? saved.before : saved_at(range.begin - 1).prefix_hash;
  const std::uint64_t actual = hash_before(slot, range.begin);
  std::vector<std::int32_t> positions(saved.cells.size());
  std::iota(positions.begin(), positions.end(), first);
  ZH_CHECK(pool_.restore(slot, positions, range));
  for (std::int32_t position = range.begin; position < range.end; ++position) {
    Cell cell = saved_at(position);
    // Attention would read keys that were made behind another prefix.
    if (expected != actual) cell.prefix_hash = mix64(cell.prefix_hash ^ actual);
    cell_at(slot, position) = cell;
  }
  return {};
}

Result<void> FakeContext::fill(SlotId slot, std::int32_t cells) {
  ZH_CHECK(held(slot) == 0 && cells > 0);
  ZH_CHECK(static_cast<std::uint32_t>(cells) <= capabilities_.slot_cells);
  if (!has_room(slot, static_cast<std::size_t>(cells))) return refusal("no room to fill");
  for (std::int32_t i = 0; i < cells; ++i) compute(slot, 0);
  return {};
}

std::vector<std::byte> FakeContext::compress(std::span<const std::byte> state) const {
  const std::optional<SavedCells> saved = unpack(state);
  if (!saved || !saved->plain || saved->cells.empty()) return {};
  std::vector<std::byte> smaller =
      make_state(sizeof(std::uint64_t) + saved->cells.size() * sizeof(SmallCell));
  put(smaller, 0, saved->before);
  std::uint64_t hash = saved->before;
  std::size_t at = sizeof(std::uint64_t);
  for (const Cell& cell : saved->cells) {
    hash = fake_prefix_hash(hash, cell.token);
    if (cell.prefix_hash != hash) return {};
    put(smaller, at, SmallCell{cell.token, static_cast<std::uint32_t>(hash)});
    at += sizeof(SmallCell);
  }
  seal_state(smaller, {StateForm::kCompressed, fingerprint_, saved->positions});
  return smaller;
}

}  // namespace zerohop
