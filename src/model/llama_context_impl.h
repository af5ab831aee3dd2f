// The class behind make_llama_context(), for the files that implement it: llama_context.cc (making
// one, decode, outputs, threads), llama_context_cells.cc (positions, cuts, copies, scan) and
// llama_context_state.cc (saving and restoring). Nobody else includes this.
//
// Ids. A slot is a sequence id of the library, and there may be one more that no slot has, the
// spare id. In the unified layout it makes ranges out of the library's whole sequences:
//
//   save_range     slot ──seq_cp(range)──▶ spare, save the spare, empty it
//   restore_range  load the spare, spare ──seq_cp(range)──▶ slot, empty it
//
// With the default model (23 kB of keys and values a token) this takes 4.7 µs a token out and 4.0
// in, checksum included; 7 and 6.4 where the pool is in runs of three cells. Without flash
// attention the library keeps values transposed and then moves each number of a run by itself: 6.2
// and 5.0, but 82 and 66 in such a pool.
//
// Both seq_cp share cells, so cells of the slot before the range stay shared with whoever else
// holds them. A pool accepts all 256 ids whatever n_seq_max says; n_seq_max only makes buffers for
// as many outputs (default model: 48 MiB at 256) and limits whose state can be saved. So it is
// sequences + 1, the spare id stands behind the ids that run, and the parked ones behind it:
//
//   | 0 … sequences − 1 | sequences: spare | parked … |
//
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "llama.h"
#include "model/cell_mirror.h"
#include "model/llama_context.h"
#include "model/llama_context_plan.h"
#include "model/llama_threadpools.h"

namespace zerohop {

struct ContextFree {
  void operator()(llama_context* context) const { llama_free(context); }
};

class LlamaContext final : public ModelContext {
 public:
  LlamaContext(const LlamaContextModel& model, const ContextOptions& options,
               const LlamaContextPlan& plan);
  ~LlamaContext() override;

  /// False when the library refused; the reason is in its log. Nothing else may be called then.
  bool open(llama_context_params parameters);

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
  std::optional<TopCell> top_cell() const override;
  void set_threads(std::uint32_t threads) override;
  std::uint32_t threads() const override { return threads_; }
  void set_abort(AbortPredicate predicate) override { abort_ = std::move(predicate); }

 private:
  // A saved state that was looked through.
  struct Incoming {
    PositionRange positions;
    std::span<const std::byte> payload;  // of the saved bytes, or of `unpacked`
    std::vector<std::byte> unpacked;
    std::vector<std::int32_t> cells;  // the position of each cell, as the library will place them
  };

  static bool poll_abort(void* self);
  void check_slot(SlotId slot) const {
    ZH_CHECK(slot.value >= 0 && static_cast<std::uint32_t>(slot.value) < capabilities_.slots);
  }
  void check_output(std::size_t row) const { ZH_CHECK(row < computed_rows_ && outputs_[row] != 0); }
  llama_seq_id id_of(SlotId slot) const;
  void set_capabilities();
  void set_fingerprint(std::uint64_t of_model);

  void fill_batch(std::span<const BatchRow> rows);
  DecodeStatus run(const llama_batch& batch);
  void follow(std::span<const BatchRow> rows, DecodeStatus status);
  std::int32_t next_position(SlotId slot);

  bool copy_state(SlotId from, SlotId to);
  void drop(SlotId slot);
  void cut(SlotId slot, std::int32_t from);
  Result<std::vector<std::byte>> write_state(llama_seq_id id, PositionRange positions) const;
  std::optional<Incoming> examine(std::span<const std::byte> state) const;
  Result<void> restore_head(SlotId slot, std::int32_t end, const Incoming& state);
  Result<void> restore_tail(SlotId slot, PositionRange range, const Incoming& state);

  // Constant after open()
  llama_model* const model_;
  const ContextOptions options_;
  const LlamaContextPlan plan_;
  const bool recurrent_;  // some layers keep a running state instead of cells
  const std::uint64_t kv_bytes_per_cell_;
  const std::int32_t window_;  // tokens of the sliding window; 0: none
  const bool starts_late_;     // positions().begin may exceed 0 although the sequence has it all
  const bool forgets_;         // a window whose cells are used again as it moves on
  KvCapabilities capabilities_;
  std::uint64_t fingerprint_ = 0;
  std::uint32_t library_rows_max_ = 0;  // n_batch after the library's rounding
  bool mirrored_ = false;               // the pool's cells are followed in mirror_

  // Owner thread. The pools must outlive the context, which has one of them attached.
  LlamaThreadPools pools_;
  std::unique_ptr<llama_context, ContextFree> context_;
  llama_memory_t memory_ = nullptr;  // stays null for a model that keeps no cells
  CellMirror mirror_;
  std::uint32_t threads_ = 0;
  AbortPredicate abort_;  // called by compute threads during decode(), replaced between decodes
  std::size_t computed_rows_ = 0;  // rows of the last decode whose outputs are valid

  // The arrays of llama_batch, batch_rows long
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> slots_;
  std::vector<llama_seq_id*> slot_pointers_;
  std::vector<std::int32_t> slot_counts_;
  std::vector<std::int8_t> outputs_;

  // Per slot: the position that the next row must have, valid for the decode of that number
  std::vector<std::int32_t> expected_;
  std::vector<std::uint64_t> expected_in_;
  std::uint64_t decodes_ = 0;

  std::vector<std::uint8_t> staging_;  // of copy_state()
  std::vector<std::byte> one_cell_;    // of fill(): a saved state of one token
};

}  // namespace zerohop
