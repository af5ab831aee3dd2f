// The step loop: plan → run → commit, over one model context, for many sequences at once.
//
//   Plan     take the inbox, drop what was cancelled, give slots to queued requests, choose rows
//   Run      one decode; aborted when every sequence in it was cancelled
//   Commit   advance what was computed, sample, run the output stages, emit events, publish a
//   snapshot
//
// Embeddings run on a second context, in pieces between two steps (embedder.h); while there are
// any, they and the step share the time of one.
//
// The loop has no thread and no clock of its own: EngineThread (engine_thread.h) drives it in the
// server; tests and the simulation call step() on virtual time.
//
// Threads: submit(), submit_embedding(), make_stream(), ring() and snapshot() from any; everything
// else from the one thread that owns the loop. The loop outlives every stream's use of ring():
// streams and jobs hold a shared doorbell, not the loop.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "cache/slot_cache.h"
#include "core/limits.h"
#include "core/snapshot.h"
#include "core/token_table.h"
#include "engine/batch_planner.h"
#include "engine/cost_model.h"
#include "engine/embedder.h"
#include "engine/engine_request.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "engine/token_chances.h"
#include "engine/token_stream.h"
#include "model/model.h"

namespace zerohop {

struct StepReport {
  Duration duration{};
  std::uint32_t rows = 0;
  std::uint32_t sampled = 0;  ///< tokens
  DecodeStatus status = DecodeStatus::kOk;
};

enum class Exactness : std::uint8_t {
  kFast,
  /// A sequence's tokens are computed in the same way whatever else runs and ran before: no step
  /// mixes decode and prefill rows (StepKind), and no cells are reused.
  kExact,
};

struct EngineOptions {
  std::uint32_t window = 8192;     ///< tokens of one request, prompt and output
  std::uint32_t batch_rows = 512;  ///< as the context was made
  std::uint32_t logit_rows = 256;  ///< as the context was made
  Duration itl_objective{limits::kItlObjective};
  std::size_t queue_max = limits::kInboxMax;
  std::size_t stream_bytes_max = limits::kStreamBytesMax;
  Exactness exactness = Exactness::kFast;
  std::uint64_t seed = 0;  ///< of requests that bring none; drawn from the clock's owner
  std::function<void(const StepReport&)> on_step;  ///< engine thread, after each decode
};

/// What the loop works with. Everything outlives it; the context is its own.
struct EngineParts {
  std::unique_ptr<ModelContext> context;
  const TokenTable* tokens = nullptr;
  const Clock* clock = nullptr;
  StreamWaker* waker = nullptr;
  EmbeddingSupport embedding = {};  ///< empty: submit_embedding() refuses
};

class EngineLoop {
 public:
  EngineLoop(EngineParts parts, EngineOptions options);
  ~EngineLoop();
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;

  // ---- any thread ----

  /// A stream that rings this engine.
  std::shared_ptr<TokenStream> make_stream();

  /// Queues a request. Errors: kPromptTooLong, kOverloaded (queue full), kShuttingDown.
  Result<void> submit(EngineRequest request);

  /// Queues a request for vectors; its on_done is called on the owner thread. Errors:
  /// kInvalidRequest (no embeddings here, or `input[i]` too long), kOverloaded, kShuttingDown.
  Result<std::shared_ptr<EmbeddingJob>> submit_embedding(EmbeddingRequest request);

  /// Makes wait() return.
  void ring() { inbox_->wake(); }

  EngineSnapshot snapshot() const;
  std::uint32_t window() const { return options_.window; }

  /// Refuses new requests and makes a running decode return. The owner of the loop then calls
  /// fail_all().
  void stop();

  // ---- owner thread ----

  /// One step. False when there was nothing to compute: the loop may wait().
  bool step();

  /// Sleeps until there may be work again. False after stop().
  bool wait();

  /// Ends every request that is still here with kShuttingDown.
  void fail_all();

  void check_integrity() const;

 private:
  using SequencePtr = std::unique_ptr<Sequence>;
  using Inbox = BoundedQueue<EngineRequest>;

  // Plan (engine_plan.cc)
  void take_inbox();
  void drop_cancelled();
  void place_queued();
  bool place(Sequence& sequence);
  bool waits_for_prefix(const Sequence& sequence) const;
  bool plan();
  void compute_step();
  Duration embedding_share() const;
  Duration embedding_budget() const;
  StepKind next_kind();
  void build_rows();

  // Run
  DecodeStatus run();
  bool all_cancelled() const;

  // Commit (engine_commit.cc)
  void commit();
  void advance(Sequence& sequence);
  void sample(Sequence& sequence);
  void accept(Sequence& sequence, Token token);
  void undo(DecodeStatus status);
  void undo_rows(Sequence& sequence);
  void forget_cells(Sequence& sequence);
  void finish(Sequence& sequence, FinishReason reason);
  void report_end(Sequence& sequence, FinishReason reason, std::string stop_sequence);
  void fail(Sequence& sequence, Error error);
  void emit(Sequence& sequence, Event event);
  SlotCache::Keep kept_cells() const;
  void release_slot(Sequence& sequence, SlotCache::Keep keep);
  void count_cancelled(const Sequence& sequence);
  void sweep();
  void wake_readers();
  void count_running();
  void publish();

  const EngineOptions options_;
  const TokenTable& table_;
  const Clock& clock_;
  StreamWaker& waker_;
  const std::shared_ptr<Inbox> inbox_;

  // Any thread
  std::atomic<std::size_t> waiting_{0};  // requests in the inbox and in queued_
  std::atomic<bool> stopping_{false};
  mutable std::mutex snapshot_mutex_;
  EngineSnapshot published_;  // guarded by snapshot_mutex_

  // Owner thread
  std::unique_ptr<ModelContext> context_;
  SlotCache cache_;
  CostModel cost_;
  Sampler sampler_;
  TokenChances chances_;
  Embedder embedder_;  // submit() and close() from any thread
  std::uint64_t next_id_ = 0;
  std::deque<SequencePtr> queued_;
  std::vector<SequencePtr> running_;  // in order of arrival
  EngineSnapshot state_;

  // Owner thread, the step that runs now. step_sequences_ is also read by the compute threads
  // through the abort predicate, while the owner waits inside decode().
  std::vector<Sequence*> step_sequences_;
  std::vector<BatchRow> rows_;
  StepSize step_size_;
  bool embedding_ = false;      // a piece of embeddings follows this step
  bool exact_prefill_ = false;  // the kind of the last exact step
  std::uint32_t sampled_ = 0;
  std::vector<Event> stage_events_;
  std::vector<std::shared_ptr<TokenStream>> touched_;
};

}  // namespace zerohop
