// Beginnings of conversations (system prompts, with tools where a profile has some) that are in the
// cache before the first request: rendered as requests are, up to the first user turn's content,
// computed at start or taken from what an earlier run saved, and pinned.
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
#include "core/request.h"

namespace zerohop {

struct WarmSetup {
  std::filesystem::path folder;  ///< where states are kept; empty: nowhere
  std::string weights;           ///< names the file of the model and its version
};

/// A conversation that has nothing but a system prompt and one user turn.
Conversation conversation_under(std::string system);

/// The tokens that every conversation begins with that differs from this one only in its turns.
/// Errors: those of PromptStage::prepare().
Result<std::vector<Token>> warm_prefix_tokens(const PromptStage& prompts,
                                              Conversation conversation);

/// Hands the prefixes of `conversations`, to which the server's habits have been applied, to the
/// engine of `tier`; equal ones once. States are written by `writers`, which is joined before
/// `tier` goes. Errors: kConfiguration (one that does not fit the window, or too many). An engine
/// that reuses nothing gets none, with a warning; so does a damaged file, and the prefix is
/// computed.
Result<void> warm_up(Tier& tier, std::span<const Conversation> conversations,
                     const WarmSetup& setup, WorkerPool& writers);

}  // namespace zerohop
