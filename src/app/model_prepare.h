// Prepares a model for this machine, once: converts it to the type of weights that computes fastest
// here and still predicts what the original predicts. Zerohop then serves the converted file in
// place of the original; name, tokenizer, template and metadata are the original's.
//
//   decision of an earlier start under the same key? ───────────────────▶ what it says
//        │        (one that was measured on a disturbed machine counts, and is measured again)
//   left alone? (too large, a mixture of experts, exact weights, …) ────▶ original
//        │
//   lock (another start may be at it: wait, look again)
//        │
//   for each type: convert, compare with the original (model/prepare_score.h)
//        │
//   choose (model_prepare_choice.h), keep file and decision ────────────▶ what was chosen
//
// Nothing here stops a start: whatever goes wrong (no room, no right to write, a lock that is held
// for a minute, a conversion that fails) is a warning, and the original is served. Default model,
// two cores: see docs/ARCHITECTURE.md for what the first start and the later ones take.
//
// At start, the main thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "app/model_preparation.h"
#include "app/model_prepare_choice.h"
#include "base/clock.h"
#include "core/error.h"
#include "model/llama_model.h"
#include "model/prepare_convert.h"
#include "model/prepare_score.h"

namespace zerohop {

struct PrepareRequest {
  LlamaModelOptions model;  ///< of the original: as it would be loaded
  PrepareRule rule;
  PrepareRoom room;
  std::uint32_t threads = 1;
  std::filesystem::path cache_folder;  ///< the user's; empty: nothing can be kept
};

/// What preparing needs of its surroundings.
struct PrepareTools {
  const Clock& clock;
  std::function<void()> pause;                         ///< a tenth of a second or so
  std::function<void(const std::string& line)> say{};  ///< for people; may be empty
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)> progress{};
  /// How models are compared; tests say what they find.
  std::function<Result<ModelComparison>(const Model& original, const Model& converted,
                                        const CompareOptions& options)>
      compare = compare_models;
};

struct PreparedModel {
  std::filesystem::path file;  ///< to load; the original's or the converted one's
  ModelPreparation preparation;
};

/// Does all of the above.
PreparedModel prepare_model(const PrepareRequest& request, const PrepareTools& tools);

/// All that a decision depends on: the source's content, machine, library, threads, devices, rule.
std::string prepare_key(const PrepareRequest& request, const WeightFile& file);

}  // namespace zerohop
