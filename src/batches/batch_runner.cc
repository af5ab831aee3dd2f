#include "batches/batch_runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace zerohop {
namespace {

// Results live for 29 days; an hour more does not matter.
constexpr std::chrono::hours kArchiveInterval{1};

}  // namespace

BatchRunner::BatchRunner(BatchRunnerParts parts, std::size_t parallelism)
    : parts_(std::move(parts)), parallelism_(parallelism) {
  ZH_CHECK(parts_.store != nullptr && parts_.clock != nullptr && parallelism_ >= 1);
  ZH_CHECK(parts_.may_submit && parts_.submit && parts_.cancel);
}

BatchRunnerState BatchRunner::poll() {
  const WallTime now = parts_.clock->wall();
  waits_for_engine_ = false;
  BatchRunnerState state;
  state.store_failed = !save_results();
  Result<std::vector<OpenBatch>> found = parts_.store->open_batches();
  if (!found.ok()) {
    state.store_failed = true;
    state.running = running_.size();
    state.unsaved = unsaved_.size();
    return state;
  }
  const std::vector<OpenBatch>& open = *found;
  forget_ended(open);
  std::vector<OpenBatch> live;
  for (const OpenBatch& batch : open) {
    if (!batch.canceling && batch.expires_at > now) {
      live.push_back(batch);
      state.next_expiry = std::min(state.next_expiry.value_or(batch.expires_at), batch.expires_at);
    } else if (!wind_down(batch, now)) {
      state.store_failed = true;
    }
  }
  if (!submit_pending(live)) state.store_failed = true;
  archive(now);
  // Anew: some may have ended just now.
  const Result<std::vector<OpenBatch>> left = parts_.store->open_batches();
  state.open = left.ok() ? left->size() : open.size();
  state.running = running_.size();
  state.unsaved = unsaved_.size();
  state.waits_for_engine = waits_for_engine_;
  for (const auto& [batch, time] : turn_at_) {
    state.next_turn = std::min(state.next_turn.value_or(time), time);
  }
  return state;
}

// ---- results ----

void BatchRunner::settle(BatchSettlement settlement) {
  const auto found = running_.find(settlement.key);
  ZH_CHECK(found != running_.end());
  const std::optional<BatchOutcome> ending = found->second.ending;
  if (settlement.outcome == BatchOutcome::kCanceled) {
    ZH_CHECK(ending.has_value());
    settlement.outcome = *ending;
  }
  running_.erase(found);
  unsaved_.push_back(std::move(settlement));
  save_results();
}

// One that was asked to stop is not wanted again.
void BatchRunner::give_back(BatchRequestKey key, std::optional<TimePoint> not_before) {
  const auto found = running_.find(key);
  ZH_CHECK(found != running_.end());
  if (found->second.ending) {
    settle({key, BatchOutcome::kCanceled, {}});
    return;
  }
  returned_.push_back(std::move(found->second.request));
  running_.erase(found);
  if (!not_before) return;
  TimePoint& turn = turn_at_.try_emplace(key.batch, *not_before).first->second;
  turn = std::max(turn, *not_before);
}

// False while a result could not be written.
bool BatchRunner::save_results() {
  while (!unsaved_.empty()) {
    if (!parts_.store->settle(unsaved_.back(), parts_.clock->wall()).ok()) return false;
    unsaved_.pop_back();
  }
  return true;
}

// ---- the end of a batch before its time ----

bool BatchRunner::wind_down(const OpenBatch& batch, WallTime now) {
  const BatchOutcome outcome = batch.canceling ? BatchOutcome::kCanceled : BatchOutcome::kExpired;
  stop_running(batch.number, outcome);
  while (std::optional<BatchRequest> request = take_returned(batch.number)) {
    unsaved_.push_back({request->key, outcome, {}});
  }
  const bool saved = save_results();
  const BatchRequestKey after{batch.number, handed_out(batch.number)};
  return parts_.store->settle_rest(after, outcome, now).ok() && saved;
}

