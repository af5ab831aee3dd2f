// The step loop: plan → run → commit, over one model context, for many sequences at once.
//
//   Plan     take the inbox, end what was cancelled or is too late, promise cells to those that
//            run, relieve pressure, give slots to those whose turn it is, choose rows
//   Run      one decode; aborted when every sequence in it was cancelled or is too late
//   Commit   advance what was computed, sample, run the output stages, emit events, publish a
//            snapshot; or, when the decode failed, undo it and find out because of whom
//
// Who decides what:
//
//   core/fair_queue.h         whose turn it is
//   cache/prefix_cache.h      which cells hold what, and which go
//   engine/waiting_room.h     who waits, and who stands aside
//   engine/batch_planner.h    how many rows of whom
//   engine/draft_planner.h    how many guessed ones
//   engine/park_policy.h      who gives its place away
//   engine/pressure_ladder.h  how much is done about scarce cells
//   engine/shed_door.h        who is refused when nothing else helps
//   engine/queue_books.h      how many may wait, and who comes before whom
//   engine/concurrency_control.h  how many run at once
//   engine/fault_finder.h     who is at fault when a step fails
//   engine/constraints.h      which tokens a structure allows
//
// Nothing that was admitted ends for want of memory. Cells are promised a little ahead of what an
// answer holds, not for the longest answer there could be; when they run out, idle cells go first,
// then a running sequence is parked: it gives its slot away, keeps everything else, and goes on
// later with the same text. The oldest request of the highest class is never parked for cells, and
// a window always fits the context, so somebody always gets to the end.
//
// Embeddings run on a second context, in pieces between two steps (embedder.h); while there are
// any, they and the step share the time of one.
//
// The loop has no thread and no clock of its own: EngineThread (engine_thread.h) drives it in the
// server; tests and the simulation call step() on virtual time.
//
// Threads: submit(), submit_all(), submit_warm(), prepare_constraints(), submit_embedding(),
// make_stream(), sheds(), in_front(), likely_uncached(), full_for(), set_wait_max(), ring() and
// snapshot() from any; everything else from the one thread that owns the loop. The loop outlives
// every stream's use of ring(): streams and jobs hold a shared doorbell, not the loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "cache/miss_explainer.h"
#include "cache/prefix_cache.h"
#include "core/fair_queue.h"
#include "core/snapshot.h"
#include "core/token_table.h"
#include "engine/answer_lengths.h"
#include "engine/batch_planner.h"
#include "engine/concurrency_control.h"
#include "engine/constraints.h"
#include "engine/cost_model.h"
#include "engine/draft_planner.h"
#include "engine/embedder.h"
#include "engine/engine_options.h"
#include "engine/engine_request.h"
#include "engine/fault_finder.h"
#include "engine/idle_rent.h"
#include "engine/park_policy.h"
#include "engine/plan_executor.h"
#include "engine/prefill_order.h"
#include "engine/pressure_ladder.h"
#include "engine/queue_books.h"
#include "engine/sampler.h"
#include "engine/sequence.h"
#include "engine/shed_door.h"
#include "engine/thread_governor.h"
#include "engine/token_chances.h"
#include "engine/token_stream.h"
#include "engine/waiting_room.h"
#include "engine/warm_prefix.h"
#include "model/model.h"

namespace zerohop {

class EngineLoop {
 public:
  EngineLoop(EngineParts parts, EngineOptions options);
  ~EngineLoop();
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;

  // ---- any thread ----

  /// A stream that rings this engine.
  std::shared_ptr<TokenStream> make_stream();

  /// Control tokens that stand for marks of tool calls and of thinking, with the texts of these
  /// (Constraints::set_marker_texts()). At most once, before anything else.
  void set_marker_texts(std::vector<std::pair<Token, std::string>> markers) {
    constraints_.set_marker_texts(std::move(markers));
  }

  /// Makes ready for requests with constraints: the first call takes some ten milliseconds, and
  /// whoever has time may make it before submit() has to. Errors: kInvalidRequest, for good:
  /// answers of this model cannot be constrained.
  Result<void> prepare_constraints() { return constraints_.prepare(); }

  /// Queues a request. Errors: kPromptTooLong, kOverloaded (queue full, or its tenant has
  /// its share of it), kShed (on the last rung of
  /// the pressure ladder, unless its tenant asks for less than its share; `detail` is
  /// "shed;<cause>"), kTimeout (its deadline is over), kShuttingDown, those of
  /// prepare_constraints(). A constraint that does not fit in the answer's tokens is found out when
  /// its turn comes, and ends it with kInvalidRequest before anything is computed.
  Result<void> submit(EngineRequest request);
  /// The same for the answers of one request, which are of one tenant and class: either all are
  /// queued or none, and pressure and the queue's bounds are asked once.
  Result<void> submit_all(std::vector<EngineRequest> answers);

  /// Queues a request for vectors; its on_done is called on the owner thread. Errors:
  /// kInvalidRequest (no embeddings here, or `input[i]` too long), kOverloaded, kShuttingDown.
  Result<std::shared_ptr<EmbeddingJob>> submit_embedding(EmbeddingRequest request);

