// A light simulation of scheduling alone, for tests of the policy: the real queue, planner, order
// of prompts and parking, and a machine that is a formula. No model, no cells, no cache. Time is
// counted in steps of that machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/check.h"
#include "core/fair_queue.h"
#include "engine/batch_planner.h"
#include "engine/park_policy.h"
#include "engine/prefill_order.h"

namespace zerohop {

struct SimulatedRequest {
  TimePoint arrived_at{};
  TenantId tenant;
  std::uint32_t prompt = 0;
  std::uint32_t output = 1;
};

enum class SimulatedOrder : std::uint8_t { kArrival, kFair };

struct SimulationOptions {
  SimulatedOrder order = SimulatedOrder::kFair;
  std::uint32_t sequences = 8;
  Duration itl_objective{std::chrono::milliseconds(100)};
  FairQueueOptions queue;
  ParkOptions park;
};

struct SimulationResult {
  std::vector<Duration> first_token;  ///< since arrival, by request
  std::vector<Duration> end;          ///< since arrival, by request
  Duration total{};                   ///< until the last one ended
  std::uint64_t parks = 0;
  Duration longest_step{};
};

class FairnessSimulation {
 public:
  /// `requests` in order of arrival.
  FairnessSimulation(const std::vector<SimulatedRequest>& requests, SimulationOptions options)
      : requests_(requests), options_(options), queue_(with_sequences(options)) {
    result_.first_token.resize(requests.size());
    result_.end.resize(requests.size());
  }

  SimulationResult run() {
    while (ended_ < requests_.size()) {
      take_arrivals();
      if (options_.order == SimulatedOrder::kFair) {
        start_fair();
      } else {
        start_by_arrival();
      }
      if (running_.empty()) {
        now_ = requests_[arrived_].arrived_at;
        continue;
      }
      step();
    }
    result_.total = now_ - requests_.front().arrived_at;
    return result_;
  }

 private:
  struct Progress {
    std::uint32_t computed = 0;
    std::uint32_t generated = 0;
    TimePoint started_at{};
  };

  static FairQueueOptions with_sequences(const SimulationOptions& options) {
    FairQueueOptions queue = options.queue;
    queue.sequences = options.sequences;
    return queue;
  }

  void take_arrivals() {
    for (; arrived_ < requests_.size() && requests_[arrived_].arrived_at <= now_; ++arrived_) {
      waiting_.push_back(arrived_);
      if (options_.order == SimulatedOrder::kFair) push(arrived_);
    }
  }

  void push(std::size_t i) {
    QueuedWork work;
    work.id = WorkId(i);
    work.tenant = requests_[i].tenant;
    work.uncached_tokens = pending(i);
    work.arrived_at = requests_[i].arrived_at;
    queue_.push(work);
  }

  void start(std::size_t i) {
    progress_[i].started_at = now_;
    running_.insert(i);
  }

  void start_by_arrival() {
    while (!waiting_.empty() && running_.size() < options_.sequences) {
      start(waiting_.front());
      waiting_.pop_front();
    }
  }

  void start_fair() {
    for (;;) {
      if (const auto id = queue_.next(now_)) {
        queue_.start(*id, now_);
        start(id->value);
      } else if (!park_one()) {
        return;
      }
    }
  }

  bool park_one() {
    const std::optional<WorkId> head = queue_.head(now_);
    if (!head) return false;
    std::vector<ParkCandidate> candidates;
    const std::vector<std::size_t> ids(running_.begin(), running_.end());
    for (const std::size_t i : ids) {
      ParkCandidate candidate;
      candidate.tenant = requests_[i].tenant;
      candidate.counter = queue_.counter(WorkId(i));
      candidate.arrived_at = requests_[i].arrived_at;
      candidate.started_at = progress_[i].started_at;
      candidates.push_back(candidate);
    }
    const ParkWaiter waiter{PriorityClass::kStandard, requests_[head->value].tenant,
                            queue_.counter(*head)};
    const auto choice = park_for_fairness(candidates, waiter, options_.park, now_);
    if (!choice) return false;
    const std::size_t parked = ids[choice->index];
    if (queue_.next_without(WorkId(parked), now_) != head) return false;
    queue_.stopped(WorkId(parked));
    queue_.start(*head, now_);
    push(parked);
    running_.erase(parked);
    start(head->value);
    ++result_.parks;
    return true;
  }

