// System prompts that are in the cache before the first request: rendered as the part of a
// conversation in front of the first user turn's content, computed at start or taken from what an
// earlier run saved, and pinned.
//
// The owner of the tier, at start.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/tier.h"
#include "app/worker_pool.h"
#include "core/error.h"

namespace zerohop {

struct WarmSetup {
  std::filesystem::path folder;  ///< where states are kept; empty: nowhere
  std::string weights;           ///< names the file of the model and its version
};

/// The tokens that every conversation under `system` begins with. Errors: those of
/// PromptStage::prepare().
Result<std::vector<Token>> warm_prefix_tokens(const PromptStage& prompts,
                                              const std::string& system);

/// Hands the prefixes of `systems` to the engine of `tier`; equal ones once. States are written by
/// `writers`, which is joined before `tier` goes. Errors: kConfiguration (a text that does not fit
/// the window, or too many). An engine that reuses nothing gets none, with a warning; so does a
/// damaged file, and the prefix is computed.
Result<void> warm_up(Tier& tier, std::span<const std::string> systems, const WarmSetup& setup,
                     WorkerPool& writers);

}  // namespace zerohop