  /// Puts a prefix into the prompt cache, once, and keeps it there. Errors: kPromptTooLong,
  /// kInvalidRequest (no tokens), kConfiguration (this engine reuses nothing), kOverloaded (more
  /// than limits::kWarmPrefixesMax), kShuttingDown.
  Result<void> submit_warm(WarmPrefix prefix);

  /// Why a request of that tenant and class would be refused now for the pressure; kNone: it would
  /// not.
  PressureCause sheds(TenantId tenant, PriorityClass priority) const {
    return door_.refuses(tenant, priority);
  }
  /// What a request of that tenant and class would find in front of it, right now.
  InFront in_front(TenantId tenant, PriorityClass priority) const {
    return books_.in_front(tenant, priority);
  }
  /// Of a prompt of so many tokens, those that will have to be computed, if the cache has as much
  /// of it as of earlier prompts.
  std::uint32_t likely_uncached(std::uint32_t prompt_tokens) const {
    return static_cast<std::uint32_t>(prompt_tokens * uncached_share_.load());
  }
  /// Whether the queue has no room for so many requests of `tenant`, whatever their length.
  std::optional<QueueBound> full_for(TenantId tenant, std::size_t requests = 1) const {
    return books_.full_for(tenant, requests);
  }
  /// PressureOptions::wait_max, from the next step on.
  void set_wait_max(Duration wait_max) { door_.set_wait_max(wait_max); }

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
  /// How long wait() sleeps if nobody calls; nothing: until then.
  std::optional<Duration> due_in() const;

  /// Ends every request that is still here with kShuttingDown.
  void fail_all();

  void check_integrity() const;

 private:
  using Inbox = BoundedQueue<EngineRequest>;

  // What it is asked for (engine_submit.cc)
  Result<QueueEntry> check_submitted(EngineRequest& request);
  static Error shutting_down();

  // What comes in, what ends before its time (engine_loop.cc)
  void take_inbox();
  void take_warm();
  SequencePtr make_sequence(EngineRequest request);
  void expect_first_token(Sequence& sequence) const;
  void end_dead();
  void end_early(Sequence& sequence);
  void leave_unstarted(const Sequence& sequence);
  void compute_step();
  void check_when_idle();
  Duration embedding_share() const;
  Duration embedding_budget() const;
  bool somebody_decodes() const;

  // Slots (engine_place.cc)
  void place_waiting();
  Sequence* next_to_place();
  bool hopeless(const Sequence& sequence, std::uint32_t uncached) const;
  void refuse_hopeless(Sequence& sequence);
  void refuse(Sequence& sequence, Error error);
  std::optional<Aside> prefix_to_wait_for(const Sequence& sequence);
  bool is_ready(const Sequence& sequence);
  std::uint32_t uncached_tokens(const Sequence& sequence) const;
  std::optional<Error> meter_refusal(Sequence& sequence) const;
  Sequence* find_running(WorkId id) const;
  bool place(Sequence& sequence);
  bool occupy(Sequence& sequence);
  Sequence& enter_running(SequencePtr sequence);
  void begin(Sequence& sequence);
  void set_output_limit(Sequence& sequence) const;
  std::uint32_t longest_answer(const Sequence& sequence) const;
  void shorten_softly(Sequence& sequence) const;
  void promise_cells();
  bool reserve(Sequence& sequence);
  bool promise(Sequence& sequence, std::uint32_t more);

  // Places that are given away (engine_park.cc)
  std::vector<ParkCandidate> park_candidates() const;
  void make_room(Sequence& sequence);
  bool park_for(const Sequence& waiter);
  bool park_slow_reader(Duration paused_max);
  void park(Sequence& sequence, ParkReason reason);
  void leave_running(Sequence& sequence);
  void release_slot(Sequence& sequence, Keep keep);
  void vacate(Sequence& sequence, Keep keep);

  // Rows (engine_plan.cc)
  bool plan();
  void gather_runnable();
  PlanInput plan_input(const Sequence& sequence) const;
  void rank_prompts();
  StepKind next_kind();
  void build_rows();
  DecodeStatus run();
  bool all_dead() const;
  bool outran() const;

  // Threads (engine_threads.cc)
  bool adapts_threads() const;
  void choose_threads();
  void learn_step(Duration took);
  bool note_threads();
  void note_outrun();
  void set_level(std::size_t level);

  // Commit (engine_commit.cc)
  void commit();
  void commit(Sequence& sequence);
  void advance(Sequence& sequence, std::uint32_t rows);
  std::optional<Token> draw(Sequence& sequence, std::size_t row);
  void accept(Sequence& sequence, Token token);
  bool let_out(Sequence& sequence, Token token);
  void finish(Sequence& sequence, FinishReason reason);
  void report_end(Sequence& sequence, FinishReason reason, std::string stop_sequence);
  void finish_warm(Sequence& sequence);
  void fail(Sequence& sequence, Error error, Keep keep);
  void forget(const Sequence& sequence);
  void emit(Sequence& sequence, Event event);
  void count_cancelled(const Sequence& sequence);
  void sweep();
  void wake_readers();

