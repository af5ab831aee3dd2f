#include "trace_sim/cache_replay.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "trace_sim/block_policies.h"

namespace zerohop::trace_sim {
namespace {

// No block has it.
constexpr Token kAnswerToken = 0x7fffffff;

// Each request may leave a prefix with an end of its own. The cache holds the share of them that
// its room is of all blocks; twice that many slots, and no more than there are requests.
std::uint32_t slots_for(const BlockTrace& trace, std::uint64_t capacity_blocks) {
  const std::uint64_t distinct = std::max<std::uint64_t>(measure(trace).distinct, 1);
  const std::uint64_t cached = trace.size() * capacity_blocks / distinct;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(2 * cached + 64, trace.size() + 1));
}

KvCapabilities pooled_cells(const CacheReplayOptions& options, std::uint32_t slots) {
  KvCapabilities capabilities;
  capabilities.slots = slots;
  capabilities.sequences = 1;
  // place() leaves the last token of a prompt to be computed and wants a cell ahead of it.
  const std::uint64_t cells = std::uint64_t{options.capacity_blocks} * options.tokens_per_block + 1;
  ZH_CHECK(cells < (std::uint64_t{1} << 31));
  capabilities.cells = static_cast<std::uint32_t>(cells);
  capabilities.slot_cells = capabilities.cells;
  capabilities.pooled = true;
  capabilities.can_share_range = true;
  capabilities.can_save_range = true;
  capabilities.bytes_per_cell = 1;
  return capabilities;
}

std::vector<Token> tokens_of(const BlockRequest& request, std::uint32_t per_block) {
  std::vector<Token> tokens;
  tokens.reserve(request.blocks.size() * per_block);
  for (const std::uint32_t block : request.blocks) {
    for (std::uint32_t i = 0; i < per_block; ++i) {
      // Tokens of different blocks may coincide far apart (31 bits); a prefix of them does not.
      tokens.push_back(static_cast<Token>((block * per_block + i) % kAnswerToken));
    }
  }
  return tokens;
}

// How much of each prompt came before.
class SeenBlocks {
 public:
  std::size_t prefix(const BlockRequest& request) {
    std::size_t known = 0;
    while (known < request.blocks.size() && seen_.contains(request.blocks[known])) ++known;
    seen_.insert(request.blocks.begin(), request.blocks.end());
    return known;
  }

 private:
  std::unordered_set<std::uint32_t> seen_;
};

// One request's life. Returns the tokens that were found.
class RequestRun {
 public:
  RequestRun(PrefixCache& cache, const BlockRequest& request, std::uint32_t per_block)
      : cache_(cache),
        tokens_(tokens_of(request, per_block)),
        now_(from_seconds(request.seconds)),
        answer_(std::min<std::size_t>(
            (std::size_t{request.output_tokens} * per_block + kBlockTokens - 1) / kBlockTokens,
            cache.counts().cells_total - tokens_.size())) {}

  std::size_t run() {
    const TokenSpan prompt(tokens_);
    PlaceRequest wanted;
    wanted.tokens = prompt;
    wanted.cells_ahead = static_cast<std::uint32_t>(std::max<std::size_t>(answer_, 1));
    wanted.marked_tokens = static_cast<std::uint32_t>(prompt.size());
    wanted.now = now_;
    const PlaceResult placed = cache_.place(wanted);
    ZH_CHECK(placed.placement.has_value());
    if (cache_.last_cap() != CacheCap::kNotKept) cap_ = cache_.last_cap();
    const SlotId slot = placed.placement->slot;
    const auto reused = static_cast<std::size_t>(placed.placement->tokens_reused);
    cache_.grow(slot, prompt.subspan(reused), now_);
    if (answer_ > 0) cache_.grow(slot, std::vector<Token>(answer_, kAnswerToken), now_);
    cache_.release(slot, Keep::kCells, now_);
    // The last token of a prompt that is wholly cached is computed for its logits only.
    return reused + 1 == prompt.size() ? reused + 1 : reused;
  }

  /// What the cache dropped something for, to make room for this one; kNone: for nothing.
  CacheCap cap() const { return cap_; }

 private:
  PrefixCache& cache_;
  const std::vector<Token> tokens_;
  const TimePoint now_;
  const std::size_t answer_;
  CacheCap cap_ = CacheCap::kNone;
};

}  // namespace

CacheReplay replay(const BlockTrace& trace, const CacheReplayOptions& options) {
  PrefixCacheOptions cache_options;
  cache_options.order = options.order;
  // Whole prompts are marked: the cache sees how long the answers were and keeps none of them.
  cache_options.keep = KeepRule::kMarked;
  const std::uint32_t slots =
      options.slots != 0 ? options.slots : slots_for(trace, options.capacity_blocks);
  PrefixCache cache(pooled_cells(options, slots), cache_options);
  SeenBlocks seen;
  CacheReplay result;
  CacheCap cap = CacheCap::kNone;
  for (const BlockRequest& request : trace) {
    const std::size_t known = seen.prefix(request);
    if (request.blocks.size() > options.capacity_blocks) {
      ++result.requests_refused;
      continue;
    }
    RequestRun run(cache, request, options.tokens_per_block);
    const std::size_t found = run.run();
    result.hit_blocks += static_cast<double>(found) / options.tokens_per_block;
    if (run.cap() != CacheCap::kNone) cap = run.cap();
    if (found < known * options.tokens_per_block) {
      ++result.misses_by_cap.at(static_cast<std::size_t>(cap));
    }
  }
  cache.check_integrity();
  return result;
}

}  // namespace zerohop::trace_sim
