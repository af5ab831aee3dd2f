// What an EngineLoop is made of and how it is told to behave. Plain values, read once at start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "cache/miss_explainer.h"
#include "cache/prefix_cache.h"
#include "constrain/constraint_session.h"
#include "constrain/live_machine.h"
#include "core/fair_queue.h"
#include "core/limits.h"
#include "core/token_table.h"
#include "engine/concurrency_control.h"
#include "engine/embedding_job.h"
#include "engine/park_policy.h"
#include "engine/pressure_ladder.h"
#include "engine/queue_books.h"
#include "engine/speculation.h"
#include "engine/token_stream.h"
#include "model/model.h"

namespace zerohop {

struct StepReport {
  Duration duration{};  ///< of the forward pass
  std::uint32_t rows = 0;
  bool decodes = false;       ///< some rows were those of an answer
  std::uint32_t sampled = 0;  ///< tokens
  Duration sampling{};        ///< drawing them, finding what constraints allow included
  Duration masking{};         ///< of this, finding what constraints allow
  double fragmentation = 0;   ///< EngineSnapshot::fragmentation behind it
  DecodeStatus status = DecodeStatus::kOk;
};

/// How much of the others' time scattered cells are moved together in.
struct CompactionOptions {
  Duration slice{std::chrono::milliseconds(8)};         ///< between two steps
  Duration per_request{std::chrono::milliseconds(12)};  ///< of all slices that a request waits for
};

/// One slice of it: a span on the clock of the engine.
struct CompactionReport {
  TimePoint begin{};
  Duration duration{};
  std::uint32_t cells = 0;  ///< that were copied
};

enum class Exactness : std::uint8_t {
  kFast,
  /// A sequence's tokens are computed in the same way whatever else runs and ran before: no step
  /// mixes decode and prefill rows (StepKind), no cells are reused from others, and what has to be
  /// computed again is cut as it was the first time.
  kExact,
};

struct EngineOptions {
  std::uint32_t window = 8192;     ///< tokens of one request, prompt and output
  std::uint32_t batch_rows = 512;  ///< as the context was made
  std::uint32_t logit_rows = 256;  ///< as the context was made
  Duration itl_objective{limits::kItlObjective};
  QueueLimits queue = {};
  std::size_t stream_bytes_max = limits::kStreamBytesMax;
  Exactness exactness = Exactness::kFast;
  /// Fewer threads compute while other processes take the cores (thread_governor.h). Not where
  /// exactness counts: the number of threads may show in the last digits.
  bool adaptive_threads = true;
  std::uint64_t seed = 0;  ///< of requests that bring none; drawn from the clock's owner

  /// Exactness::kExact overrides the rule of what is kept.
  PrefixCacheOptions cache = {};
  /// Its number of sequences is that of the context.
  FairQueueOptions fairness = {};
  /// How many sequences run at once; a ceiling of 0 is the number that the context has.
  ConcurrencyOptions concurrency = {};
  /// Cells that a running answer is promised beyond those that it holds, renewed as it grows. More
  /// means fewer looks at the cache's books, fewer lets more requests in.
  std::uint32_t look_ahead_tokens = 32;
  /// When a running request gives its slot away.
  ParkOptions parking = {};
  PressureOptions pressure = {};
  /// Idle cells leave a pool whose steps they make slower (idle_rent.h).
  bool idle_cells_pay = true;
  CompactionOptions compaction = {};
  MissExplainerOptions misses = {};

  /// Masks of constraints that are kept, and their machines while nobody follows them.
  std::size_t constraint_mask_bytes = std::size_t{64} << 20;
  std::size_t constraint_idle_bytes = std::size_t{64} << 20;
  /// Of one machine; see LiveMachine.
  std::size_t constraint_machine_bytes = LiveMachine::kBytesMax;
  /// Most tokens of text that a constraint leaves no choice about which one sampled token brings
  /// along (engine_constrain.cc); at most limits::kForcedTokensMax. 0: each is sampled.
  std::uint32_t forced_tokens = limits::kForcedTokensMax;
  /// Answers that may draft need logits of more rows than there are sequences (draft_logit_rows()):
  /// as many as logit_rows leaves.
  SpeculationOptions speculation = {};

  std::function<void(const StepReport&)> on_step = {};  ///< engine thread, after each decode
  std::function<void(const CompactionReport&)> on_compaction = {};  ///< likewise, after each slice
};

/// What the loop works with. Everything outlives it; the context is its own.
struct EngineParts {
  std::unique_ptr<ModelContext> context;
  const TokenTable* tokens = nullptr;
  const Clock* clock = nullptr;
  StreamWaker* waker = nullptr;
  EmbeddingSupport embedding = {};  ///< empty: submit_embedding() refuses
  /// The model's own way to write a text in tokens, names of special tokens being text; any thread.
  /// Empty: texts of constraints are written greedily.
  Tokenize tokenize = {};
};

}  // namespace zerohop
