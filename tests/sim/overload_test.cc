// Ten times more requests than the server can compute, on virtual time: what it still computes is
// worth as much as at its best, everybody gets an answer, and every refusal says when to come back.
//
// Goodput: tokens a second of answers whose first token came while its client still wanted it. The
// peak is that of clients who each ask again when they have their answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "app/request_schedule.h"
#include "app/retry_advice.h"
#include "app/tier.h"
#include "base/random.h"
#include "model/fake_model.h"

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kSequences = 8;
constexpr std::uint32_t kOutputTokens = 24;
// The door takes the prompt of a newcomer to cost nothing, and rates change while it waits: its
// limit has to be below what clients accept.
constexpr seconds kWaitMax{4};
constexpr seconds kAccepted{5};
constexpr seconds kWarmUp{20};
constexpr seconds kMeasured{60};

struct Counts {
  std::uint64_t came = 0;
  std::uint64_t answered = 0;
  std::uint64_t in_time = 0;
  std::uint64_t good_tokens = 0;
  std::uint64_t refused = 0;
  std::uint64_t refused_without_advice = 0;
  std::uint64_t other_errors = 0;
  Duration longest_first_token{};
};

// Everybody looks after every step.
class NobodyWaits final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>>) override {}
};

class OverloadedServer {
 public:
  OverloadedServer() {
    FakeModelOptions model;
    model.clock = &clock_;
    model.end_of_turn_chance = 0;
    EngineConfig engine;
    engine.context_tokens = 256;
    engine.sequences = kSequences;
    engine.kv_layout = KvLayoutChoice::kUnified;
    TierParts parts;
    parts.clock = &clock_;
    parts.waker = &waker_;
    tier_ = Tier::create(make_fake_model(model), engine, std::move(parts)).value();
  }
  ~OverloadedServer() { tier_->stop(); }

  /// `clients` who ask again when they have their answer.
  void closed_loop(std::size_t clients, Duration time) {
    const TimePoint end = clock_.now() + time;
    while (clock_.now() < end) {
      while (calls_.size() < clients) come();
      round(clock_.now() + milliseconds(1));
    }
  }

  /// So many a second, whatever comes of them.
  void open_loop(double rate, Duration time) {
    const TimePoint end = clock_.now() + time;
    TimePoint next = clock_.now();
    while (clock_.now() < end) {
      for (; next <= clock_.now(); next += from_seconds(2 * random_.uniform() / rate)) come();
      round(next);
    }
  }

  void drain() {
    while (!calls_.empty()) round(clock_.now() + milliseconds(1));
  }

  Counts take_counts() { return std::exchange(counts_, Counts()); }
  std::size_t permits_out() const { return admission_.in_flight(); }

 private:
  struct Call {
    Permit permit;
    std::shared_ptr<TokenStream> stream;
    TimePoint came_at{};
    std::optional<TimePoint> first_token_at;
  };

  void come() {
    ++counts_.came;
    Result<Call> call = enter();
    if (call.ok()) {
      calls_.push_back(std::move(call).value());
      return;
    }
    const Error& error = call.error();
    if (error.code != ErrorCode::kOverloaded) ++counts_.other_errors;
    const milliseconds advice = advice_.spread(error.retry_after);
    const bool advised = error.retry_after > milliseconds(0) && advice <= seconds(60);
    if (!advised) ++counts_.refused_without_advice;
    ++counts_.refused;
  }

  // As the server does it at the head and behind the body (queue_door.cc).
  Result<Call> enter() {
    Call call;
    call.came_at = clock_.now();
    const EngineLoop& loop = tier_->loop();
    const DoorView view{tier_->snapshot(), clock_.now(), milliseconds(100),
                        loop.in_front({}, PriorityClass::kStandard)};
    ZH_RETURN_IF_ERROR(check_wait(view, kWaitMax));
    ZH_ASSIGN_OR_RETURN(call.permit, admission_.admit());
    // Begins differently each time, so that nothing is found in the cache.
    std::string text = std::to_string(mix64(++asked_));
    Conversation conversation;
    conversation.messages.push_back({Role::kUser, {TextBlock{std::move(text)}}});
    GenerationParameters generation;
    generation.max_tokens = kOutputTokens;
    ZH_ASSIGN_OR_RETURN(PreparedGeneration prepared, tier_->prepare(conversation, generation));
    ZH_ASSIGN_OR_RETURN(call.stream, tier_->submit(std::move(prepared)));
    return call;
  }

