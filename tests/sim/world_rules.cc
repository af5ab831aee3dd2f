// What must hold in a world: after every step, after every round, at the end.

#include <algorithm>

#include "world.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kTicksMax = 100'000;

// While somebody watches tokens arrive, a step takes at most five quarters of the ITL objective.
// The planner aims at one; the cost model learns the machine as it goes. Worst of 3,000
// worlds: 1.20 in the first steps, 1.14 later.
constexpr std::int64_t kStepQuartersMax = 5;

}  // namespace

std::uint64_t World::work_of_all() const {
  std::uint64_t sum = 0;
  for (const Call& call : calls_) sum += call.client->work() + 1;
  return sum;
}

// The length of a step is exact: only the model moves the clock.
void World::check_step(Duration took) {
  if (!probe_.somebody_waits()) return;
  const Duration objective = std::chrono::milliseconds(options_.engine.itl_objective_ms);
  require(took <= std::max(objective * kStepQuartersMax / 4, probe_.least_cost()),
          "a step of " + std::to_string(took.count() / 1'000) + " us while somebody waits");
}

// In every step each decoder gets its token, unless its reader lags, and the prompts advance.
// Whoever went away since the last step may have been any of those that were counted then.
void World::check_progress(const EngineSnapshot& before) {
  const EngineSnapshot after = tier_->snapshot();
  require(
      after.steps_aborted == before.steps_aborted || stopping_ || left_inside_ >= probe_.slots(),
      "a decode was aborted although somebody in it is alive");
  if (stopping_ || probe_.recovering()) return;
  require(probe_.singles() + leavers_ >= before.decoding - before.paused,
          "a decoder was passed over");
  require(probe_.rows() > probe_.decoders() || probe_.rows() == options_.engine.batch_rows ||
              before.prefilling <= leavers_,
          "no prompt advanced");
}

// Two of the clients in the engine, or just gone from there, begin with the same tile of tokens.
bool World::prompts_overlap() const {
  std::vector<std::vector<Token>> beginnings;
  const auto add = [&beginnings](const SimClient& client) {
    if (!client.entered_engine() || client.prompt().size() < limits::kRowTile) return;
    const auto begin = client.prompt().begin();
    beginnings.emplace_back(begin, begin + limits::kRowTile);
  };
  for (const Call& call : calls_) add(*call.client);
  for (const auto& client : gone_) add(*client);
  std::sort(beginnings.begin(), beginnings.end());
  return std::adjacent_find(beginnings.begin(), beginnings.end()) != beginnings.end();
}

// Nobody waits beside a free slot with a whole window of cells, unless for a prefix that is being
// computed.
void World::check_placing(const EngineSnapshot& before) {
  const EngineSnapshot after = tier_->snapshot();
  const bool somebody_ended = after.requests_finished + after.requests_failed !=
                              before.requests_finished + before.requests_failed;
  if (somebody_ended || after.queued == 0) return;
  if (after.prefilling > 0 && prompts_overlap()) return;
  require(after.running() == options_.engine.sequences ||
              after.cells_total - after.cells_reserved < options_.engine.context_tokens,
          "a request waits although there is room for it");
}

void World::check_round(bool stepped) {
  require(tick_ < kTicksMax, "the world does not come to an end");
  if (!stopped_) tier_->loop().check_integrity();
  const auto live = std::count_if(calls_.begin(), calls_.end(),
                                  [](const Call& call) { return !call.client->over(); });
  require(admission_.in_flight() == static_cast<std::size_t>(live),
          "permits out and live requests differ");
  const EngineSnapshot snapshot = tier_->snapshot();
  check_books(snapshot);
  if (snapshot.paused > 0) ++counts_["paused"];
  if (snapshot.queued > 0 && snapshot.running() < options_.engine.sequences) {
    ++counts_["waited for cells"];
  }
  if (!stepped && !stopping_) {
    require(snapshot.running() == snapshot.paused, "nothing was computed although somebody could");
    require(snapshot.queued == 0 || snapshot.running() > 0, "the queue waits for nobody");
  }
  check_patience(stepped);
}

void World::check_books(const EngineSnapshot& snapshot) {
  require(snapshot.running() <= options_.engine.sequences, "more sequences run than there are");
  require(snapshot.paused <= snapshot.decoding, "more are paused than decode");
  require(snapshot.cells_reserved + snapshot.cells_cached <= snapshot.cells_total,
          "more cells are promised than there are");
  require((snapshot.cells_reserved == 0) == (snapshot.running() == 0),
          "cells are reserved for nobody, or somebody runs without");
  const std::uint64_t cancelled =
      snapshot.cancelled_queued + snapshot.cancelled_prefill + snapshot.cancelled_decode;
  require(submitted_ == snapshot.requests_finished + snapshot.requests_failed + cancelled +
                            snapshot.queued + snapshot.running(),
          "requests went missing: " + std::to_string(submitted_) + " submitted, " +
              std::to_string(snapshot.requests_finished) + " finished, " +
              std::to_string(snapshot.requests_failed) + " failed, " + std::to_string(cancelled) +
              " cancelled, " + std::to_string(snapshot.queued) + " queued, " +
              std::to_string(snapshot.running()) + " running");
}

// Every step computes at least one token of what was there before a request and with it; so a
// request waits no longer than all of that. A reader that lags may hold others up; such steps are
// not counted.
void World::check_patience(bool stepped) {
  if (!stepped || tier_->snapshot().paused > 0) return;
  for (Call& call : calls_) {
    if (!call.client->reads_at_once()) continue;
    require(call.patience > 0, "client " + std::to_string(call.client->number()) + " starves");
    --call.patience;
  }
}

void World::check_refusal(const SimClient& client, std::size_t in_flight_before) {
  const ErrorCode code = client.error()->code;
  ++counts_["refused: " + std::string(error_traits(code).name)];
  switch (code) {
    case ErrorCode::kOverloaded:
      return require(in_flight_before == options_.requests_max, "refused although there was room");
    case ErrorCode::kShuttingDown:
      return require(admission_.closed() || stopping_, "refused although the door is open");
    case ErrorCode::kInvalidRequest:
      return require(client.request().malformed, "a good request was refused");
    case ErrorCode::kPromptTooLong:
      return require(!oracle_.answer(client.request().body), "a prompt that fits was refused");
    default: return trace_.fail("a request was refused for a wrong reason");
  }
}

// After it was let in.
void World::check_failure(const SimClient& client) {
  if (!client.entered_engine()) return;
  const ErrorCode code = client.error()->code;
  ++counts_["failed: " + std::string(error_traits(code).name)];
  if (code == ErrorCode::kShuttingDown) return require(stopping_, "told of a stop that is none");
  require(code == ErrorCode::kModelFailure, "failed for a wrong reason");
}

// In order of arrival: nobody overtakes.
void World::check_places() {
  std::sort(places_.begin(), places_.end());
  for (std::size_t i = 1; i < places_.size(); ++i) {
    require(places_[i - 1].second <= places_[i].second,
            "client " + std::to_string(places_[i].first) + " overtook another");
  }
}

void World::check_end() {
  while (tier_->loop().step()) {
  }
  waker_.deliver();
  for (const auto& client : gone_) require(!client->lingers(), "a stream outlives its request");
  const EngineSnapshot snapshot = tier_->snapshot();
  check_books(snapshot);
  require(snapshot.queued + snapshot.running() == 0, "requests are left at the end");
  require(snapshot.cells_reserved == 0, "cells are reserved at the end");
  require(admission_.in_flight() == 0, "permits are out at the end");
  const std::uint64_t failures =
      stopped_ ? counts_["failed: model_failure"] : snapshot.requests_failed;
  require(failures <= probe_.failures_allowed(), "more requests failed than met two faults");
  const std::uint64_t cancelled =
      snapshot.cancelled_queued + snapshot.cancelled_prefill + snapshot.cancelled_decode;
  require(failures == probe_.failures_allowed() || stopping_ || cancelled > 0,
          "a request met two faults and did not fail");
  require(oracle_.disagreements() == 0, "the engine alone and the plain loop disagree");
  check_places();
  counts_["fatal step"] += probe_.fatal();
  counts_["step without room"] += probe_.no_room();
  counts_["aborted step"] += snapshot.steps_aborted;
  counts_["cancelled in the queue"] += snapshot.cancelled_queued;
  counts_["cancelled in prefill"] += snapshot.cancelled_prefill;
  counts_["cancelled in decode"] += snapshot.cancelled_decode;
}

}  // namespace zerohop
