#include "model/fake_context.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kEmbeddingWidth = 8;

std::uint64_t extend_hash(std::uint64_t hash, Token token) {
  return mix64(hash ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) + 1));
}

}  // namespace

FakeContext::FakeContext(const FakeModelOptions& model, const TokenTable& table,
                         const ContextOptions& options)
    : model_(model), table_(table), options_(options), threads_(options.threads) {
  const bool pooled = options.layout == KvLayout::kUnified;
  capabilities_.slots = options.sequences;
  capabilities_.slot_cells = options.window;
  capabilities_.cells =
      pooled && options.cells != 0 ? options.cells : options.sequences * options.window;
  capabilities_.pooled = pooled;
  capabilities_.can_share_range = pooled;
  capabilities_.can_cut_tail = true;
  capabilities_.dense_slots_matter = !pooled;
  slots_.resize(options.sequences);
}

FakeContext::Slot& FakeContext::slot_of(SlotId id) {
  ZH_CHECK(id.value >= 0 && static_cast<std::size_t>(id.value) < slots_.size());
  return slots_[static_cast<std::size_t>(id.value)];
}

const FakeContext::Slot& FakeContext::slot_of(SlotId id) const {
  ZH_CHECK(id.value >= 0 && static_cast<std::size_t>(id.value) < slots_.size());
  return slots_[static_cast<std::size_t>(id.value)];
}

// What libllama answers with an assertion or with wrong text.
void FakeContext::check_rows(std::span<const BatchRow> rows) const {
  ZH_CHECK(!rows.empty() && rows.size() <= options_.batch_rows);
  std::vector<std::int32_t> next(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    next[i] = static_cast<std::int32_t>(slots_[i].size());
  }
  std::size_t wanted = 0;
  for (const BatchRow& row : rows) {
    ZH_CHECK(table_.contains(row.token));
    slot_of(row.slot);
    std::int32_t& position = next[static_cast<std::size_t>(row.slot.value)];
    ZH_CHECK(row.position == position);
    ++position;
    ZH_CHECK(static_cast<std::uint32_t>(position) <= capabilities_.slot_cells);
    if (row.wants_logits) ++wanted;
  }
  ZH_CHECK(wanted <= options_.logit_rows);
}

bool FakeContext::has_room(std::span<const BatchRow> rows) const {
  return cells_used_ + rows.size() <= capabilities_.cells;
}

FakeContext::CellIndex FakeContext::take_cell(Token token, std::uint64_t prefix_hash) {
  CellIndex index = 0;
  if (free_.empty()) {
    index = static_cast<CellIndex>(cells_.size());
    cells_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  ZH_CHECK(cells_[index].holders == 0);
  cells_[index] = Cell{token, prefix_hash, 1};
  ++cells_used_;
  ZH_CHECK(cells_used_ <= capabilities_.cells);
  return index;
}

void FakeContext::drop_cell(CellIndex index) {
  Cell& cell = cells_[index];
  ZH_CHECK(cell.holders > 0);
  if (--cell.holders == 0) {
    free_.push_back(index);
    --cells_used_;
  }
}

void FakeContext::append(Slot& slot, Token token) {
  const std::uint64_t before = slot.empty() ? model_.seed : cells_[slot.back()].prefix_hash;
  slot.push_back(take_cell(token, extend_hash(before, token)));
}

std::vector<Token> FakeContext::tokens_of(const Slot& slot) const {
  std::vector<Token> tokens;
  tokens.reserve(slot.size());
  for (const CellIndex index : slot) tokens.push_back(cells_[index].token);
  return tokens;
}

bool FakeContext::spend(Duration cost) {
  if (model_.clock != nullptr) model_.clock->advance(cost);
  return !(abort_ && abort_());
}

// After a fatal return nothing is known about the batch's sequences: half of the rows may be there,
// and what was there may be wrong.
void FakeContext::leave_damage(std::span<const BatchRow> rows) {
  if (!has_room(rows)) return;
  for (const BatchRow& row : rows.first(rows.size() / 2)) append(slot_of(row.slot), row.token);
  for (const BatchRow& row : rows) {
    for (const CellIndex index : slot_of(row.slot)) {
      if (cells_[index].holders == 1) cells_[index].prefix_hash = 0;
    }
  }
}

DecodeStatus FakeContext::decode(std::span<const BatchRow> rows) {
  check_rows(rows);
  outputs_.assign(rows.size(), {});
  hidden_.assign(rows.size(), {});
  if (model_.fault) {
    const DecodeStatus injected = model_.fault(rows);
    if (injected == DecodeStatus::kFatal) leave_damage(rows);
    if (injected != DecodeStatus::kOk) return injected;
  }
  if (!has_room(rows)) return DecodeStatus::kNoRoom;
  if (!spend(model_.cost.base)) return DecodeStatus::kAborted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Slot& slot = slot_of(rows[i].slot);
    // Aborted here, the rows before keep their cells: exactly what the library does.
    const auto cells_read = static_cast<std::int64_t>(slot.size());
    if (!spend(model_.cost.per_row + cells_read * model_.cost.per_cell)) {
      return DecodeStatus::kAborted;
    }
    append(slot, rows[i].token);
    if (rows[i].wants_logits) fill_logits(i, slot);
    if (options_.embeddings) {
      const std::uint64_t hash = cells_[slot.back()].prefix_hash;
      for (std::uint32_t d = 0; d < kEmbeddingWidth; ++d) {
        hidden_[i].push_back(static_cast<float>(mix64(hash + d) >> 40) * 0x1.0p-24f);
      }
    }
  }
  return DecodeStatus::kOk;
}

