// Which KV layout, and whether flash attention, measured at start on this machine with this model.
//
// The problem. In one pool a prefix is shared for nothing, but every row of a decode looks over all
// cells of all sequences. In streams a row looks over its own sequence only, but a prefix that
// another sequence holds has to be copied, and no id is left to park prefixes. Which costs less
// depends on the lengths, on how much is shared, on the model and on the cores.
//
// The method. For each layout, with and without flash attention, a small context is made and filled
// with cells that mean nothing (ModelContext::fill), so no prompt has to be computed. A decode step
// of N sequences is timed at a short and at a long length, then what it costs to give one sequence
// a prefix of another. From these a request is put together:
//
//   request = copied or shared prefix + tokens of its answer × time of a step ÷ N
//
// The rest of its prompt is left out: what a row costs in the pool depends on how full that is.
//
// The time of a step at the typical length is a line through the two measured ones: over the cells
// of a sequence for streams, over the cells of the pool for the pool, where shared cells count
// once:
//
//   pool cells = shared + N × (length − shared)
//
// The rule. The assumed work: prompts of 1,024 tokens (less in a smaller window), half of which all
// sequences share (system prompt and tools), answers of 128 tokens. The pool is taken unless
// streams are at least 10 % faster, because only the pool parks prefixes and saves ranges, which
// this sum does not see. Flash attention is taken unless without it a request is at least 3 %
// faster.
//
// Measured on one core with the default model as shipped, a step of 8 sequences of 64 and of 1,024
// cells:
//
//                        pool            streams
//   flash attention      61 → 129 ms     61 → 106 ms
//   without              74 → 280 ms     70 → 102 ms
//
// so with half of the prompts shared the pool decodes 5 to 9 % faster, and with nothing shared
// streams do by 14 to 26 %.
//
// Time is bounded by LayoutProbe::budget, also on a machine where one step takes seconds: the clock
// is looked at between any two calls, and a step that runs when the time is up is aborted. What was
// not measured until then is not chosen. Nothing here fails: without figures the answer is the pool
// with flash attention left to the library.
//
// One thread, before the engine starts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/model.h"

namespace zerohop {

/// What the engine is expected to do, in tokens.
struct LayoutWorkload {
  std::uint32_t sequences = 8;
  std::uint32_t prompt = 1024;
  std::uint32_t shared = 512;  ///< of the prompt, held by all sequences alike
  std::uint32_t answer = 128;
};

struct LayoutProbe {
  const Clock* clock = nullptr;  ///< must not be null
  Duration budget{std::chrono::milliseconds(1500)};
  /// 0 takes the default, as far as the window and the number of sequences allow.
  std::uint32_t prompt = 0;
  double shared_share = 0.5;  ///< of the prompt
  std::uint32_t answer = 128;
  std::uint64_t kv_bytes_max = std::uint64_t{512} << 20;  ///< for the cells of a probe
};

/// One layout, with or without flash attention, as measured. All zero: it was not measured.
struct LayoutFigures {
  KvLayout layout = KvLayout::kUnified;
  FlashAttention flash_attention = FlashAttention::kOn;
  bool measured = false;
  std::uint32_t sequences = 0;    ///< that decoded together
  std::uint32_t cells_short = 0;  ///< of each sequence
  std::uint32_t cells_long = 0;
  double step_short_ms = 0;  ///< a decode of one row for each sequence
  double step_long_ms = 0;
  double reuse_token_us = 0;  ///< sharing or copying a prefix
  double request_ms = 0;      ///< the estimate that was compared
};

/// A plain value: may be stored as it is under layout_choice_key() and used again.
struct KvLayoutChoiceReport {
  static constexpr std::size_t kCandidates = 4;

  KvLayout layout = KvLayout::kUnified;
  FlashAttention flash_attention = FlashAttention::kAuto;
  bool measured = false;  ///< false: the fallback
  std::string reason;     ///< one line for people
  LayoutWorkload workload;
  std::array<LayoutFigures, kCandidates> candidates;
  bool out_of_time = false;  ///< more might have been measured with more time
  double spent_ms = 0;
};

/// Measures and chooses. `options` are those that the engine will have; their layout and cells are
/// not looked at, their flash attention only when it is not kAuto (then it stays). Takes at most
/// LayoutProbe::budget and what it takes to make one context; never fails.
KvLayoutChoiceReport measure_layouts(const Model& model, const ContextOptions& options,
                                     const LayoutProbe& probe);

/// The rule alone: request_ms of each of `candidates` that was measured, and the choice.
void choose_layout(KvLayoutChoiceReport& report);

/// Under what a report may be stored: it holds for the same machine, model and options. `machine`
/// is the caller's description of processor and library.
std::string layout_choice_key(const ModelInfo& model, const ContextOptions& options,
                              std::string_view machine);

}  // namespace zerohop