  // One step; without work, time until `next`.
  void round(TimePoint next) {
    if (!tier_->loop().step()) clock_.advance(std::max(next - clock_.now(), Duration(1'000)));
    for (auto call = calls_.begin(); call != calls_.end();) {
      call = read(*call) ? calls_.erase(call) : std::next(call);
    }
  }

  // True at its end.
  bool read(Call& call) {
    std::vector<Event> events;
    const bool ended = call.stream->read(events);
    for (const Event& event : events) {
      if (std::holds_alternative<TextDelta>(event) && !call.first_token_at) {
        call.first_token_at = clock_.now();
      }
      if (std::holds_alternative<Failed>(event)) ++counts_.other_errors;
      if (const auto* finished = std::get_if<Finished>(&event)) finish(call, *finished);
    }
    return ended;
  }

  void finish(const Call& call, const Finished& finished) {
    ++counts_.answered;
    const Duration first = call.first_token_at.value_or(clock_.now()) - call.came_at;
    counts_.longest_first_token = std::max(counts_.longest_first_token, first);
    if (first > kAccepted) return;
    ++counts_.in_time;
    counts_.good_tokens += finished.usage.output_tokens;
  }

  VirtualClock clock_;
  NobodyWaits waker_;
  Random random_{7};
  RetryAdvice advice_{11};
  Admission admission_{limits::kRequestsMax};
  std::unique_ptr<Tier> tier_;
  std::list<Call> calls_;
  Counts counts_;
  std::uint64_t asked_ = 0;
};

double goodput(const Counts& counts) {
  return static_cast<double>(counts.good_tokens) / to_seconds(kMeasured);
}

TEST(Overload, KeepsItsGoodputAtTenTimesTheLoad) {
  OverloadedServer server;
  server.closed_loop(2 * kSequences, kWarmUp);
  server.take_counts();
  server.closed_loop(2 * kSequences, kMeasured);
  const Counts peak = server.take_counts();
  const double capacity = static_cast<double>(peak.answered) / to_seconds(kMeasured);
  ASSERT_GT(capacity, 1);
  ASSERT_EQ(peak.refused, 0u) << "a full machine without a queue refuses nobody";

  server.open_loop(10 * capacity, kWarmUp);
  server.take_counts();
  server.open_loop(10 * capacity, kMeasured);
  const Counts measured = server.take_counts();
  std::printf("peak %.0f tokens/s, at ten times the load %.0f; %llu of %llu refused\n",
              goodput(peak), goodput(measured), static_cast<unsigned long long>(measured.refused),
              static_cast<unsigned long long>(measured.came));
  EXPECT_GE(goodput(measured), 0.95 * goodput(peak));
  EXPECT_GT(measured.refused, measured.came / 2);
  EXPECT_EQ(measured.refused_without_advice, 0u);
  EXPECT_EQ(measured.other_errors, 0u);

  server.drain();
  EXPECT_EQ(server.permits_out(), 0u) << "somebody has no answer";
  EXPECT_EQ(server.take_counts().other_errors, 0u);
}

TEST(Overload, RefusesNobodyAtHalfTheLoad) {
  OverloadedServer server;
  server.closed_loop(kSequences, kWarmUp);
  server.take_counts();
  server.closed_loop(kSequences, kMeasured);
  const double capacity =
      static_cast<double>(server.take_counts().answered) / to_seconds(kMeasured);
  server.open_loop(capacity / 2, kMeasured);
  server.drain();
  const Counts half = server.take_counts();
  EXPECT_EQ(half.refused, 0u);
  EXPECT_EQ(half.answered, half.in_time);
}

}  // namespace
}  // namespace zerohop
