#include "admission/request_lifecycle.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace zerohop {
namespace {

using std::chrono::milliseconds;

// The drawing, written down once more.
const std::set<std::pair<RequestState, RequestState>> kEdges = [] {
  using enum RequestState;
  std::set<std::pair<RequestState, RequestState>> edges{
      {kIdle, kReceiving},      {kReceiving, kValidating}, {kValidating, kInferring},
      {kInferring, kStreaming}, {kStreaming, kDone},       {kValidating, kDone}};
  for (const RequestState from : {kIdle, kReceiving, kValidating, kInferring, kStreaming}) {
    edges.insert({from, kFailed});
    edges.insert({from, kCancelled});
  }
  return edges;
}();

TEST(RequestLifecycle, HasExactlyTheEdgesOfItsDrawing) {
  for (std::size_t from = 0; from < kRequestStates; ++from) {
    for (std::size_t to = 0; to < kRequestStates; ++to) {
      const auto a = static_cast<RequestState>(from);
      const auto b = static_cast<RequestState>(to);
      EXPECT_EQ(can_advance(a, b), kEdges.contains({a, b}))
          << request_state_name(a) << " to " << request_state_name(b);
    }
  }
}

TEST(RequestLifecycle, MeasuresTheTimeInEachState) {
  VirtualClock clock;
  RequestLifecycle life(clock.now());
  clock.advance(milliseconds(1));
  life.advance(RequestState::kReceiving, clock.now());
  clock.advance(milliseconds(2));
  life.advance(RequestState::kValidating, clock.now());
  clock.advance(milliseconds(4));
  EXPECT_EQ(life.time_in(RequestState::kIdle, clock.now()), milliseconds(1));
  EXPECT_EQ(life.time_in(RequestState::kReceiving, clock.now()), milliseconds(2));
  EXPECT_EQ(life.time_in(RequestState::kValidating, clock.now()), milliseconds(4));
  EXPECT_EQ(life.time_in(RequestState::kStreaming, clock.now()), milliseconds(0));
  EXPECT_EQ(life.age(clock.now()), milliseconds(7));
  const TimePoint began = clock.now() - milliseconds(7);
  EXPECT_EQ(life.entered_at(RequestState::kIdle), began);
  EXPECT_EQ(life.entered_at(RequestState::kValidating), began + milliseconds(3));
  EXPECT_EQ(life.left_at(RequestState::kReceiving), began + milliseconds(3));
  EXPECT_EQ(life.left_at(RequestState::kValidating), std::nullopt);
  EXPECT_EQ(life.entered_at(RequestState::kStreaming), std::nullopt);
}

TEST(RequestLifecycleDeathTest, CrashesOnAnEdgeThatIsNotDrawn) {
  RequestLifecycle life{TimePoint{}};
  EXPECT_DEATH(life.advance(RequestState::kStreaming, TimePoint{}), "check failed");
  life.advance(RequestState::kCancelled, TimePoint{});
  EXPECT_DEATH(life.advance(RequestState::kReceiving, TimePoint{}), "check failed");
}

}  // namespace
}  // namespace zerohop
