#include "world.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace zerohop {
namespace {

// Retries of a client that was told to come back, and the times between things, in seconds.
constexpr double kThinkSeconds = 0.2;
constexpr double kRetrySeconds = 0.3;
constexpr double kBurstGapSeconds = 0.002;
constexpr double kQuietGapSeconds = 0.5;
constexpr double kBurstEndsChance = 0.15;

std::string milliseconds_of(TimePoint time) {
  return std::to_string(time.time_since_epoch().count() / 1'000'000) + " ms";
}

}  // namespace

void SimWaker::wake(std::vector<std::shared_ptr<TokenStream>> streams) {
  for (auto& stream : streams) woken_.push_back(std::move(stream));
}

void SimWaker::deliver() {
  for (const auto& stream : std::exchange(woken_, {})) stream->notify_readable();
}

World::World(const WorldOptions& options)
    : options_(options),
      trace_(options.seed),
      random_(mix64(options.seed + 1)),
      oracle_(options),
      probe_(options_, random_, trace_),
      admission_(options.requests_max) {
  probe_.inside = [this] { happen_inside_decode(); };
  ModelHooks hooks;
  hooks.fault = [this](std::span<const BatchRow> rows) { return probe_.on_decode(rows); };
  hooks.script = [this](TokenSpan) { happen_between_rows(); };
  tier_ = make_sim_tier(options_, std::move(hooks), clock_, waker_);
  make_voices();
}

// A Poisson process that switches between bursts and quiet times.
void World::make_voices() {
  TimePoint time = clock_.now();
  for (std::uint32_t i = 0; i < options_.speakers; ++i) {
    const auto turns = 1 + static_cast<std::uint32_t>(random_.below(options_.turns_max));
    Voice voice{std::make_unique<Speaker>(options_, oracle_, random_), turns, {}, {}};
    voice.tenant = TenantId(random_.below(options_.tenants));
    voice.priority = PriorityClass::kStandard;
    if (random_.chance(options_.other_priority_chance)) {
      voice.priority = random_.chance(0.5) ? PriorityClass::kPriority : PriorityClass::kBatch;
    }
    voices_.push_back(std::move(voice));
    arrivals_.emplace(time, i);
    time += wait_of_mean(random_.chance(kBurstEndsChance) ? kQuietGapSeconds : kBurstGapSeconds);
  }
}

Duration World::wait_of_mean(double seconds) {
  return from_seconds(-std::log(1.0 - random_.uniform()) * seconds);
}

void World::run() {
  while (!trace_.failed() && !(arrivals_.empty() && calls_.empty())) round();
  if (!trace_.failed()) check_end();
}

void World::round() {
  ++tick_;
  let_arrive();
  come_to_an_end();
  const bool stepped = step();
  waker_.deliver();
  std::erase_if(gone_, [this](const std::unique_ptr<SimClient>& client) {
    require(!client->lingers(), "client " + std::to_string(client->number()) +
                                    " is over, but the engine holds it after one more step");
    return true;
  });
  for (Call& call : calls_) call.client->tick();
  settle();
  check_round(stepped);
  pass_time(stepped);
}

void World::let_arrive() {
  while (!arrivals_.empty() && arrivals_.begin()->first <= clock_.now()) {
    const std::size_t voice = arrivals_.begin()->second;
    arrivals_.erase(arrivals_.begin());
    call(voice);
  }
}

void World::call(std::size_t voice) {
  SimRequest request = voices_[voice].speaker->next_request();
  const ClientSurroundings surroundings{
      *tier_, admission_, oracle_, clock_, sim_parse_options(options_), random_, trace_};
  auto client = std::make_unique<SimClient>(surroundings, std::move(request),
                                            make_habits(voices_[voice]), next_number_++);
  const std::size_t in_flight = admission_.in_flight();
  client->enter();
  if (client->over()) {
    check_refusal(*client, in_flight);
  } else {
    ++submitted_;
    // It may overtake those that are here.
    for (Call& call : calls_) call.patience += client->work() + 1;
    if (stopped_) client->hurry();
  }
  calls_.push_back({std::move(client), voice, 0});
  calls_.back().patience = work_of_all();
}

ClientHabits World::make_habits(const Voice& voice) {
  ClientHabits habits;
  habits.scheduling.tenant = voice.tenant;
  habits.scheduling.priority = voice.priority;
  if (options_.private_scopes) habits.scope = ScopeId(1 + voice.tenant.value);
  if (random_.chance(options_.slow_chance)) {
    habits.read_every = 1 + static_cast<std::uint32_t>(random_.below(20));
    habits.buffer_bytes = 1 + random_.below(24);
  }
  if (random_.chance(options_.sleeper_chance)) {
    habits.read_every = 1;
    habits.read_from = 100 + static_cast<std::uint32_t>(random_.below(400));
    habits.buffer_bytes = 1 + random_.below(64);
  }
  if (random_.chance(options_.cancel_chance)) {
    habits.leaves_at = 1 + static_cast<std::uint32_t>(random_.below(random_.chance(0.5) ? 4 : 60));
  }
  return habits;
}

