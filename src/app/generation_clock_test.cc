// What a generation tells objectives of its times.
#include "app/generation_clock.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = AnswerForSlo::End;
using Shape = AnswerMetrics::Shape;

struct Timed {
  VirtualClock clock;
  MetricsRegistry registry{{"i", "p"}};
  AnswerMetrics metrics{registry, clock, "small"};
  GenerationClock times{metrics, TimePoint() + seconds(1'000)};

  explicit Timed(Shape shape = Shape::kStream) {
    times.serve_as(PriorityClass::kPriority, shape);
    clock.advance(seconds(1'000));
  }
  void text_after(Duration pause) {
    clock.advance(pause);
    times.note(TextDelta{"x"}, clock.now());
  }
  AnswerForSlo end_after(Duration pause, End end = End::kWhole) {
    clock.advance(pause);
    return times.for_slo(end, clock.now());
  }
};

TEST(GenerationClock, TellsTheFirstTextTheLongestPauseAndTheWhole) {
  Timed timed;
  timed.text_after(milliseconds(500));
  timed.text_after(milliseconds(30));
  timed.text_after(milliseconds(700));
  timed.text_after(milliseconds(20));
  const AnswerForSlo answer = timed.end_after(milliseconds(10));
  EXPECT_EQ(answer.priority, PriorityClass::kPriority);
  EXPECT_EQ(answer.end, End::kWhole);
  EXPECT_EQ(answer.first_text, milliseconds(500));
  EXPECT_EQ(answer.longest_pause, milliseconds(700));
  EXPECT_EQ(answer.total, milliseconds(1'260));
}

TEST(GenerationClock, APauseBeforeTheEndIsOneToo) {
  Timed timed;
  timed.text_after(milliseconds(500));
  const AnswerForSlo answer = timed.end_after(milliseconds(900), End::kLeft);
  EXPECT_EQ(answer.longest_pause, milliseconds(900));
  EXPECT_EQ(answer.end, End::kLeft);
}

TEST(GenerationClock, NothingPausesWithoutTextOrStream) {
  Timed silent;
  const AnswerForSlo none = silent.end_after(seconds(2));
  EXPECT_EQ(none.first_text, std::nullopt);
  EXPECT_EQ(none.longest_pause, std::nullopt);
  EXPECT_EQ(none.total, seconds(2));
  Timed whole(Shape::kWhole);
  whole.text_after(milliseconds(500));
  whole.text_after(milliseconds(500));
  const AnswerForSlo answer = whole.end_after({});
  EXPECT_EQ(answer.first_text, milliseconds(500));
  EXPECT_EQ(answer.longest_pause, std::nullopt);
}

TEST(GenerationClock, AReaderThatLagsIsNoPauseOfTheServer) {
  Timed timed;
  timed.text_after(milliseconds(500));
  timed.clock.advance(seconds(3));
  timed.times.note_lag(seconds(3));
  timed.text_after(milliseconds(40));
  timed.text_after(milliseconds(50));
  timed.clock.advance(seconds(5));
  timed.times.note_lag(seconds(5));
  const AnswerForSlo answer = timed.end_after(milliseconds(20));
  EXPECT_EQ(answer.longest_pause, milliseconds(50));
  EXPECT_EQ(answer.total, milliseconds(610));
}

}  // namespace
}  // namespace zerohop
