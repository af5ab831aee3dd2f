#include "model/llama_context_plan.h"

#include <cstdio>
#include <limits>
#include <string>

#include "core/limits.h"
#include "model/llama_threadpools.h"

namespace zerohop {
namespace {

// Positions are signed 32-bit numbers, and so are the library's cell numbers in places.
constexpr std::uint64_t kCellsMax = std::numeric_limits<std::int32_t>::max() - kLlamaCellTile;

Error wrong(const char* field, const std::string& message) {
  return Error{ErrorCode::kConfiguration, message, field, {}};
}

struct Bound {
  const char* field;
  std::uint64_t value;
  std::uint64_t most;
};

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1024.0 * 1024 * 1024));
  return text;
}

std::uint64_t padded(std::uint64_t cells) {
  return (cells + kLlamaCellTile - 1) / kLlamaCellTile * kLlamaCellTile;
}

}  // namespace

Result<LlamaContextPlan> plan_llama_context(const ContextOptions& options,
                                            const LlamaMemory& memory) {
  const Bound bounds[]{
      {"sequences", options.sequences, limits::kSequencesMax},
      {"window", options.window, kCellsMax},
      {"batch_rows", options.batch_rows, kCellsMax},
      {"logit_rows", options.logit_rows, kCellsMax},
      {"threads", options.threads, kLlamaThreadsMax},
  };
  for (const Bound& bound : bounds) {
    if (bound.value >= 1 && bound.value <= bound.most) continue;
    return wrong(bound.field, std::string(bound.field) + " must be from 1 to " +
                                  std::to_string(bound.most) + ", not " +
                                  std::to_string(bound.value));
  }
  const bool pooled = options.layout == KvLayout::kUnified;
  const std::uint64_t slots = options.sequences + std::uint64_t{pooled ? options.parked : 0};
  if (slots > kLlamaIds) {
    return wrong("parked", "sequences and parked are at most " + std::to_string(kLlamaIds) +
                               " together, not " + std::to_string(slots));
  }
  const std::uint64_t cells =
      pooled ? padded(options.cells != 0 ? options.cells
                                         : std::uint64_t{options.sequences} * options.window)
             : padded(options.window) * options.sequences;
  if (cells > kCellsMax) {
    return wrong(pooled && options.cells != 0 ? "cells" : "window",
                 std::to_string(cells) + " KV cells are more than the model library can count (" +
                     std::to_string(kCellsMax) + ")");
  }
  const std::uint64_t bytes = cells * memory.kv_bytes_per_cell;
  if (memory.bytes_total != 0 && bytes > memory.bytes_total) {
    // The library would touch every page at once and be killed for it.
    return wrong(pooled && options.cells != 0 ? "cells" : "window",
                 std::to_string(cells) + " KV cells need " + gibibytes(bytes) +
                     ", more than this machine's memory of " + gibibytes(memory.bytes_total));
  }
  LlamaContextPlan plan;
  plan.cells = static_cast<std::uint32_t>(cells);
  // With embeddings every row is an output.
  plan.logit_rows =
      options.embeddings ? options.batch_rows : std::min(options.logit_rows, options.batch_rows);
  plan.slots = static_cast<std::uint32_t>(slots);
  plan.library_sequences = plan.slots;
  if (pooled && !memory.ids_hold_memory && slots < kLlamaIds) {
    plan.spare = static_cast<std::int32_t>(options.sequences);
    plan.library_sequences = options.sequences + 1;
  }
  plan.logit_rows = std::max(plan.logit_rows, plan.library_sequences);
  return plan;
}

}  // namespace zerohop
