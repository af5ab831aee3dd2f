// What must hold in a world: after every step, after every round, at the end.

#include <algorithm>

#include "world.h"

namespace zerohop {
namespace {

constexpr std::uint64_t kTicksMax = 100'000;

// While somebody watches tokens arrive, a step takes at most three halves of the ITL objective, or
// where decoders leave little of that, twice the least that such a step could take. The planner
// aims at one; the cost model learns the machine as it goes, and what it learned from single rows
// says little of a piece of a prompt: 1.28 was seen in such a first step.
constexpr std::int64_t kStepHalvesMax = 3;
constexpr std::int64_t kLeastCostsMax = 2;

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
  require(took <= std::max(objective * kStepHalvesMax / 2, probe_.least_cost() * kLeastCostsMax),
          "a step of " + std::to_string(took.count() / 1'000) + " us while somebody waits");
}

// What is parked may have to be computed again, and whoever goes on catches up like a prompt.
void World::note_parks(const EngineSnapshot& before) {
  const EngineSnapshot after = tier_->snapshot();
  const auto parks = [](const EngineSnapshot& snapshot) {
    return snapshot.parks_for_cells + snapshot.parks_for_fairness + snapshot.parks_for_readers;
  };
  const std::uint64_t parked = parks(after) - parks(before);
  if (parked + after.resumes - before.resumes == 0) return;
  last_park_ = probe_.decodes();
  for (Call& call : calls_) call.patience += parked * options_.engine.context_tokens;
}

bool World::unsettled() const {
  const bool parks = last_park_ > 0 && probe_.decodes() - last_park_ < 100;
  return parks || probe_.recovering();
}

// In every step each decoder gets its token, unless its reader lags, and the prompts advance.
// Whoever went away since the last step may have been any of those that were counted then.
void World::check_progress(const EngineSnapshot& before) {
  const EngineSnapshot after = tier_->snapshot();
  require(
      after.steps_aborted == before.steps_aborted || stopping_ || left_inside_ >= probe_.slots(),
      "a decode was aborted although somebody in it is alive");
  if (stopping_ || unsettled()) return;
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
  if (somebody_ended || after.queued == 0 || probe_.recovering()) return;
  const bool prefilled = after.prompt_tokens_computed > before.prompt_tokens_computed;
  if (prefilled && prompts_overlap()) return;
  require(after.running() == options_.engine.sequences ||
              after.cells_total - after.cells_active - after.cells_reserved <
                  options_.engine.context_tokens,
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
  const std::uint32_t used = snapshot.cells_active + snapshot.cells_reserved;
  require(used + snapshot.cells_cached <= snapshot.cells_total,
          "more cells are promised than there are");
  require((used == 0) == (snapshot.running() == 0),
          "cells are reserved for nobody, or somebody runs without");
  require(snapshot.host_bytes <= options_.engine.host_cache_bytes, "host memory exceeds its cap");
  const std::uint64_t cancelled =
      snapshot.cancelled_queued + snapshot.cancelled_prefill + snapshot.cancelled_decode;
  require(submitted_ == snapshot.requests_finished + snapshot.requests_failed + cancelled +
                            snapshot.queued + snapshot.running() + snapshot.parked_requests,
          "requests went missing: " + std::to_string(submitted_) + " submitted, " +
              std::to_string(snapshot.requests_finished) + " finished, " +
              std::to_string(snapshot.requests_failed) + " failed, " + std::to_string(cancelled) +
              " cancelled, " + std::to_string(snapshot.queued) + " queued, " +
              std::to_string(snapshot.parked_requests) + " parked, " +
              std::to_string(snapshot.running()) + " running");
}

// Every step computes at least one token; so a request waits no longer than everything that was
// there before it, with it and after it. A reader that lags may hold others up; such steps are
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
    case ErrorCode::kShed:
      return require(tier_->snapshot().rung == PressureRung::kShed, "shed without pressure");
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

// Of one tenant and class nobody is overtaken by a request that came much later.
void World::check_places() {
  const Duration late = 2 * FairQueueOptions().ageing;
  for (const Place& later : places_) {
    for (const Place& earlier : places_) {
      if (earlier.tenant != later.tenant || earlier.priority != later.priority) continue;
      require(later.arrived_at < earlier.arrived_at + late || earlier.placed_at <= later.placed_at,
              "client " + std::to_string(later.number) + " overtook client " +
                  std::to_string(earlier.number));
    }
  }
}

void World::check_end() {
  while (tier_->loop().step()) {
  }
  waker_.deliver();
  for (const auto& client : gone_) require(!client->lingers(), "a stream outlives its request");
  const EngineSnapshot snapshot = tier_->snapshot();
  check_books(snapshot);
  require(snapshot.queued + snapshot.running() + snapshot.parked_requests == 0,
          "requests are left at the end");
  require(snapshot.cells_reserved + snapshot.cells_active == 0, "cells are reserved at the end");
  require(admission_.in_flight() == 0, "permits are out at the end");
  const std::uint64_t failures =
      stopped_ ? counts_["failed: model_failure"] : snapshot.requests_failed;
  require(failures <= probe_.failures_allowed(), "a request failed because of another one");
  require(oracle_.disagreements() == 0, "the engine alone and the plain loop disagree");
  check_places();
  counts_["fatal step"] += probe_.fatal();
  counts_["step without room"] += probe_.no_room();
  counts_["aborted step"] += snapshot.steps_aborted;
  counts_["parked for cells"] += snapshot.parks_for_cells;
  counts_["parked for fairness"] += snapshot.parks_for_fairness;
  counts_["parked for a reader"] += snapshot.parks_for_readers;
  counts_["went on"] += snapshot.resumes;
  counts_["draft accepted"] += snapshot.drafts.accepted;
  counts_["draft rejected"] += snapshot.drafts.rejected();
  counts_["saved to host memory"] += snapshot.tokens_saved;
  counts_["restored from host memory"] += snapshot.prompt_tokens_restored;
  counts_["cancelled in the queue"] += snapshot.cancelled_queued;
  counts_["cancelled in prefill"] += snapshot.cancelled_prefill;
  counts_["cancelled in decode"] += snapshot.cancelled_decode;
}

}  // namespace zerohop
