// A whole server on virtual time: door, parser, prompt stage, engine, fake model and dialect, with
// clients that arrive in bursts, lag, sleep and go away, and a model that fails. No sockets, no
// threads, no chance but the seed's.
//
//   round:   arrivals → one step of the engine → wake-ups → every client's tick → all rules
//
// Rules after every round (check_round()) and at the end (check_end()) are requirements of the
// trace; the rules of one answer are in client.h. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "app/tier.h"
#include "base/clock.h"
#include "base/random.h"
#include "client.h"
#include "oracle.h"
#include "speaker.h"
#include "step_probe.h"
#include "trace.h"
#include "world_options.h"

namespace zerohop {

/// How often things happened, by name: shows that a set of worlds visits what it is meant to.
using WorldCounts = std::map<std::string, std::uint64_t>;

/// Wake-ups reach their readers after the step, as they do over an event loop.
class SimWaker final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>> streams) override;
  void deliver();

 private:
  std::vector<std::shared_ptr<TokenStream>> woken_;
};

class World {
 public:
  explicit World(const WorldOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// To the end, or to the first broken rule.
  void run();

  const Trace& trace() const { return trace_; }
  const WorldCounts& counts() const { return counts_; }

 private:
  struct Voice {
    std::unique_ptr<Speaker> speaker;
    std::uint32_t requests_left = 0;
    TenantId tenant;
    PriorityClass priority = PriorityClass::kStandard;
  };
  /// A request that got its slot.
  struct Place {
    std::uint64_t number = 0;
    TenantId tenant;
    PriorityClass priority = PriorityClass::kStandard;
    TimePoint arrived_at{};
    TimePoint placed_at{};
  };
  struct Call {
    std::unique_ptr<SimClient> client;
    std::size_t voice = 0;
    std::uint64_t patience = 0;  // steps that it may still have to wait
  };

  // What happens (world.cc)
  void make_voices();
  void round();
  void let_arrive();
  void call(std::size_t voice);
  ClientHabits make_habits(const Voice& voice);
  void come_to_an_end();
  void stop_now();
  bool step();
  void happen_inside_decode();
  void happen_between_rows();
  void settle();
  void part_with(Call& call);
  void come_back(std::size_t voice, double mean_seconds);
  void pass_time(bool stepped);
  Duration wait_of_mean(double seconds);

  // What must hold (world_rules.cc)
  void check_step(Duration took);
  void note_parks(const EngineSnapshot& before);
  bool unsettled() const;
  void check_progress(const EngineSnapshot& before);
  void check_placing(const EngineSnapshot& before);
  bool prompts_overlap() const;
  void check_round(bool stepped);
  void check_books(const EngineSnapshot& snapshot);
  void check_patience(bool stepped);
  void check_refusal(const SimClient& client, std::size_t in_flight_before);
  void check_failure(const SimClient& client);
  void check_places();
  void check_end();
  void require(bool holds, std::string_view what) { trace_.require(holds, what); }
  std::uint64_t work_of_all() const;

  const WorldOptions options_;
  VirtualClock clock_;
  Trace trace_;
  Random random_;
  Oracle oracle_;
  StepProbe probe_;
  SimWaker waker_;
  Admission admission_;
  std::unique_ptr<Tier> tier_;

  std::vector<Voice> voices_;
  std::multimap<TimePoint, std::size_t> arrivals_;  // voices by time
  std::vector<Call> calls_;                         // in order of arrival
  std::vector<std::unique_ptr<SimClient>> gone_;    // over; the engine may hold them for one step
  std::vector<Place> places_;

  std::uint64_t tick_ = 0;
  std::uint64_t next_number_ = 0;
  std::uint64_t submitted_ = 0;
  std::size_t leavers_ = 0;      // since the step before
  std::size_t left_inside_ = 0;  // the decode that runs or ran last
  std::uint64_t last_park_ = 0;  // the decode with or before which somebody was parked or went on
  bool all_leave_ = false;       // in the middle of the decode that runs
  bool stopping_ = false;        // the loop was told to stop
  bool stopped_ = false;         // and everybody in it was told
  WorldCounts counts_;
};

}  // namespace zerohop