// The callback may settle a request at once, so the keys are collected first.
void BatchRunner::stop_running(std::int64_t batch, BatchOutcome outcome) {
  std::vector<BatchRequestKey> keys;
  for (auto& [key, running] : running_) {
    if (key.batch != batch || running.ending) continue;
    running.ending = outcome;
    keys.push_back(key);
  }
  for (const BatchRequestKey key : keys) parts_.cancel(key);
}

// ---- what comes next ----

bool BatchRunner::has_capacity() const {
  return running_.size() < parallelism_ && unsaved_.empty();
}

std::int64_t BatchRunner::handed_out(std::int64_t batch) const {
  const auto found = handed_out_.find(batch);
  return found == handed_out_.end() ? -1 : found->second;
}

bool BatchRunner::waits(std::int64_t batch) const {
  const auto found = turn_at_.find(batch);
  return found != turn_at_.end() && found->second > parts_.clock->now();
}

std::optional<BatchRequest> BatchRunner::take_returned(std::int64_t batch) {
  const auto found =
      std::find_if(returned_.begin(), returned_.end(),
                   [batch](const BatchRequest& request) { return request.key.batch == batch; });
  if (found == returned_.end()) return std::nullopt;
  std::optional<BatchRequest> request(std::move(*found));
  returned_.erase(found);
  return request;
}

// False when the store failed. The engine is asked only when there is something to submit, so that
// an answer of no means waiting.
bool BatchRunner::submit_pending(const std::vector<OpenBatch>& open) {
  while (has_capacity()) {
    Result<std::optional<BatchRequest>> found = next(open);
    if (!found.ok()) return false;
    if (!found->has_value()) return true;
    BatchRequest request = std::move(**found);
    const BatchRequestKey key = request.key;
    if (!parts_.may_submit()) {
      returned_.push_front(std::move(request));
      waits_for_engine_ = true;
      return true;
    }
    last_served_ = key.batch;
    running_.emplace(key, Running{request, std::nullopt});
    parts_.submit(std::move(request));
    // Given back at once: the engine has no room, whatever may_submit() said.
    if (!returned_.empty() && returned_.back().key == key && !waits(key.batch)) {
      waits_for_engine_ = true;
      return true;
    }
  }
  return true;
}

// The batches take turns, beginning behind the one that was served last.
Result<std::optional<BatchRequest>> BatchRunner::next(const std::vector<OpenBatch>& open) {
  const auto first = std::find_if(open.begin(), open.end(), [this](const OpenBatch& batch) {
    return batch.number > last_served_;
  });
  const auto skipped = static_cast<std::size_t>(first - open.begin());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::int64_t number = open[(skipped + i) % open.size()].number;
    if (waits(number)) continue;
    if (std::optional<BatchRequest> request = take_returned(number)) return request;
    ZH_ASSIGN_OR_RETURN(std::optional<BatchRequest> request,
                        parts_.store->next_pending(number, handed_out(number)));
    if (!request) continue;
    handed_out_[number] = request->key.position;
    return request;
  }
  return std::optional<BatchRequest>();
}

// ---- housekeeping ----

void BatchRunner::forget_ended(const std::vector<OpenBatch>& open) {
  const auto ended = [&open](const auto& entry) {
    return std::none_of(open.begin(), open.end(),
                        [&entry](const OpenBatch& batch) { return batch.number == entry.first; });
  };
  std::erase_if(handed_out_, ended);
  std::erase_if(turn_at_,
                [this, &ended](const auto& entry) { return ended(entry) || !waits(entry.first); });
}

void BatchRunner::archive(WallTime now) {
  if (archived_at_ && now - *archived_at_ < kArchiveInterval) return;
  if (parts_.store->archive_old(now).ok()) archived_at_ = now;
}

}  // namespace zerohop
