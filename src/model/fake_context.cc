#include "model/fake_context.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kEmbeddingWidth = 8;

}  // namespace

std::uint64_t fake_prefix_hash(std::uint64_t before, Token token) {
  return mix64(before ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) + 1));
}

FakeContext::FakeContext(const FakeModelOptions& model, const TokenTable& table,
                         const ContextOptions& options)
    : model_(model), table_(table), options_(options), threads_(options.threads) {
  const bool pooled = options.layout == KvLayout::kUnified;
  capabilities_.slots = options.sequences + (pooled ? options.parked : 0);
  capabilities_.sequences = options.sequences;
  capabilities_.slot_cells = options.window;
  capabilities_.cells =
      pooled && options.cells != 0 ? options.cells : options.sequences * options.window;
  capabilities_.pooled = pooled;
  capabilities_.can_cut_tail = model.can_cut_tail;
  capabilities_.can_share_range = pooled && model.can_cut_tail;
  capabilities_.can_save_range = pooled && model.can_cut_tail;
  capabilities_.bytes_per_cell = kFakeCellBytes;
  capabilities_.dense_slots_matter = !pooled;
  fingerprint_ = mix64(model.seed ^ mix64(pooled ? 1 : options.sequences));
  pool_ = CellMirror(capabilities_.cells, capabilities_.slots);
  cells_.resize(capabilities_.cells);
  expected_.resize(capabilities_.slots);
  expected_in_.resize(capabilities_.slots);
}

FakeContext::Cell& FakeContext::cell_at(SlotId slot, std::int32_t position) {
  return cells_[pool_.held(slot)[static_cast<std::size_t>(position)]];
}

const FakeContext::Cell& FakeContext::cell_at(SlotId slot, std::int32_t position) const {
  return cells_[pool_.held(slot)[static_cast<std::size_t>(position)]];
}

std::uint64_t FakeContext::hash_before(SlotId slot, std::int32_t position) const {
  return position == 0 ? model_.seed : cell_at(slot, position - 1).prefix_hash;
}

// What libllama answers with an assertion or with wrong text.
void FakeContext::check_rows(std::span<const BatchRow> rows) {
  ZH_CHECK(!rows.empty() && rows.size() <= options_.batch_rows);
  ++decodes_;
  std::size_t wanted = 0;
  std::uint32_t slots = 0;
  for (const BatchRow& row : rows) {
    ZH_CHECK(table_.contains(row.token));
    const std::int32_t length = held(row.slot);  // checks the slot
    const auto index = static_cast<std::size_t>(row.slot.value);
    if (expected_in_[index] != decodes_) {
      expected_in_[index] = decodes_;
      expected_[index] = length;
      ++slots;
    }
    ZH_CHECK(row.position == expected_[index]);
    ++expected_[index];
    ZH_CHECK(static_cast<std::uint32_t>(expected_[index]) <= capabilities_.slot_cells);
    if (row.wants_logits) ++wanted;
  }
  ZH_CHECK(wanted <= options_.logit_rows);
  ZH_CHECK(slots <= capabilities_.sequences);
}

bool FakeContext::has_room(SlotId slot, std::size_t cells) const {
  return cells <= pool_.free() &&
         cells + static_cast<std::size_t>(held(slot)) <= capabilities_.slot_cells;
}

void FakeContext::append(SlotId slot, const Cell& cell) {
  ZH_CHECK(pool_.append(slot));
  cell_at(slot, held(slot) - 1) = cell;
}

void FakeContext::compute(SlotId slot, Token token) {
  append(slot, {token, fake_prefix_hash(hash_before(slot, held(slot)), token)});
}

std::vector<Token> FakeContext::tokens_of(SlotId slot) const {
  std::vector<Token> tokens;
  tokens.reserve(pool_.held(slot).size());
  for (const CellMirror::Cell index : pool_.held(slot)) tokens.push_back(cells_[index].token);
  return tokens;
}

