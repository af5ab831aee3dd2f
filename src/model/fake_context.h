// The KV cells, the decode call and the saved states of the fake model (fake_model.h).
// fake_context.cc has cells and decode, fake_state.cc the saved states. Slots may be many: nothing
// here looks at all of them in a decode.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/cell_mirror.h"
#include "model/fake_model.h"

namespace zerohop {

/// Of a cell in a saved state.
inline constexpr std::uint64_t kFakeCellBytes = 16;

/// The prefix hash of a cell that holds `token` behind a cell with the prefix hash `before`.
std::uint64_t fake_prefix_hash(std::uint64_t before, Token token);

class FakeContext final : public ModelContext {
 public:
  FakeContext(const FakeModelOptions& model, const TokenTable& table,
              const ContextOptions& options);

  const KvCapabilities& capabilities() const override { return capabilities_; }
  DecodeStatus decode(std::span<const BatchRow> rows) override;
  std::span<float> logits(std::size_t row) override;
  std::span<const float> embedding(std::size_t row) override;
  bool remove(SlotId slot, PositionRange range) override;
  bool copy(SlotId from, SlotId to, PositionRange range) override;
  PositionRange positions(SlotId slot) const override;
  Result<std::vector<std::byte>> save(SlotId slot) const override;
  Result<void> restore(SlotId slot, std::span<const std::byte> state) override;
  Result<std::vector<std::byte>> save_range(SlotId slot, PositionRange range) override;
  Result<void> restore_range(SlotId slot, PositionRange range,
                             std::span<const std::byte> state) override;
  std::vector<std::byte> compress(std::span<const std::byte> state) const override;
  std::uint64_t state_fingerprint() const override { return fingerprint_; }
  Result<void> fill(SlotId slot, std::int32_t cells) override;
  CellScan scan() const override;
  std::optional<TopCell> top_cell() const override {
    return capabilities_.pooled ? pool_.top_cell() : std::nullopt;
  }
  void set_threads(std::uint32_t threads) override { threads_ = threads; }
  std::uint32_t threads() const override { return threads_; }
  void set_abort(AbortPredicate predicate) override { abort_ = std::move(predicate); }

 private:
  // One computed token. Its hash covers every token before it, so a cell found at the wrong place
  // cannot pass for the right one.
  struct Cell {
    Token token = 0;
    std::uint64_t prefix_hash = 0;
  };
  struct SavedCells {
    PositionRange positions;
    std::uint64_t before = 0;  // prefix hash in front of the first cell
    std::vector<Cell> cells;
    bool plain = true;  // not compressed
  };

  std::int32_t held(SlotId slot) const { return pool_.length(slot); }
  Cell& cell_at(SlotId slot, std::int32_t position);
  const Cell& cell_at(SlotId slot, std::int32_t position) const;
  std::uint64_t hash_before(SlotId slot, std::int32_t position) const;
  void check_rows(std::span<const BatchRow> rows);
  bool has_room(SlotId slot, std::size_t cells) const;
  void append(SlotId slot, const Cell& cell);
  void compute(SlotId slot, Token token);
  std::vector<Token> tokens_of(SlotId slot) const;
  void fill_logits(std::size_t row, SlotId slot);
  void fill_hidden(std::size_t row, SlotId slot);
  void leave_damage(std::span<const BatchRow> rows);
  bool spend(Duration cost);
  void spend_on_state(std::int32_t cells) const;
  bool state_fails(FakeStateCall call) const {
    return model_.state_fault && model_.state_fault(call);
  }
  std::vector<std::byte> pack(SlotId slot, PositionRange range) const;
  std::optional<SavedCells> unpack(std::span<const std::byte> state) const;
  Result<void> place(SlotId slot, PositionRange range, const SavedCells& saved);

  const FakeModelOptions model_;
  const TokenTable& table_;
  const ContextOptions options_;
  KvCapabilities capabilities_;

  std::uint64_t fingerprint_ = 0;

  CellMirror pool_;          // which cell holds which position
  std::vector<Cell> cells_;  // what is in it
  // Per slot: the position that the next row must have, valid for the decode of that number
  std::vector<std::int32_t> expected_;
  std::vector<std::uint64_t> expected_in_;
  std::uint64_t decodes_ = 0;

  std::uint32_t threads_ = 1;
  AbortPredicate abort_;
  std::vector<std::vector<float>> outputs_;  // of the last decode, by row
  std::vector<std::vector<float>> hidden_;   // likewise
};

}  // namespace zerohop
