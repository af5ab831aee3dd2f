// The KV cells and the decode call of the fake model (fake_model.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/fake_model.h"

namespace zerohop {

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
  void set_threads(std::uint32_t threads) override { threads_ = threads; }
  std::uint32_t threads() const override { return threads_; }
  void set_abort(AbortPredicate predicate) override { abort_ = std::move(predicate); }

  /// Cells in use, each shared cell once.
  std::uint32_t cells_used() const { return cells_used_; }

 private:
  // One computed token. Its hash covers every token before it, so a cell found at the wrong place
  // cannot pass for the right one.
  struct Cell {
    Token token = 0;
    std::uint64_t prefix_hash = 0;
    std::uint32_t holders = 0;
  };
  using CellIndex = std::uint32_t;
  using Slot = std::vector<CellIndex>;  // cell of each position, from 0

  Slot& slot_of(SlotId id);
  const Slot& slot_of(SlotId id) const;
  void check_rows(std::span<const BatchRow> rows) const;
  bool has_room(std::span<const BatchRow> rows) const;
  CellIndex take_cell(Token token, std::uint64_t prefix_hash);
  void drop_cell(CellIndex index);
  void append(Slot& slot, Token token);
  std::vector<Token> tokens_of(const Slot& slot) const;
  void fill_logits(std::size_t row, const Slot& slot);
  void leave_damage(std::span<const BatchRow> rows);
  bool spend(Duration cost);

  const FakeModelOptions model_;
  const TokenTable& table_;
  const ContextOptions options_;
  KvCapabilities capabilities_;

  std::vector<Cell> cells_;
  std::vector<CellIndex> free_;
  std::vector<Slot> slots_;
  std::uint32_t cells_used_ = 0;

  std::uint32_t threads_ = 1;
  AbortPredicate abort_;
  std::vector<std::vector<float>> outputs_;  // of the last decode, by row
  std::vector<std::vector<float>> hidden_;   // likewise
};

}  // namespace zerohop