bool FakeContext::spend(Duration cost) {
  if (model_.cost.slowness) cost = from_seconds(to_seconds(cost) * model_.cost.slowness(threads_));
  if (model_.clock != nullptr) model_.clock->advance(cost);
  return !(abort_ && abort_());
}

void FakeContext::spend_on_state(std::int32_t cells) const {
  if (model_.clock != nullptr) model_.clock->advance(cells * model_.cost.per_state_cell);
}

// After a fatal return nothing is known about the batch's sequences: half of the rows may be there,
// and what was there may be wrong.
void FakeContext::leave_damage(std::span<const BatchRow> rows) {
  if (rows.size() > pool_.free()) return;
  for (const BatchRow& row : rows.first(rows.size() / 2)) compute(row.slot, row.token);
  for (const BatchRow& row : rows) {
    for (const CellMirror::Cell index : pool_.held(row.slot)) {
      if (pool_.holders(index) == 1) cells_[index].prefix_hash = 0;
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
  if (rows.size() > pool_.free()) return DecodeStatus::kNoRoom;
  if (!spend(model_.cost.base)) return DecodeStatus::kAborted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BatchRow& row = rows[i];
    // Aborted here, the rows before keep their cells: exactly what the library does.
    const auto cells_read = static_cast<std::int64_t>(held(row.slot));
    if (!spend(model_.cost.per_row + cells_read * model_.cost.per_cell)) {
      return DecodeStatus::kAborted;
    }
    compute(row.slot, row.token);
    if (row.wants_logits) {
      fill_logits(i, row.slot);
      if (model_.not_finite && model_.not_finite(row)) {
        std::ranges::fill(outputs_[i], std::numeric_limits<float>::quiet_NaN());
      }
    }
    if (options_.embeddings) fill_hidden(i, row.slot);
  }
  return DecodeStatus::kOk;
}

void FakeContext::fill_hidden(std::size_t row, SlotId slot) {
  const std::uint64_t hash = hash_before(slot, held(slot));
  for (std::uint32_t d = 0; d < kEmbeddingWidth; ++d) {
    hidden_[row].push_back(static_cast<float>(mix64(hash + d) >> 40) * 0x1.0p-24f);
  }
}

// A likeliest token at 8, seven rivals between 4 and 7, all others near 0.
void FakeContext::fill_logits(std::size_t row, SlotId slot) {
  std::vector<float>& out = outputs_[row];
  const std::uint64_t hash = hash_before(slot, held(slot));
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

bool FakeContext::remove(SlotId slot, PositionRange range) {
  const std::int32_t length = held(slot);
  const std::int32_t begin = std::clamp(range.begin, 0, length);
  const std::int32_t end = std::clamp(range.end, begin, length);
  ZH_CHECK(end == length || begin == end);  // a hole in the middle is never what the engine wants
  if (begin == end) return true;
  if (begin > 0 && !capabilities_.can_cut_tail) return false;
  pool_.cut(slot, begin);
  return true;
}

bool FakeContext::copy(SlotId from, SlotId to, PositionRange range) {
  ZH_CHECK(from != to && held(to) == 0 && range.begin == 0);
  ZH_CHECK(range.end >= 0 && range.end <= held(from));
  if (capabilities_.can_share_range) {
    pool_.share(from, to, range);
    return true;
  }
  if (range.end != held(from)) return false;
  if (!has_room(to, static_cast<std::size_t>(range.end))) return false;
  spend_on_state(range.end);
  for (std::int32_t position = 0; position < range.end; ++position) {
    const Cell cell = cell_at(from, position);
    append(to, cell);
  }
  return true;
}

PositionRange FakeContext::positions(SlotId slot) const { return {0, held(slot)}; }

CellScan FakeContext::scan() const {
  if (!capabilities_.pooled) return {};
  const std::uint32_t tiles = (pool_.top() + model_.scan_tile - 1) / model_.scan_tile;
  return {std::min(capabilities_.cells, tiles * model_.scan_tile), pool_.used()};
}

}  // namespace zerohop
