// Makes vectors in the pauses of the step loop: a bounded piece of work between two steps, on a
// context of its own, so that running streams keep their pace.
//
// Jobs take turns. A piece holds rows of one job: the rest or a part of one input, then further
// inputs that fit whole; only a long input is cut, and it goes on in the next piece.
//
//   piece 1   | input 0, rows 0–63                    |   long: cut
//   piece 2   | input 0, rows 64–79 | input 1 | 2 | 3 |   the rest, then what fits whole
//
// A model that looks at the whole text (AttentionType::kWholeText) gets every input whole; its
// pieces are then as long as that takes.
//
// Each input of a piece has a slot of the context; an input's cells go when it is done, so at most
// one input holds cells between two pieces.
//
// Threads: submit() and close() from any; the rest from the engine thread, which owns the object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "engine/cost_model.h"
#include "engine/embedding_job.h"
#include "engine/pooling.h"

namespace zerohop {

struct EmbedderOptions {
  std::size_t queue_max = 0;  ///< jobs that were accepted and have not ended
  /// The same input is cut into the same pieces and computed alone, whatever else runs.
  bool exact = false;
  const Clock* clock = nullptr;
  std::function<bool()> stopping;  ///< polled by the compute threads: the work must end now
};

class Embedder {
 public:
  Embedder(EmbeddingSupport support, EmbedderOptions options);
  /// Everything must have ended (fail_all).
  ~Embedder();

  // ---- any thread ----

  /// Errors: kInvalidRequest (this model makes no vectors; an input too long, `field` is
  /// `input[i]`), kOverloaded (queue full), kShuttingDown. With an error on_done is not called.
  Result<std::shared_ptr<EmbeddingJob>> submit(EmbeddingRequest request,
                                               std::function<void()> ring_engine);

  /// Refuses further jobs.
  void close() { inbox_.close(); }

  // ---- engine thread ----

  /// Takes what was submitted and ends what was cancelled. True when there is something to compute.
  bool take_work();

  /// What the smallest piece will take; known before step(), so that others can leave it the time.
  Duration smallest_piece() const;

  /// Computes one piece within about `budget`; take_work() must have said that there is one.
  void step(Duration budget);

  /// Ends every job with `error`.
  void fail_all(const Error& error);

  std::uint32_t jobs_waiting() const { return static_cast<std::uint32_t>(waiting_.load()); }
  std::uint64_t tokens_computed() const { return tokens_computed_; }

 private:
  struct Work {
    std::shared_ptr<EmbeddingJob> job;
    EmbeddingRequest request;
    Embeddings result;
    std::size_t input = 0;     // that is computed now
    std::size_t computed = 0;  // tokens of it
    std::uint32_t retries = 0;
  };
  /// Rows [begin, begin + rows) of an input in one piece.
  struct Part {
    std::size_t input = 0;
    std::size_t begin = 0;
    std::size_t rows = 0;
    SlotId slot;
  };

  Result<void> check(const EmbeddingRequest& request) const;
  bool open_context();
  bool whole_inputs() const { return support_.attention == AttentionType::kWholeText; }
  std::size_t rows_min() const;
  std::size_t rows_for(Duration budget, std::size_t computed) const;
  void plan(const Work& work, std::size_t rows_max);
  void add_part(const Work& work, Part part);
  bool collect(Work& work);
  void repeat(Work& work, DecodeStatus status);
  void free_cells();
  void end(Work& work, Result<Embeddings> result);
  void end_front(Result<Embeddings> result);

  const EmbeddingSupport support_;
  const EmbedderOptions options_;

  // Any thread
  BoundedQueue<Work> inbox_;
  std::atomic<std::size_t> waiting_{0};  // jobs that have not ended

  // Engine thread
  std::deque<Work> jobs_;  // the front one computes
  std::unique_ptr<ModelContext> context_;
  CostModel cost_;
  Pooler pooler_;
  std::vector<Part> parts_;  // of the piece that runs now
  std::vector<BatchRow> rows_;
  StepSize size_;
  const EmbeddingJob* running_ = nullptr;  // read by the compute threads during a decode
  std::uint64_t tokens_computed_ = 0;
};

}  // namespace zerohop