void World::come_to_an_end() {
  const bool early = tick_ >= options_.end_tick;
  const bool everybody_came = arrivals_.empty() && calls_.empty();
  const bool drains = options_.end == WorldEnd::kDrainEarly ? early : everybody_came;
  if (drains && !admission_.closed()) {
    trace_.add("the door closes");
    admission_.close();
  }
  if (options_.end == WorldEnd::kStop && early && !stopped_) stop_now();
  if (stopping_ && !stopped_) stop_now();
}

void World::stop_now() {
  trace_.add("the server stops");
  ++counts_["stopped"];
  if (random_.chance(0.5)) admission_.close();
  stopping_ = stopped_ = true;
  tier_->stop();
  for (Call& call : calls_) call.client->hurry();
}

bool World::step() {
  const TimePoint begin = clock_.now();
  const std::uint64_t decodes = probe_.decodes();
  const std::uint64_t fatal = probe_.fatal();
  const std::uint64_t no_room = probe_.no_room();
  const EngineSnapshot before = tier_->snapshot();
  leavers_ = static_cast<std::size_t>(std::count_if(
      gone_.begin(), gone_.end(), [](const auto& client) { return client->lingers(); }));
  left_inside_ = 0;
  const bool stepped = tier_->loop().step();
  if (probe_.decodes() == decodes) return stepped;
  trace_.add(milliseconds_of(begin) + " step " +
             std::to_string((clock_.now() - begin).count() / 1'000) + " us, " +
             std::to_string(tier_->snapshot().last_step_rows) + " rows");
  note_parks(before);
  check_step(clock_.now() - begin);
  check_progress(before);
  check_placing(before);
  // What was undone is computed again.
  const std::uint64_t again = (probe_.fatal() - fatal) * work_of_all() + probe_.no_room() - no_room;
  for (Call& call : calls_) call.patience += again;
  return stepped;
}

void World::happen_inside_decode() {
  if (options_.end == WorldEnd::kStopInsideDecode && tick_ >= options_.end_tick && !stopping_) {
    trace_.add("the server is told to stop while it decodes");
    ++counts_["stopped inside a decode"];
    stopping_ = true;
    tier_->loop().stop();
  }
  all_leave_ = random_.chance(options_.cancel_inside_chance / 4);
  if (calls_.empty() || !random_.chance(options_.cancel_inside_chance)) return;
  const std::size_t first = random_.below(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    SimClient& client = *calls_[(first + i) % calls_.size()].client;
    if (client.over()) continue;
    client.leave();
    ++left_inside_;
    ++counts_["cancelled inside a decode"];
    return;
  }
}

// Some rows have their cells, the others do not get theirs.
void World::happen_between_rows() {
  if (!std::exchange(all_leave_, false)) return;
  for (Call& call : calls_) {
    if (call.client->over()) continue;
    call.client->leave();
    ++left_inside_;
  }
  ++counts_["all left inside a decode"];
}

void World::settle() {
  for (Call& call : calls_) {
    if (call.client->over()) part_with(call);
  }
  std::erase_if(calls_, [](const Call& call) { return call.client == nullptr; });
}

void World::part_with(Call& call) {
  SimClient& client = *call.client;
  Voice& voice = voices_[call.voice];
  if (client.placed_at()) {
    const Scheduling& scheduling = client.habits().scheduling;
    places_.push_back({client.number(), scheduling.tenant, scheduling.priority,
                       client.submitted_at(), *client.placed_at()});
  }
  if (client.error()) check_failure(client);
  if (client.answered()) {
    ++counts_["answered: " + client.seen().stop_reason];
    if (client.seen().cache_read_tokens > 0) ++counts_["reused a prefix"];
    if (client.seen().text.find("\xef\xbf\xbd") != std::string::npos) ++counts_["mended UTF-8"];
    voice.speaker->hear(client.request(), client.seen().text);
    --voice.requests_left;
    if (voice.requests_left > 0) come_back(call.voice, kThinkSeconds);
  } else if (client.error() && client.error()->code == ErrorCode::kShuttingDown) {
    voice.requests_left = 0;
  } else {
    // Overload costs no turn: the client comes again until it is served.
    const bool refused = client.error() && (client.error()->code == ErrorCode::kOverloaded ||
                                            client.error()->code == ErrorCode::kShed);
    if (!refused) --voice.requests_left;
    if (voice.requests_left > 0) come_back(call.voice, kRetrySeconds);
  }
  gone_.push_back(std::move(call.client));
}

void World::come_back(std::size_t voice, double mean_seconds) {
  arrivals_.emplace(clock_.now() + wait_of_mean(mean_seconds), voice);
}

// The model's cost moves the clock; without a step, the next event does.
void World::pass_time(bool stepped) {
  if (stepped) return;
  const bool nothing_else = calls_.empty() && !arrivals_.empty();
  const Duration until_next = nothing_else ? arrivals_.begin()->first - clock_.now()
                                           : Duration(std::chrono::milliseconds(1));
  clock_.advance(std::max(until_next, Duration::zero()));
}

}  // namespace zerohop
