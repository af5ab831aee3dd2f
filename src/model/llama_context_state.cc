// Saving and restoring sequences and ranges of them.

#include <algorithm>
#include <new>
#include <numeric>

#include "model/llama_backend.h"
#include "model/llama_context_impl.h"
#include "model/saved_state.h"
#include "model/state_codec.h"
#include "model/state_layout.h"

namespace zerohop {
namespace {

Error refusal(const char* message) { return Error{ErrorCode::kInternal, message, {}, {}}; }

Error does_not_fit() { return refusal("a saved sequence does not fit this context"); }

const std::uint8_t* library_bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace

Result<std::vector<std::byte>> LlamaContext::save(SlotId slot) const {
  const PositionRange held = positions(slot);
  const llama_seq_id id = id_of(slot);
  if (!plan_.spare || id < *plan_.spare) return write_state(id, {0, held.end});
  llama_memory_seq_cp(memory_, id, *plan_.spare, -1, -1);
  auto state = write_state(*plan_.spare, {0, held.end});
  llama_memory_seq_rm(memory_, *plan_.spare, -1, -1);
  return state;
}

Result<std::vector<std::byte>> LlamaContext::save_range(SlotId slot, PositionRange range) try {
  const PositionRange held = positions(slot);
  ZH_CHECK(range.begin >= 0 && range.begin <= range.end && range.end <= held.end);
  if (range.begin == 0 && range.end == held.end) return save(slot);
  ZH_CHECK(capabilities_.can_save_range);
  if (range.empty()) return write_state(*plan_.spare, range);
  llama_memory_seq_cp(memory_, id_of(slot), *plan_.spare, range.begin, range.end);
  auto state = write_state(*plan_.spare, range);
  llama_memory_seq_rm(memory_, *plan_.spare, -1, -1);
  return state;
} catch (const std::bad_alloc&) {
  // A copy is a convenience: a process that has reached its limit goes on without. The spare holds
  // nothing between calls, so emptying it is right wherever memory ran out.
  if (plan_.spare) llama_memory_seq_rm(memory_, *plan_.spare, -1, -1);
  return refusal("there is no memory for a copy of a sequence");
}

// The whole of sequence `id`, which holds `positions`.
Result<std::vector<std::byte>> LlamaContext::write_state(llama_seq_id id,
                                                         PositionRange positions) const {
  const std::size_t size = positions.empty() ? 0 : llama_state_seq_get_size(context_.get(), id);
  std::vector<std::byte> state = make_state(size);
  if (!positions.empty()) {
    auto* bytes = reinterpret_cast<std::uint8_t*>(state_payload(state).data());
    if (size == 0 || llama_state_seq_get_data(context_.get(), bytes, size, id) != size) {
      return refusal("the model library could not save a sequence");
    }
  }
  seal_state(state, {StateForm::kPlain, fingerprint_, positions});
  return state;
}

std::vector<std::byte> LlamaContext::compress(std::span<const std::byte> state) const try {
  const std::optional<OpenedState> opened = open_state(state, fingerprint_);
  if (!opened || opened->form != StateForm::kPlain) return {};
  const std::vector<std::byte> smaller = compress_state(opened->payload);
  if (smaller.empty()) return {};
  std::vector<std::byte> compressed = make_state(smaller.size());
  std::ranges::copy(smaller, state_payload(compressed).begin());
  seal_state(compressed, {StateForm::kCompressed, fingerprint_, opened->positions});
  return compressed;
} catch (const std::bad_alloc&) {
  return {};
}

// Nothing when the bytes must not reach the library, or when there is no memory to unpack them.
std::optional<LlamaContext::Incoming> LlamaContext::examine(std::span<const std::byte> state) const
    try {
  const std::optional<OpenedState> opened = open_state(state, fingerprint_);
  if (!opened) return std::nullopt;
  Incoming incoming;
  incoming.positions = opened->positions;
  incoming.payload = opened->payload;
  if (opened->form == StateForm::kCompressed) {
    std::optional<std::vector<std::byte>> unpacked = decompress_state(opened->payload);
    if (!unpacked) return std::nullopt;
    incoming.unpacked = std::move(*unpacked);
    incoming.payload = incoming.unpacked;
  }
  if (incoming.positions.empty()) {
    return incoming.payload.empty() ? std::optional(std::move(incoming)) : std::nullopt;
  }
  if (memory_ == nullptr) return std::nullopt;
  if (recurrent_) return incoming;  // its cells are not tokens
  std::optional<StateLayout> layout = parse_state(incoming.payload);
  if (!layout || !holds_exactly(*layout, incoming.positions)) return std::nullopt;
  incoming.cells = std::move(layout->positions);
  return incoming;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

Result<void> LlamaContext::restore(SlotId slot, std::span<const std::byte> state) {
  check_slot(slot);
  const std::optional<Incoming> incoming = examine(state);
  if (!incoming || incoming->positions.begin != 0) return does_not_fit();
  drop(slot);
  return restore_head(slot, incoming->positions.end, *incoming);
}

Result<void> LlamaContext::restore_range(SlotId slot, PositionRange range,
                                         std::span<const std::byte> state) {
  const std::int32_t held = positions(slot).end;
  ZH_CHECK(range.begin >= 0 && range.begin == held && range.begin <= range.end);
  ZH_CHECK(range.begin == 0 || capabilities_.can_save_range);
  const std::optional<Incoming> incoming = examine(state);
  if (!incoming || incoming->positions.begin > range.begin || incoming->positions.end < range.end) {
    return does_not_fit();
  }
  if (range.empty()) return {};
  if (range.begin == 0) return restore_head(slot, range.end, *incoming);
  return restore_tail(slot, range, *incoming);
}

Result<void> LlamaContext::fill(SlotId slot, std::int32_t cells) {
  ZH_CHECK(positions(slot).empty() && cells > 0 &&
           static_cast<std::uint32_t>(cells) <= capabilities_.slot_cells);
  if (memory_ == nullptr || recurrent_) return refusal("this model keeps no cell for each token");
  if (one_cell_.empty()) {
    const BatchRow row{0, 0, slot, false};
    if (decode({&row, 1}) != DecodeStatus::kOk) return refusal("no room for a token");
    auto saved = save(slot);
    drop(slot);
    if (!saved.ok()) return saved.error();
    one_cell_ = std::move(saved).value();
  }
  const std::optional<OpenedState> one = open_state(one_cell_, fingerprint_);
  const auto count = static_cast<std::uint32_t>(cells);
  const std::uint32_t in_window = forgets_ ? static_cast<std::uint32_t>(window_) : count;
  Incoming incoming;
  incoming.unpacked = stretch_state(one->payload, {count, in_window});
  if (incoming.unpacked.empty()) return refusal("this model's states cannot be stretched");
  incoming.payload = incoming.unpacked;
  incoming.positions = {0, cells};
  incoming.cells.resize(count);
  std::iota(incoming.cells.begin(), incoming.cells.end(), 0);
  return restore_head(slot, cells, incoming);
}

// Into the empty slot, straight; what is behind `end` is cut off again.
Result<void> LlamaContext::restore_head(SlotId slot, std::int32_t end, const Incoming& state) {
  if (end == 0) return {};
  if (mirrored_ && state.cells.size() > mirror_.free()) {
    return refusal("no room for a saved sequence");
  }
  const LlamaErrorCapture capture;  // a full window is no fault
  const std::size_t size = llama_state_seq_set_data(context_.get(), library_bytes(state.payload),
                                                    state.payload.size(), id_of(slot));
  if (size != state.payload.size() || positions(slot).end != state.positions.end) {
    drop(slot);
    return does_not_fit();
  }
  if (mirrored_) mirror_.restore(slot, state.cells, {0, state.positions.end});
  if (end < state.positions.end && !remove(slot, {end, state.positions.end})) {
    drop(slot);
    return refusal("a saved sequence cannot be cut there");
  }
  return {};
}

// Through the spare id, behind what the slot holds.
Result<void> LlamaContext::restore_tail(SlotId slot, PositionRange range, const Incoming& state) {
  if (state.cells.size() > mirror_.free()) return refusal("no room for a saved sequence");
  const LlamaErrorCapture capture;
  const llama_seq_id spare = *plan_.spare;
  const std::size_t size = llama_state_seq_set_data(context_.get(), library_bytes(state.payload),
                                                    state.payload.size(), spare);
  const bool complete = size == state.payload.size();
  if (complete) llama_memory_seq_cp(memory_, spare, id_of(slot), range.begin, range.end);
  llama_memory_seq_rm(memory_, spare, -1, -1);
  if (!complete) return does_not_fit();
  mirror_.restore(slot, state.cells, range);
  return {};
}

}  // namespace zerohop
