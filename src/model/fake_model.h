// A model without weights: deterministic, instant, strict. Everything above model/ is tested on it.
//
// Text:   a byte vocabulary of 256 tokens, a few longer pieces (so that stop sequences and
//         characters fall across token borders) and three control tokens. tokenize() takes the
//         longest piece.
// Next:   by default the logits are a hash of every token before, so the same prefix gives the same
//         continuation in any batch, chunking or slot, and a lost or foreign cell shows as
//         different text. A script may dictate the next token instead.
// Cells:  counted one by one, shared by reference in the unified layout. Anything that a real
//         context would punish with a crash or with silently wrong text (gaps in positions, rows
//         for cells that are not there, reading logits that were not asked for) fails a check here.
// States: a saved range carries its prefix hashes. Restored behind another prefix than its own it
//         shows as different text; restored at another position, or into a range that it does not
//         hold, it fails a check. compress() halves a state and loses nothing.
// Layouts: unified with parked ids, streams, and both with can_cut_tail = false, which behaves like
//         a model with a running state: tails cannot be cut, only whole sequences move.
// Time:   a decode advances a VirtualClock by a linear cost and polls the abort predicate.
// Faults: hooks may make any decode fail (a fatal one leaves damaged cells behind), any saving or
//         restoring, and any logits not finite.
//
// Model, tokenizer and template are immutable (any thread); a context has one owner thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/model.h"

namespace zerohop {

/// Virtual time of one decode: base + rows × per_row + cells read × per_cell. Beside it, of a cell
/// that is saved, restored, or copied to another stream.
struct FakeStepCost {
  Duration base{std::chrono::milliseconds(4)};
  Duration per_row{std::chrono::milliseconds(3)};
  Duration per_cell{std::chrono::nanoseconds(200)};
  Duration per_state_cell{};
  /// A decode with so many threads takes that many times as long; empty: once.
  std::function<double(std::uint32_t threads)> slowness = {};
};

/// The next token after `tokens` (the whole sequence so far); nothing falls back to the hash.
using FakeScript = std::function<std::optional<Token>(TokenSpan tokens)>;

/// Consulted before each decode: kOk lets it run.
using FakeFault = std::function<DecodeStatus(std::span<const BatchRow> rows)>;

enum class FakeStateCallKind : std::uint8_t { kSave, kRestore };

/// A save(), save_range(), restore() or restore_range() about to happen.
struct FakeStateCall {
  FakeStateCallKind kind = FakeStateCallKind::kSave;
  SlotId slot;
  PositionRange range;
};

/// True makes it fail with kInternal. A failed restore() leaves the slot empty, a failed
/// restore_range() leaves it as it was.
using FakeStateFault = std::function<bool(const FakeStateCall& call)>;

/// True makes the logits of the row NaN.
using FakeNotFinite = std::function<bool(const BatchRow& row)>;

/// What the chat template knows beyond roles and texts.
struct FakeTemplateSkills {
  bool tools = false;
  bool thinking = false;
};

struct FakeModelOptions {
  std::string name = "fake";
  std::uint64_t seed = 1;
  std::uint32_t context_trained = 8192;
  PoolingType pooling = PoolingType::kUnspecified;
  /// Chance, per hashed position, that the end-of-turn token is the likeliest.
  double end_of_turn_chance = 0.02;
  FakeTemplateSkills template_skills;
  FakeScript script;
  /// Logit of a token that the script dictates; its rivals have less than 7. From 30 on it is also
  /// what sampling at temperature 1 takes.
  float script_logit = 8.0f;
  FakeFault fault;
  FakeStateFault state_fault;
  FakeNotFinite not_finite;
  bool can_cut_tail = true;     ///< false: like a model with a running state
  std::uint32_t scan_tile = 1;  ///< attention looks over cells in multiples of this
  FakeStepCost cost;
  VirtualClock* clock = nullptr;  ///< not owned; nothing advances when null
};

/// Ids of the control tokens of every fake model.
struct FakeTokens {
  static constexpr Token kBegin = 256;      ///< "<|im_start|>"
  static constexpr Token kEnd = 257;        ///< "<|im_end|>", ends a turn
  static constexpr Token kEndOfText = 258;  ///< "<|endoftext|>", ends a turn
};

std::unique_ptr<Model> make_fake_model(const FakeModelOptions& options);

/// A script that answers every conversation with `reply`, then ends the turn: it finds the last
/// "<|im_start|>assistant\n" of the prompt and continues from there.
FakeScript fake_reply(const Model& model, std::string reply);

}  // namespace zerohop
