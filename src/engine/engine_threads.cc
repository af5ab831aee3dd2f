// Threads: how many compute the next step, and what is learned of how long it took. See
// engine_loop.h and thread_governor.h.

#include <utility>

#include "engine/engine_loop.h"

namespace zerohop {

// A step that is stopped is undone, so tails must be cuttable.
bool EngineLoop::adapts_threads() const {
  return options_.adaptive_threads && options_.exactness == Exactness::kFast &&
         context_->capabilities().can_cut_tail && context_->threads() > 1;
}

void EngineLoop::set_level(std::size_t level) {
  const std::uint32_t threads = threads_->threads(level);
  if (threads == context_->threads()) return;
  context_->set_threads(threads);
  ++state_.thread_changes;
}

void EngineLoop::choose_threads() {
  step_ends_.reset();
  if (!threads_) return;
  const TimePoint now = clock_.now();
  choice_ = threads_->choose(now);
  set_level(choice_.level);
  if (choice_.limit) step_ends_ = now + cost_.at_slowness(step_size_, *choice_.limit);
}

// Predictions are for the number that is settled for. True: it is another one now.
bool EngineLoop::note_threads() {
  const std::uint32_t now = threads_->threads();
  if (std::exchange(state_.threads, now) == now) return false;
  cost_.expect_slowness(threads_->expected(threads_->level()));
  return true;
}

// A probe says nothing about the number of threads that predictions are for, unless it is the new
// one.
void EngineLoop::learn_step(Duration took) {
  if (!threads_) return cost_.learn(step_size_, took);
  threads_->finished(choice_, cost_.slowness(step_size_, took), clock_.now());
  if (!note_threads() && !choice_.probe) cost_.learn(step_size_, took);
}

void EngineLoop::note_outrun() {
  ++state_.steps_outrun;
  threads_->stopped(choice_, clock_.now());
  note_threads();
}

// Polled by the compute threads: the step takes so long that fewer of them would be quicker.
bool EngineLoop::outran() const { return step_ends_ && clock_.now() >= *step_ends_; }

}  // namespace zerohop
