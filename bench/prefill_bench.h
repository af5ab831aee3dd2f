// How much of a long prompt's prefill is the model and how much is the engine, and what cached
// tokens in front of a prompt cost by themselves.
#pragma once

#include <memory>

#include "app/config.h"
#include "app/tier.h"
#include "bare_loop.h"
#include "child_server.h"
#include "core/error.h"
#include "model/model.h"

namespace zerohop::bench {

/// A tier of its own computes a prompt of 2,000 tokens while 4 streams run; the bare loop then
/// repeats the very steps (rows of each) that its engine took. Prints both and the ratio. `bare`
/// has the context that `config` asks for.
Result<void> bench_prefill(std::unique_ptr<Model> model, const EngineConfig& config,
                           BareLoop& bare);

/// Answers of one token behind 1,000 cached tokens and behind 2, from servers in processes of
/// their own (`programs`), beside the bare time of the same last rows of the same prompts. Prints
/// what the long prefix costs on each side, and what of it is the server's.
void bench_warm_prefix(const Tier& tier, BareLoop& bare, const Programs& programs);

}  // namespace zerohop::bench
