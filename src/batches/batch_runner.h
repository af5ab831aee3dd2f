// Takes pending requests of message batches to whoever computes them, and their results back.
//
// A request on its way:
//
//             poll(): submit                    settle()                  stored
//   pending ─────────────────▶ running ───────────────────────▶ unsaved ─────────▶ (settled)
//      ▲                          │                                │  ▲
//      └───────── give_back() ────┘                  store fails ──┘  └── next poll(), again
//
//   pending   in the store without a result; here only the place up to which each batch was handed
//             out is known
//   running   submitted; at most `parallelism` of them
//   unsaved   has a result that could not be written yet: nothing new is submitted meanwhile
//
// Batches have the lowest priority: a request is submitted only while may_submit() says that nobody
// else waits. Batches take turns, requests of one go in order. One whose request was given back
// until a later time, because the limits of its owner do not admit it yet, gets no turn before. A
// batch that is cancelled or expires has its pending requests settled at once; those that run are
// asked to stop, and an answer that still comes counts. The next process goes on where this one
// ended: what was running is pending in the store.
//
// One thread at a time, which must not be an I/O or engine thread (the store waits for the disk).
// Callbacks come on that thread, inside poll(); submit and cancel may call settle() or give_back()
// at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "batches/batch_store.h"

namespace zerohop {

struct BatchRunnerParts {
  BatchStore* store = nullptr;
  const Clock* clock = nullptr;
  /// Whether there is nothing better to compute right now.
  std::function<bool()> may_submit;
  /// Computes a request; exactly one call of settle() or give_back() answers it.
  std::function<void(BatchRequest)> submit;
  /// The answer to a running request is no longer wanted: it should be settled soon, as kCanceled
  /// where there is no answer.
  std::function<void(BatchRequestKey)> cancel;
};

struct BatchRunnerState {
  std::size_t open = 0;     ///< batches that have not ended
  std::size_t running = 0;  ///< requests
  std::size_t unsaved = 0;  ///< results that the store did not take yet
  /// Something is pending that may_submit() kept back: poll again soon.
  bool waits_for_engine = false;
  /// The store failed in the last poll: poll again later.
  bool store_failed = false;
  std::optional<WallTime> next_expiry;  ///< of the open batches: poll again then
  std::optional<TimePoint> next_turn;   ///< of a batch that has to wait: likewise
};

class BatchRunner {
 public:
  /// `parallelism`: most requests that run at once; ≥ 1.
  BatchRunner(BatchRunnerParts parts, std::size_t parallelism);

  /// Does whatever is due. To be called at start, after create(), cancel(), settle() and
  /// give_back(), and at the times that the returned state names.
  BatchRunnerState poll();

  /// The result of a running request. kCanceled for one that nobody asked to stop is a bug of the
  /// caller: it has give_back() for that.
  void settle(BatchSettlement settlement);

  /// A running request was not answered and is to be submitted again (the engine was full, or the
  /// server is shutting down), and before `not_before` nothing of its batch.
  void give_back(BatchRequestKey key, std::optional<TimePoint> not_before = std::nullopt);

 private:
  struct Running {
    BatchRequest request;
    std::optional<BatchOutcome> ending;  // why it was asked to stop
  };

  bool save_results();
  bool wind_down(const OpenBatch& batch, WallTime now);
  void stop_running(std::int64_t batch, BatchOutcome outcome);
  bool submit_pending(const std::vector<OpenBatch>& open);
  Result<std::optional<BatchRequest>> next(const std::vector<OpenBatch>& open);
  std::optional<BatchRequest> take_returned(std::int64_t batch);
  void archive(WallTime now);
  void forget_ended(const std::vector<OpenBatch>& open);
  bool has_capacity() const;
  std::int64_t handed_out(std::int64_t batch) const;
  bool waits(std::int64_t batch) const;

  const BatchRunnerParts parts_;
  const std::size_t parallelism_;

  std::map<BatchRequestKey, Running> running_;
  std::deque<BatchRequest> returned_;  // given back; before what is pending
  std::vector<BatchSettlement> unsaved_;
  std::map<std::int64_t, std::int64_t> handed_out_;  // by batch: up to this position
  std::map<std::int64_t, TimePoint> turn_at_;        // by batch: not before
  std::int64_t last_served_ = 0;                     // batch
  std::optional<WallTime> archived_at_;              // last look for old results
  bool waits_for_engine_ = false;
};

}  // namespace zerohop