// A likeliest token at 8, seven rivals between 4 and 7, all others near 0.
void FakeContext::fill_logits(std::size_t row, const Slot& slot) {
  std::vector<float>& out = outputs_[row];
  const std::uint64_t hash = cells_[slot.back()].prefix_hash;
  const std::size_t vocabulary = table_.size();
  out.resize(vocabulary);
  for (std::size_t token = 0; token < vocabulary; ++token) {
    out[token] = static_cast<float>(mix64(hash + token) >> 40) * 0x1.0p-24f;
  }
  Random random(hash);
  for (int rival = 0; rival < 7; ++rival) {
    out[random.below(vocabulary)] = 4.0f + 3.0f * static_cast<float>(random.uniform());
  }
  std::optional<Token> next;
  if (model_.script) next = model_.script(tokens_of(slot));
  const float logit = next ? model_.script_logit : 8.0f;
  if (!next && random.chance(model_.end_of_turn_chance)) next = FakeTokens::kEnd;
  // Printable ASCII, so that failing tests can be read.
  if (!next) next = static_cast<Token>(32 + random.below(95));
  // Rivals must not end a turn by accident in a scripted answer.
  out[FakeTokens::kBegin] = out[FakeTokens::kEnd] = out[FakeTokens::kEndOfText] = -10.0f;
  out[static_cast<std::size_t>(*next)] = logit;
}

std::span<float> FakeContext::logits(std::size_t row) {
  ZH_CHECK(row < outputs_.size() && !outputs_[row].empty());
  return outputs_[row];
}

std::span<const float> FakeContext::embedding(std::size_t row) {
  ZH_CHECK(options_.embeddings && row < hidden_.size() && !hidden_[row].empty());
  return hidden_[row];
}

bool FakeContext::remove(SlotId id, PositionRange range) {
  Slot& slot = slot_of(id);
  const auto held = static_cast<std::int32_t>(slot.size());
  const std::int32_t begin = std::clamp(range.begin, 0, held);
  const std::int32_t end = std::clamp(range.end, begin, held);
  ZH_CHECK(end == held || begin == end);  // a hole in the middle is never what the engine wants
  for (std::int32_t position = begin; position < end; ++position) {
    drop_cell(slot[static_cast<std::size_t>(position)]);
  }
  slot.resize(static_cast<std::size_t>(begin == end ? held : begin));
  return true;
}

bool FakeContext::copy(SlotId from_id, SlotId to_id, PositionRange range) {
  const Slot from = slot_of(from_id);
  Slot& to = slot_of(to_id);
  ZH_CHECK(from_id != to_id && to.empty() && range.begin == 0);
  ZH_CHECK(static_cast<std::size_t>(range.end) <= from.size());
  if (!capabilities_.can_share_range && static_cast<std::size_t>(range.end) != from.size()) {
    return false;
  }
  for (std::int32_t position = 0; position < range.end; ++position) {
    const CellIndex index = from[static_cast<std::size_t>(position)];
    if (capabilities_.can_share_range) {
      ++cells_[index].holders;
      to.push_back(index);
    } else {
      append(to, cells_[index].token);
    }
  }
  return true;
}

PositionRange FakeContext::positions(SlotId slot) const {
  return {0, static_cast<std::int32_t>(slot_of(slot).size())};
}

Result<std::vector<std::byte>> FakeContext::save(SlotId slot) const {
  const std::vector<Token> tokens = tokens_of(slot_of(slot));
  std::vector<std::byte> state(tokens.size() * sizeof(Token));
  if (!state.empty()) std::memcpy(state.data(), tokens.data(), state.size());
  return state;
}

Result<void> FakeContext::restore(SlotId id, std::span<const std::byte> state) {
  const std::size_t count = state.size() / sizeof(Token);
  Slot& slot = slot_of(id);
  remove(id, {0, static_cast<std::int32_t>(slot.size())});
  if (state.size() % sizeof(Token) != 0 || count > capabilities_.slot_cells ||
      cells_used_ + count > capabilities_.cells) {
    return Error{ErrorCode::kInternal, "saved state does not fit this context", "", {}};
  }
  std::vector<Token> tokens(count);
  if (count != 0) std::memcpy(tokens.data(), state.data(), state.size());
  for (const Token token : tokens) append(slot, token);
  return {};
}

}  // namespace zerohop