  // Tokens to compute before the next one can be sampled.
  std::uint32_t pending(std::size_t i) const {
    const auto found = progress_.find(i);
    const Progress progress = found == progress_.end() ? Progress{} : found->second;
    return requests_[i].prompt + progress.generated - progress.computed;
  }

  void step() {
    const std::vector<std::size_t> ids(running_.begin(), running_.end());
    const std::vector<PlanInput> inputs = inputs_of(ids);
    PlanOptions plan;
    plan.itl_objective = options_.itl_objective;
    plan.rows_max = 512;
    plan.logit_rows_max = 256;
    const std::vector<std::uint32_t> rows = plan_rows(inputs, cost_, plan);
    StepSize size;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (rows[k] > 0) size.add(rows[k], inputs[k].computed);
    }
    const Duration took = machine(size);
    cost_.learn(size, took);
    now_ += took;
    result_.longest_step = std::max(result_.longest_step, took);
    for (std::size_t k = 0; k < ids.size(); ++k) advance(ids[k], rows[k]);
  }

  std::vector<PlanInput> inputs_of(const std::vector<std::size_t>& ids) const {
    std::vector<PlanInput> inputs;
    std::vector<PrefillCandidate> prompts;
    std::vector<std::size_t> places;
    for (const std::size_t i : ids) {
      const Progress& progress = progress_.at(i);
      inputs.push_back({pending(i), progress.computed, progress.generated > 0});
      if (progress.generated > 0 || options_.order == SimulatedOrder::kArrival) continue;
      PrefillCandidate prompt;
      prompt.tenant = requests_[i].tenant;
      prompt.counter = queue_.counter(WorkId(i));
      prompt.pending = pending(i);
      prompt.started_at = progress.started_at;
      prompts.push_back(prompt);
      places.push_back(inputs.size() - 1);
    }
    const std::vector<PrefillRank> ranks = rank_prefills(prompts, PrefillOrderOptions{}, now_);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      inputs[places[k]].rank = ranks[k].rank;
      inputs[places[k]].aged = ranks[k].aged;
    }
    return inputs;
  }

  void advance(std::size_t i, std::uint32_t rows) {
    if (rows == 0) return;
    Progress& progress = progress_.at(i);
    progress.computed += rows;
    const bool fair = options_.order == SimulatedOrder::kFair;
    if (fair) queue_.charge(WorkId(i), rows);
    if (pending(i) > 0) return;
    if (++progress.generated == 1) result_.first_token[i] = now_ - requests_[i].arrived_at;
    if (progress.generated < requests_[i].output) return;
    result_.end[i] = now_ - requests_[i].arrived_at;
    if (fair) queue_.stopped(WorkId(i));
    running_.erase(i);
    progress_.erase(i);
    ++ended_;
  }

  // Two cores and a model of 135 million parameters, about: a row costs 2.2 ms among a few, 1.4 ms
  // among many.
  static Duration machine(const StepSize& size) {
    const double rows = size.rows;
    const double many = std::clamp((rows - 8) / 56, 0.0, 1.0);
    const double row = 2.2e-3 - 0.8e-3 * many;
    return from_seconds(4e-3 + row * rows + 0.2e-6 * static_cast<double>(size.cells_read));
  }

  const std::vector<SimulatedRequest>& requests_;
  const SimulationOptions options_;
  FairQueue queue_;
  CostModel cost_;
  TimePoint now_{};
  std::size_t arrived_ = 0;
  std::size_t ended_ = 0;
  std::deque<std::size_t> waiting_;  // used by kArrival
  std::set<std::size_t> running_;    // in order of arrival
  std::map<std::size_t, Progress> progress_;
  SimulationResult result_;
};

}  // namespace zerohop