  // Constraints (engine_constrain.cc)
  std::optional<Error> find_constraint(Sequence& sequence);
  void begin_constraint(Sequence& sequence);
  void limit_by_meter(Sequence& sequence) const;
  void follow_soft(Sequence& sequence, Token token) const;
  static FinishReason end_reason(const Sequence& sequence, FinishReason reason);
  static bool closed_early(const Sequence& sequence);
  void let_out_forced(Sequence& sequence);

  // Drafts (engine_draft.cc)
  void plan_drafts(Duration time);
  bool may_draft() const;
  void propose(Sequence& sequence);
  void take_draft(Sequence& sequence, std::uint32_t count);
  static std::size_t legal_length(Sequence& sequence, std::span<const Token> draft);
  void follow_draft(Sequence& sequence, std::size_t begin);
  static std::size_t matching(const Sequence& sequence, std::size_t begin);
  void drop_draft(Sequence& sequence);

  // Failed steps (engine_recover.cc)
  void undo(DecodeStatus status);
  void blame_drafts();
  void undo_aborted();
  void undo_no_room();
  void undo_fatal();
  void retry_not_finite(Sequence& sequence);
  void start_over(std::span<Sequence* const> sequences);
  void undo_rows(Sequence& sequence);
  void discard_cells(Sequence& sequence);
  void trust_books(Sequence& sequence);

  // Cells that are moved together (engine_compact.cc)
  void compact();
  std::vector<Sequence*> who_waits() const;
  void follow(const SlotMove& move);

  // Pressure, and what is published (engine_pressure.cc)
  bool relieve_pressure();
  bool rents_cells() const;
  std::uint32_t idle_cells() const;
  void charge_rent();
  CachePlan park_idle(std::uint32_t cells_wanted);
  PressureInput pressure_input() const;
  void publish();
  void count_running();
  void count_cache();
  void measure_fragmentation();
  void estimate_rates();
  void limit_concurrency();
  void learn_request_time(const Sequence& sequence);

  const EngineOptions options_;
  const TokenTable& table_;
  const Clock& clock_;
  StreamWaker& waker_;
  const std::shared_ptr<Inbox> inbox_;
  const bool shares_prompts_;  // a prompt that begins like one in prefill waits for it

  // Any thread
  BoundedQueue<WarmPrefix> warm_inbox_;
  QueueBooks books_;                       // requests in the inbox, and new ones that wait
  std::atomic<double> uncached_share_{1};  // of prompts, since the start
  std::atomic<bool> stopping_{false};
  ShedDoor door_;
  mutable std::mutex snapshot_mutex_;
  EngineSnapshot published_;  // guarded by snapshot_mutex_

  // Owner thread
  std::unique_ptr<ModelContext> context_;
  PrefixCache cache_;
  PlanExecutor executor_;
  FairQueue queue_;
  WaitingRoom waiting_;
  PressureLadder ladder_;
  IdleRent rent_;
  AnswerLengths lengths_;
  FaultFinder faults_;
  MissExplainer misses_;
  CostModel cost_;
  std::optional<ConcurrencyControl> concurrency_;  // nothing: as many as there are places
  TimePoint next_check_{};                         // of all books
  std::optional<ThreadGovernor> threads_;          // nothing: their number is fixed
  Constraints constraints_;                        // prepare() from any thread
  Sampler sampler_;
  TokenChances chances_;
  Embedder embedder_;  // submit() and close() from any thread
  std::uint64_t next_id_ = 0;
  std::vector<SequencePtr> running_;  // in order of arrival
  EngineSnapshot state_;
  std::uint32_t soft_allowed_ = 0;  // requests here that allow a shorter answer
  TimePoint now_{};                 // of this step's plan

  // Owner thread, the step that runs now. step_sequences_ is also read by the compute threads
  // through the abort predicate, while the owner waits inside decode().
  std::vector<Sequence*> step_sequences_;
  std::vector<Sequence*> not_finite_;
  std::vector<PlanInput> inputs_;           // of step_sequences_
  std::vector<std::size_t> prompts_;        // of these, those that are no decoders
  std::vector<PrefillCandidate> prefills_;  // likewise
  std::vector<DraftOffer> offers_;          // of step_sequences_
  std::vector<BatchRow> rows_;
  StepSize step_size_;
  Duration sampling_{};  // of the tokens of this step
  ThreadGovernor::Choice choice_;
  // When the step has to make room for one with fewer threads; set before a decode and read by the
  // compute threads, as step_sequences_ is.
  std::optional<TimePoint> step_ends_;
  bool embedding_ = false;      // a piece of embeddings follows this step
  bool exact_prefill_ = false;  // the kind of the last exact step
  std::uint32_t sampled_ = 0;
  std::vector<EngineRequest> arrived_;
  std::vector<Sequence*> dead_;
  std::vector<Sequence*> short_;  // of promised cells
  std::vector<Event> stage_events_;
  std::vector<std::shared_ptr<TokenStream>> touched_;
};

}  // namespace zerohop
