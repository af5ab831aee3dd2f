// Chooses the tokens of one step: first one row for every sequence that decodes, then more rows for
// those that have forced tokens to compute (engine_constrain.cc), then prefill in fair order
// (prefill_order.h) until the step's time is spent.
//
// The time comes from the ITL objective. While somebody decodes, a step may take that long, so a
// running stream waits for one objective (two where decoders fill most of it, see below) because
// somebody else sent a long prompt. While nobody decodes, steps are longer (fewer, larger chunks
// compute faster) but still bounded, so that a new arrival or a cancellation is noticed soon.
//
// Decoders that take most of the objective by themselves (many of them, over many cells) leave
// prompts a third of the step all the same, up to twice the objective in all: at eight rows a step
// a queue of short prompts would wait far longer than the streams gain by it.
//
// Forced rows come before prompts: their text is out, and its stream waits for the token behind
// them. They get what the decoders leave of the objective, or half of it where prompts wait, in the
// order given; what finds no room advances by its one row. One that takes k rows now spares k steps
// in which it would have had a row each, so prompts lose nothing over time.
//
// The first prompt advances by limits::kPrefillRowsMin rows or more, unless decoders leave no time
// and an aged one takes its turn; what it leaves goes to the next. A prompt that has been passed
// over for long (PlanInput::aged) gets a quarter of the time that is left for prompts before the
// first one gets the rest, so that it ends however many short ones come.
//
// Once a prompt ends in the step, the others may fill it only up to half the objective: its first
// token should not wait for them.
//
// Attention over a pool goes through blocked products from 64 rows on, and then a row may cost half
// as much (cost_model.h): behind 1,000 cells of one conversation 63 rows take 158 ms and 64 take
// 102. So a step is filled to the first tile where it takes at most a quarter longer than its
// budget by that. Where tails of many conversations lie in between, the cost model finds that tiles
// gain nothing, and nothing is filled.
//
// Rows are cut to whole tiles of 64 (limits::kRowTile) where that costs less than an eighth of the
// step. The attention kernel tiles by 64, but on the default model a tile that is begun costs only
// what two rows cost, and a step of 64 rows where 100 would fit pays the fixed cost of a pass
// (three rows) half again as often.
//
// Tried and dropped: a whole tile at once where the objective holds less than one, made up for by
// steps that only decode. Steps of 4 decoders and N rows of a prompt behind 1,600 cells, default
// model, two cores, in ms:
//
//   N                0    8   12   20   28   36   44   52   60   64   92   124
//   as shipped      26   87  113  172  235  304  356  420  350  400  507   614
//   as Q8_0         21   68   90  136  181  229  274  314  244  276  335   395
//
// Below a tile of 64 rows in all, a row costs the same whatever their number, so neither other
// sizes nor fewer and larger pieces bring a prompt forward: what decoders take of an objective is
// the same in the end. A tile saves a third, but takes more than twice an objective of 100 ms; at
// 200 ms a prompt of 2,000 tokens got its first token 9 % sooner (mean of six runs each), and the
// longest gap rose from 284 to 357 ms.
//
// A pure function of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost_model.h"

namespace zerohop {

/// What the planner sees of a sequence.
struct PlanInput {
  std::uint32_t pending = 0;   ///< tokens to compute before the next one can be sampled; > 0
  std::uint64_t computed = 0;  ///< cells that its rows look back at
  bool decoding = false;       ///< a client watches tokens arrive
  std::uint32_t rank = 0;      ///< of prompts: lower goes first; equal ones in the order given
  bool aged = false;           ///< of prompts: was passed over for long

  /// Of `pending`: those in front of the last sampled token, whose cells were there and are gone.
  std::uint32_t lost = 0;

  /// It has a row in every step: its last sampled token, and perhaps some that a constraint forced
  /// behind it. One that has lost cells catches up like a prompt.
  bool is_decoder() const { return decoding && lost == 0; }
};

/// What a step may hold. Exact steps never mix: the library computes a lone row of a prompt by
/// other kernels than two rows or more (the attention products of one row are plain dot products,
/// those of several go through blocked ones), and it splits mixed batches so that single rows
/// appear. The difference is of the order of rounding, but activations are quantised, and now and
/// then a logit moves by 0.6. So an exact step is either one row for every decoder, or two rows or
/// more of one prompt, and leaves no single row behind.
enum class StepKind : std::uint8_t {
  kMixed,
  kExactDecode,   ///< decoders; a piece of one prompt where nobody decodes
  kExactPrefill,  ///< a piece of one prompt; decoders where there is none
};

struct PlanOptions {
  Duration itl_objective{};
  /// Budget of a step while nobody decodes, in objectives.
  std::uint32_t idle_stretch = 4;
  std::uint32_t rows_max = 0;
  std::uint32_t logit_rows_max = 0;
  StepKind kind = StepKind::kMixed;
};

/// Fewest rows_max that exact steps can be cut from.
inline constexpr std::uint32_t kExactRowsMin = 4;

/// Rows for each input, in the same order; 0 where it has to wait. At least one row in all when
/// there is any input.
std::vector<std::uint32_t> plan_rows(std::span<const PlanInput> inputs, const CostModel& cost,
                                     const PlanOptions& options);

}  // namespace zerohop
